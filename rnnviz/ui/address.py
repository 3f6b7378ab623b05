"""The address of what is in view: Python reads it where somebody arrives by it, and says what belongs in it.
The browser alone writes it (browser/static/address.js): only there an entry of the history can be replaced,
and whatever is set in `st.query_params` becomes a new one.
"""

from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rnnviz.i18n import _, language
from rnnviz.ui.browser.component import Component
from rnnviz.ui.browser.payload import pack
from rnnviz.ui.packed import LONGEST

KEY = "address"
_component = Component("address")

# Of st.session_state: the page of the last run; what the address held on arrival, else None; whether by going
# back; whether a run is unfinished; how many there were; what belongs in the address.
_NAMES = ("page", "asked", "back", "open", "runs", "said")
_PAGE, _ASKED, _BACK, _OPEN, _RUNS, _SAID = (f"address.{name}" for name in _NAMES)


def begin(page: str) -> None:
    """Called by each whole run of the script before its page: has somebody arrived, and by which address?"""
    state, back = st.session_state, _by_history()
    if back or state.get(_PAGE) != page:
        state[_ASKED], state[_BACK] = st.query_params.to_dict(), back and _PAGE in state
    elif not state.get(_OPEN):  # a run that was cut off hands its arrival on
        state[_ASKED], state[_BACK] = None, False
    state[_PAGE], state[_OPEN], state[_SAID] = page, True, {}


def _by_history() -> bool:
    """Whether the reader pressed Back or Forward."""
    context = get_script_run_ctx()
    return bool(context and context.is_history_navigation)


def arrived() -> bool:
    """Whether somebody has arrived just now, by any address."""
    return st.session_state.get(_ASKED) is not None


def asked(name: str) -> str | None:
    """What the address by which somebody arrived just now says of `name`; None if they were here before."""
    found = st.session_state.get(_ASKED)
    return found.get(name) if found else None


def asked_number(name: str) -> int | None:
    """The same, a whole number from 0; None for anything else."""
    found = asked(name)
    return int(found) if found and found.isascii() and found.isdigit() and len(found) < 10 else None


def went_back() -> bool:
    """Whether this is a view of before, by Back or Forward: what its address doesn't say was as usual."""
    return bool(st.session_state.get(_BACK))


def say(**values: object) -> None:
    """What belongs in the address, by name; None for what is as usual. A `text` is packed by the browser."""
    said = {name: None if value is None else str(value) for name, value in values.items()}
    st.session_state.setdefault(_SAID, {}).update(said)


def said() -> dict[str, str | None]:
    """What belongs in the address so far."""
    found: dict[str, str | None] = st.session_state.get(_SAID, {})
    return found


def mount() -> None:
    """Called last by each whole run: hand all that to the browser, with a button that copies the address."""
    state = st.session_state
    state[_RUNS] = state.get(_RUNS, 0) + 1
    header: dict[str, Any] = {
        "run": state[_RUNS],  # the browser isn't handed twice what is the same
        "fields": said(),
        "asked": state.get(_ASKED),
        "language": language(),
        "longest": LONGEST,
        "words": {
            "share": _("Share"),
            "share.help": _("Copy the address of this view: model, text and what is chosen"),
            "copied": _("Address copied."),
            "copy": _("Copy this address:"),
            "cut": _("It holds the first {most} of {n} characters of the text."),
        },
    }
    state[_OPEN] = False
    _component.mount(pack(header, {}), key=KEY)

"""The address of what is in view: Python reads it where somebody arrives by it, and says what belongs in it.
The browser alone writes it (browser/static/address.js): only there an entry of the history can be replaced,
and whatever is set in `st.query_params` becomes a new one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rnnviz.i18n import _, language
from rnnviz.ui.browser.component import Component
from rnnviz.ui.browser.payload import pack
from rnnviz.ui.compressed_text import LONGEST

KEY = "address"
_component = Component("address")

# Of st.session_state: the page of the last run, the newest arrival, how many runs there were, and what the
# address is to hold.
_PAGE, _ARRIVAL, _RUNS, _SAID = (f"address.{name}" for name in ("page", "arrival", "runs", "said"))


@dataclass
class Arrival:
    """Somebody came to a page, by a link, a click in the sidebar, Back or Forward.

    run    the number of the script's run, so that a field knows whether it has followed, perhaps runs later
    asked  what the address held
    back   whether it is a view of before: what its address doesn't say was as usual
    over   whether a whole run has come to its end since. Until then the browser may not have heard what
           followed, and the next run follows the same arrival again.
    """

    run: int = 0
    asked: Mapping[str, str] = field(default_factory=dict)
    back: bool = False
    over: bool = False


def arrival() -> Arrival:
    """The newest one."""
    found: Arrival = st.session_state.get(_ARRIVAL) or Arrival()
    return found


def begin(page: str) -> None:
    """Called by each whole run of the script before its page: has somebody arrived, and by which address?"""
    state, back = st.session_state, _by_history()
    state[_SAID], state[_RUNS] = {}, run() + 1
    if back or state.get(_PAGE) != page:
        state[_ARRIVAL] = Arrival(run(), st.query_params.to_dict(), back and _PAGE in state)
    state[_PAGE] = page


def run() -> int:
    """The number of the last whole run of the script."""
    return int(st.session_state.get(_RUNS, 0))


def _by_history() -> bool:
    """Whether the reader pressed Back or Forward."""
    context = get_script_run_ctx()
    return bool(context and context.is_history_navigation)


def arrived() -> bool:
    """Whether somebody has arrived just now, by any address."""
    return not arrival().over


def asked(name: str) -> str | None:
    """What the address by which somebody arrived just now says of `name`; None if they were here before."""
    return arrival().asked.get(name) if arrived() else None


def asked_number(name: str) -> int | None:
    """The same, a whole number from 0; None for anything else."""
    found = asked(name)
    return int(found) if found and found.isascii() and found.isdigit() and len(found) < 10 else None


def went_back() -> bool:
    """Whether somebody has gone back or forward just now."""
    return arrived() and arrival().back


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
    header: dict[str, Any] = {
        "run": run(),  # the browser isn't handed twice what is the same
        "fields": said(),
        # Said in every run: of several that follow one another at once the browser may get the last alone.
        "asked": dict(arrival().asked),
        "arrival": arrival().run,
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
    arrival().over = True
    _component.mount(pack(header, {}), key=KEY)

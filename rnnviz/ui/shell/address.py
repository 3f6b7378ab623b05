"""The page's address. Python reads the address on arrival, and lists the values that belong in it.

The browser alone writes the address (browser/static/address.js). Only the browser can replace an entry of the
history; each value set in `st.query_params` becomes a new entry.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rnnviz.i18n import _, language
from rnnviz.page.payload import pack
from rnnviz.ui.browser.component import Component
from rnnviz.ui.shell import widget_words
from rnnviz.ui.shell.compressed_text import LONGEST

KEY = "address"
_component = Component("address")

# Keys of st.session_state: the last run's page, the newest arrival, the number of runs, and the values that
# belong in the address.
_PAGE, _ARRIVAL, _RUNS, _SAID = (f"address.{name}" for name in ("page", "arrival", "runs", "said"))


@dataclass
class Arrival:
    """A reader's arrival at a page, by a link, a click in the sidebar, Back or Forward.

    run    the number of the script's run; a field compares it with its own, perhaps runs later
    asked  the address's values by name
    back   whether Back or Forward led here: values missing in the address are then the defaults
    over   whether a whole run has ended since. Until then the browser may have missed the result, and the
           next run follows the same arrival again.
    """

    run: int = 0
    asked: Mapping[str, str] = field(default_factory=dict)
    back: bool = False
    over: bool = False


def arrival() -> Arrival:
    """The newest arrival; an empty one before the first."""
    found: Arrival = st.session_state.get(_ARRIVAL) or Arrival()
    return found


def begin(page: str) -> None:
    """Record an arrival, if there is one. Each whole run of the script calls this before its page."""
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
    """The value of `name` in the address of an arrival just now; None without the value or the arrival."""
    return arrival().asked.get(name) if arrived() else None


def asked_number(name: str) -> int | None:
    """`asked` as a whole number from 0 to 999,999,999; None for anything else."""
    found = asked(name)
    return int(found) if found and found.isascii() and found.isdigit() and len(found) < 10 else None


def went_back() -> bool:
    """Whether Back or Forward has led here just now."""
    return arrived() and arrival().back


def say(**values: object) -> None:
    """Put values into the address, by name; None removes a default. The browser packs a `text`."""
    said = {name: None if value is None else str(value) for name, value in values.items()}
    st.session_state.setdefault(_SAID, {}).update(said)


def said() -> dict[str, str | None]:
    """The values that belong in the address so far, by name."""
    found: dict[str, str | None] = st.session_state.get(_SAID, {})
    return found


def mount() -> None:
    """Send the address's values to the browser, with a button that copies the address. Each whole run calls
    this last.
    """
    header: dict[str, Any] = {
        "run": run(),  # makes each payload new: Streamlit sends no payload twice in a row
        "fields": said(),
        # In every payload: of several runs in quick succession the browser may get the last alone.
        "asked": dict(arrival().asked),
        "arrival": arrival().run,
        "language": language(),
        "longest": LONGEST,
        "widgets": widget_words.spoken(),
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

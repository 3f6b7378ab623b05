"""What an address says of the live view to somebody who arrives by it: a text, and what of it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from rnnviz.errors import TextError
from rnnviz.ui import address
from rnnviz.ui.compressed_text import LONGEST, unpack
from rnnviz.ui.error_messages import describe
from rnnviz.ui.pages.explore import named_units
from rnnviz.ui.pages.explore.initial_data import first
from rnnviz.ui.pages.explore.live_session import Ask

if TYPE_CHECKING:
    from rnnviz.ui.context import Network

NAMES = ("text", "at", "pin", "why", "unit", "layer", "quantity", "order", "rows", "memoryless")
SURPRISE = "none"
"""What an address says of the unit where surprise colours the text, though a unit would at first."""

_ARRIVED = "explore.arrived"  # of st.session_state: for the live view's next run


@dataclass(frozen=True)
class Bookmark:
    """An address read: its `text`, None if it holds none or one that can't be read; what is shown of it, as
    an ask and, in `view`, as the view is told.
    """

    text: str | None
    looks: Ask
    view: dict[str, Any]


def arrive(model: Network) -> None:
    """Called by each whole run of the page: keep what the address says, if somebody has just arrived by one
    that says anything, or went back to it.
    """
    if any(address.asked(name) is not None for name in NAMES) or address.went_back():
        st.session_state[_ARRIVED] = read(model)


def read(model: Network) -> Bookmark:
    """What the address says, and where it doesn't, what the `model`'s view begins with; whatever it holds, it
    is one that can be shown.
    """
    number, packed = address.asked_number, address.asked("text")
    text, wrong = None, ""
    if packed is not None:
        try:
            text = unpack(packed)
        except TextError as error:
            wrong = describe(error).replace("\\", "")  # of Markdown
    looks: dict[str, Any] = {name: address.asked(name) for name in ("quantity", "order")}
    looks |= {name: number(name) for name in ("layer", "unit")}
    given = {name: value for name, value in looks.items() if value is not None}
    begin = first(named_units.of(model))
    if address.asked("unit") == SURPRISE:
        given = begin | {"unit": None} | given
    elif number("unit") is not None or not given:  # else a quantity or a layer without a unit
        given = begin | given
    cut = number("of") if text is not None else None
    asked = Ask.from_json(given | {"memoryless": number("memoryless") == 1})
    view: dict[str, Any] = {
        "wrong": wrong,  # why the text can't be read
        "cut": cut if cut and cut > LONGEST else None,  # how long a text was of which it holds the beginning
        "caret": number("at"),
        "pin": number("pin"),
        "why": number("why") == 1,
        "rows": number("rows") or 0,
    }
    view |= {name: getattr(asked, name) for name in ("quantity", "layer", "order", "unit", "memoryless")}
    return Bookmark(text, asked, view)


def arrived() -> Bookmark | None:
    """What `arrive` has kept, once."""
    found: Bookmark | None = st.session_state.pop(_ARRIVED, None)
    return found

"""The live view's state in an address: a text, and the view on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from rnnviz.errors import TextError
from rnnviz.page import named_units
from rnnviz.page.initial_data import first
from rnnviz.page.live_session import Ask
from rnnviz.ui.shell import address
from rnnviz.ui.shell.address import LONGEST_TEXT, unpack_text
from rnnviz.ui.shell.error_messages import describe

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import Network

NAMES = ("text", "at", "pin", "why", "unit", "layer", "quantity", "order", "rows", "memoryless")
SURPRISE = "none"
"""The address's `unit` where surprisal colours the text of a model that begins with a named unit."""

_ARRIVED = "explore.arrived"  # a key of st.session_state: the bookmark for the live view's next run


@dataclass(frozen=True)
class Bookmark:
    """A parsed address.

    text   its text; None without one, or if it can't be read
    looks  the view on the text, as an ask
    view   the same as JSON for the browser, with the caret, the pin and any error
    """

    text: str | None
    looks: Ask
    view: dict[str, Any]


def arrive(model: Network) -> None:
    """Keep the address's bookmark after an arrival by an address with any of NAMES, or by Back or Forward.

    Each whole run of the page calls this.
    """
    if any(address.asked(name) is not None for name in NAMES) or address.went_back():
        st.session_state[_ARRIVED] = read(model)


def read(model: Network) -> Bookmark:
    """The address's bookmark, valid whatever the address holds. Missing values are those with which the
    `model`'s view begins.
    """
    number, packed = address.asked_number, address.asked("text")
    text, wrong = None, ""
    if packed is not None:
        try:
            text = unpack_text(packed)
        except TextError as error:
            wrong = describe(error).replace("\\", "")  # Markdown's escapes: the browser shows plain text
    looks: dict[str, Any] = {name: address.asked(name) for name in ("quantity", "order")}
    looks |= {name: number(name) for name in ("layer", "unit")}
    given = {name: value for name, value in looks.items() if value is not None}
    begin = first(named_units.of(model))
    if address.asked("unit") == SURPRISE:
        given = begin | {"unit": None} | given
    elif number("unit") is not None or not given:  # else: a quantity or a layer alone, which has no unit
        given = begin | given
    cut = number("of") if text is not None else None
    asked = Ask.from_json(given | {"memoryless": number("memoryless") == 1})
    view: dict[str, Any] = {
        "wrong": wrong,  # the reason why the text can't be read
        "cut": cut if cut and cut > LONGEST_TEXT else None,  # the whole text's length, if the address cuts it
        "caret": number("at"),
        "pin": number("pin"),
        "why": number("why") == 1,
        "rows": number("rows") or 0,
    }
    view |= {name: getattr(asked, name) for name in ("quantity", "layer", "order", "unit", "memoryless")}
    return Bookmark(text, asked, view)


def arrived() -> Bookmark | None:
    """The bookmark that `arrive` has kept; a second call returns None."""
    found: Bookmark | None = st.session_state.pop(_ARRIVED, None)
    return found

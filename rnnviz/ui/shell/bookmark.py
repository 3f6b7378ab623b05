"""A live view in an address: its text, and the view on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rnnviz.errors import TextError
from rnnviz.page import shown_units
from rnnviz.page.initial_data import first_heat_map
from rnnviz.page.live_session import LiveAsk
from rnnviz.ui.shell import address
from rnnviz.ui.shell.address import MAX_ADDRESS_TEXT_CHARS, unpack_text
from rnnviz.ui.shell.error_messages import describe

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import Network

# The address's values that concern the live view; any of them makes an address a bookmark.
BOOKMARKED = ("text", "at", "pin", "why", "unit", "layer", "quantity", "order", "rows", "memoryless")
BY_SURPRISAL = "none"
"""The address's `unit` where surprisal colours the text of a model that begins with a named unit."""


@dataclass(frozen=True)
class Bookmark:
    """A parsed address.

    text   its text; None without one, or if it can't be read
    ask    the view on the text, as an ask
    view   the same as JSON for the browser, with the caret, the pin and any error
    """

    text: str | None
    ask: LiveAsk
    view: dict[str, Any]


def read_bookmark(model: Network, values: Mapping[str, str]) -> Bookmark:
    """The bookmark of an address's values, valid whatever they hold. Missing values are those with which the
    `model`'s view begins.
    """

    def number(name: str) -> int | None:
        return address.whole_number(values.get(name))

    packed = values.get("text")
    text, wrong = None, ""
    if packed is not None:
        try:
            text = unpack_text(packed)
        except TextError as error:
            wrong = describe(error).replace("\\", "")  # Markdown's escapes: the browser shows plain text
    looks: dict[str, Any] = {name: values.get(name) for name in ("quantity", "order")}
    looks |= {name: number(name) for name in ("layer", "unit")}
    choices = {name: value for name, value in looks.items() if value is not None}
    begin = first_heat_map(shown_units.named_units(model))
    if values.get("unit") == BY_SURPRISAL:
        choices = begin | {"unit": None} | choices
    elif number("unit") is not None or not choices:  # else: a quantity or a layer alone, which has no unit
        choices = begin | choices
    cut = number("of") if text is not None else None
    ask = LiveAsk.from_json(choices | {"memoryless": number("memoryless") == 1, "pin": number("pin")})
    view: dict[str, Any] = {
        "wrong": wrong,  # the reason why the text can't be read
        # The whole text's length, if the address holds only its beginning.
        "cut": cut if cut and cut > MAX_ADDRESS_TEXT_CHARS else None,
        "caret": number("at"),
        "pin": number("pin"),
        "why": number("why") == 1,
        "rows": number("rows") or 0,
    }
    view |= {name: getattr(ask, name) for name in ("quantity", "layer", "order", "unit", "memoryless")}
    return Bookmark(text, ask, view)

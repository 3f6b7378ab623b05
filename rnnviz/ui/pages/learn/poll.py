"""Ask the room: the class answers a step's question with phones, while the room is open.

wish     {"open": true} opens the room, false closes it; {"reveal": number}, {"again": number},
         {"address": …} while it is open
answer   {"door": …} the room's address and QR code, or null; {"trouble": …} the reason why there is none
"""

from collections.abc import Callable, Mapping
from typing import Any

from rnnviz.errors import RnnvizError
from rnnviz.i18n import _, language
from rnnviz.ui.serving.room import classroom
from rnnviz.ui.serving.room.classroom import OpenRoom
from rnnviz.ui.serving.room.room import Question


def taken(wish: object, describe: Callable[[Exception], str]) -> dict[str, Any]:
    """Apply a browser's wish to the room and return the answer; `describe` words errors."""
    fields = wish.get("room") if isinstance(wish, Mapping) else None
    try:
        opened = _opened(fields if isinstance(fields, Mapping) else {})
    except RnnvizError as error:
        return {"door": None, "trouble": describe(error)}
    return {"door": None if opened is None else opened.door()}


def _opened(fields: Mapping[str, Any]) -> OpenRoom | None:
    if fields.get("open") is False:
        classroom.close()
    if fields.get("open") is True:
        classroom.open_room(language()).asks = True
    opened = classroom.current()
    if opened is None or not opened.asks:
        return None
    opened.room.speak(language())
    opened.move(fields.get("address"))
    for name, do in (("reveal", opened.room.reveal), ("again", opened.room.again)):
        if type(number := fields.get(name)) is int:
            do(number)
    return opened


def stage(question: Question | None) -> None:
    """Make the current step's question the room's; None: there is none."""
    opened = classroom.current()
    if opened is not None and opened.asks:
        opened.stage(question)


def words() -> dict[str, str]:
    """The stage's words on the room, by the names that static/room.js uses."""
    return {
        "room.ask": _("Ask the room"),
        "room.help": _("Open a page for the class's phones, which answer the lecture's questions"),
        "room.open": _("Room: {phones}"),
        "room.scan": _("Scan this, or type the address:"),
        "room.how": _(
            "Phones must be in the same network as this computer. "
            "A firewall or a guest Wi-Fi may keep them out."
        ),
        "room.trust": _("No account, no name. Answers are counted, and forgotten when the room closes."),
        "room.phones": _("phones in the room"),
        "room.address": _("Another address of this computer"),
        "room.start": _("Start (Space)"),
        "room.close": _("Close the room"),
        "room.answers": _("Answers as CSV"),
        "room.answered": _("{n} of {phones} answered"),
        "room.reveal": _("Reveal (Space)"),
        "room.again": _("Ask again"),
        "room.votes": _("{n} votes"),
        "room.next": _("Next letter (Space)"),
        "room.lost": _("The room can't be reached. Trying again …"),
    }

"""Ask the room: the class answers a step's question with phones, while the lecturer has a room open.

A visitor of a hosted app can't open a room.

wish     {"open": true} opens the session's room, false closes it; {"key": …} takes it over, after a reload of
         the page; {"reveal": number}, {"again": number}, {"address": …} once it is open
answer   {"door": …} the room's address and QR code, or null; {"trouble": …} the reason why there is none;
         {"watches": true} for a visitor, who can't open one
"""

from collections.abc import Callable, Mapping
from typing import Any

from rnnviz.errors import RnnvizError
from rnnviz.i18n import _, language
from rnnviz.ui.hosting import environment, permissions, user
from rnnviz.ui.room import rooms
from rnnviz.ui.room.room import Question


def taken(wish: object, describe: Callable[[Exception], str]) -> dict[str, Any]:
    """Apply a browser's wish to the session's room and return the answer; `describe` words errors."""
    fields = wish.get("room") if isinstance(wish, Mapping) else None
    try:
        found = _found(fields if isinstance(fields, Mapping) else {})
    except RnnvizError as error:
        return {"door": None, "trouble": describe(error), **_whose()}
    return {"door": None if found is None else found.door(), **_whose()}


def _whose() -> dict[str, bool]:
    return {} if permissions.to_ask_the_room() else {"watches": True}


def _found(fields: Mapping[str, Any]) -> rooms.Opened | None:
    mine = user.session()
    if fields:
        permissions.insist(permissions.to_ask_the_room())
    if fields.get("open") is False:
        rooms.close_of([mine])
    if "key" in fields:
        rooms.claim(mine, fields["key"])
    if fields.get("open") is True:
        rooms.open_for(mine, language()).asks = True
    found = rooms.of(mine)
    if found is None or not found.asks:
        return None
    found.room.speak(language())
    found.move(fields.get("address"))
    for name, do in (("reveal", found.room.reveal), ("again", found.room.again)):
        if type(number := fields.get(name)) is int:
            do(number)
    return found


def stage(question: Question | None, session: str) -> None:
    """Make the current step's question the question of the session's room; None: there is none."""
    found = rooms.of(session)
    if found is not None:
        found.stage(question)


def words() -> dict[str, str]:
    """The stage's words on the room, by the names that static/room.js uses."""
    return {
        "room.ask": _("Ask the room"),
        "room.help": _("Open a page for the class's phones, which answer the lecture's questions"),
        "room.lecturers": _("Only the lecturer can ask the room"),
        "room.open": _("Room: {phones}"),
        "room.scan": _("Scan this, or type the address:"),
        "room.how": _("A phone that can open this app can open the room. It takes no visitor's place.")
        if environment.hosted()
        else _(
            "Phones must be in the same network as this computer. "
            "A firewall or a guest Wi-Fi may keep them out."
        ),
        "room.trust": _("No account, no name. Answers are counted, and forgotten when the room closes."),
        "room.phones": _("phones in the room"),
        "room.address": _("Another address of this computer"),
        "room.start": _("Start (Space)"),
        "room.close": _("Close the room"),
        "room.answered": _("{n} of {phones} answered"),
        "room.reveal": _("Reveal (Space)"),
        "room.again": _("Ask again"),
        "room.votes": _("{n} votes"),
        "room.next": _("Next letter (Space)"),
        "room.lost": _("The room can't be reached. Trying again …"),
    }

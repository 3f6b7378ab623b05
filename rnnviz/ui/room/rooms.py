"""The rooms that are open: one a session of the app at most, each with a door of its own.

A room belongs to the session that opened it. Its key is told to that session alone: with it the stage looks
at what comes in, and a page that was loaded again, a new session, takes the room over. The door also gives
the pages of networks that the session shows on phones, whether the lecture asks something or not.
"""

import asyncio
import secrets
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import segno
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rnnviz.errors import ConfigError
from rnnviz.ui.room.addresses import Address, addresses
from rnnviz.ui.room.listener import Listener, new_code
from rnnviz.ui.room.phones import Phones
from rnnviz.ui.room.room import Question, Room

ROOMS = 20
"""Rooms that are open at a time, each with its listener."""

WAIT = 4.0  # seconds that a look at a room waits for news; a server that is stopped waits for looks to end
GATHER = 0.15  # seconds of answers that are told at once
UNSEEN = 15.0  # seconds without a look after which the stage shows something else


@dataclass(eq=False)
class Opened:
    """A room, its door, and whose it is. Of this computer's `places`, by which phones come, the one `at` is
    shown. `asks`: whether the lecture has opened it, or it gives networks' pages alone.
    """

    listener: Listener
    places: list[Address]
    session: str
    phones: Phones
    key: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    asks: bool = False
    at: int = 0
    staged: Question | None = None
    looked: float = field(default_factory=time.monotonic)

    @property
    def room(self) -> Room:
        """What phones answer."""
        return self.phones.room

    @property
    def host(self) -> str:
        """Address and port of the door."""
        return f"{self.places[self.at].address}:{self.listener.port}"

    @property
    def short(self) -> str:
        """What is typed: address, port and code."""
        return f"{self.host}/{self.phones.code}"

    @property
    def url(self) -> str:
        """What the QR code holds."""
        return f"http://{self.short}"

    def move(self, address: object) -> None:
        """Show another of this computer's addresses; one that it hasn't got is ignored."""
        for i, one in enumerate(self.places):
            if one.address == address:
                self.at = i

    def door(self) -> dict[str, Any]:
        """What the stage shows of the way in, as JSON: address, QR code, and where else it might be."""
        return {
            "key": self.key,
            "short": self.short,
            "url": self.url,
            "qr": qr(self.url),
            "places": [{"address": one.address, "interface": one.interface} for one in self.places],
            "at": self.at,
        }

    def stage(self, question: Question | None) -> None:
        """What the stage's step asks from now on."""
        self.staged = question
        self.room.ask(question)

    def seen(self) -> None:
        """The stage looks."""
        self.looked = time.monotonic()
        self.room.ask(self.staged)

    def close(self) -> None:
        """Tell the phones, and close the door."""
        self.room.close()
        self.listener.close()


_opened: dict[str, Opened] = {}  # by key
_lock = threading.Lock()


def open_for(session: str, language: str) -> Opened:
    """The session's room, opened if there is none. Raises ConfigError where that can't be."""
    with _lock:
        found = _of(session)
        if found is not None:
            return found
        if len(_opened) >= ROOMS:
            raise ConfigError("{count} rooms are open here; close one of them first", count=ROOMS)
        places = addresses()
        if not places:
            raise ConfigError(
                "this computer has no address in a local network; connect it to the Wi-Fi that the phones use"
            )
        phones = Phones(Room(language), new_code())
        found = Opened(Listener(phones.app), places, session, phones)
        _opened[found.key] = found
        return found


def of(session: str) -> Opened | None:
    """The session's room; None if it has none open."""
    with _lock:
        return _of(session)


def _of(session: str) -> Opened | None:
    return next((one for one in _opened.values() if one.session == session), None)


def claim(session: str, key: object) -> Opened | None:
    """The room of a key, which is the session's from now on; the session's own if nobody has that key."""
    with _lock:
        found = _opened.get(key) if isinstance(key, str) else None
        own = _of(session)
        if found is None or own is not None:
            return own
        found.session = session
        return found


def close_of(sessions: Iterable[str]) -> None:
    """Close the rooms of these sessions."""
    with _lock:
        gone = [one for one in _opened.values() if one.session in set(sessions)]
        for one in gone:
            del _opened[one.key]
    for one in gone:
        one.close()


def close_all() -> None:
    """Close every room: the server stops."""
    with _lock:
        sessions = [one.session for one in _opened.values()]
    close_of(sessions)


def unseen(after: float = UNSEEN) -> None:
    """Close the questions of stages that nobody has looked from for a while: another page is shown there."""
    with _lock:
        rooms = list(_opened.values())
    for one in rooms:
        if time.monotonic() - one.looked > after:
            one.room.ask(None)


async def look(request: Request) -> Response:
    """What the stage has to know, once that is another edition than the one that it has seen; JSON."""
    found = _opened.get(request.path_params["key"])
    if found is None:
        return JSONResponse({"closed": True}, headers={"Cache-Control": "no-store"})
    found.seen()
    room = found.room
    news = room.stage.hang()
    try:
        if request.query_params.get("seen") == str(room.edition):
            await asyncio.wait_for(news.wait(), WAIT)
            await asyncio.sleep(GATHER)
    except TimeoutError:
        pass
    finally:
        room.stage.take_down(news)
    return JSONResponse(room.shown() | {"closed": room.closed}, headers={"Cache-Control": "no-store"})


@lru_cache(maxsize=20)
def qr(text: str) -> str:
    """A QR code as the address of an SVG picture, dark on white with its margin, on any background."""
    code = segno.make(text, error="m", micro=False)
    return str(code.svg_data_uri(border=4, dark="#000", light="#fff", omitsize=True))


def routes() -> list[Route]:
    """What the app itself answers to a stage."""
    return [Route("/room/{key}", look)]

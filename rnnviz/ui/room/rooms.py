"""The ways in for phones: one a session of the app at most, a room of the lecture, networks' pages, or both.

Phones come to a listener that serves these alone (listener.py), which is there while somebody has a way open.
Where the app is hosted, phones can open it anyway: they come to its own port, below PLACE, and have neither
cookie nor place of a visitor.

A room belongs to the session that opened it. Its key is told to that session alone: with it the stage looks
at what comes in, and a page that was loaded again, a new session, takes the room over.
"""

import asyncio
import secrets
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import segno
import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from rnnviz.errors import ConfigError
from rnnviz.ui.hosting import environment, startup_message
from rnnviz.ui.room.addresses import Address, addresses
from rnnviz.ui.room.listener import Listener
from rnnviz.ui.room.phones import Page, Phones
from rnnviz.ui.room.room import Question, Room

ROOMS = 20
"""Sessions that have a way open at a time."""

PLACE = "/r"
"""Where the phones' pages stand on a hosted app's own port: short, to be typed."""

WAIT = 4.0  # seconds that a look at a room waits for news; a server that is stopped waits for looks to end
GATHER = 0.15  # seconds of answers that are told at once
UNSEEN = 15.0  # seconds without a look after which the stage shows something else
LETTERS = "abcdefghjkmnpqrstuvwxyz"  # none that looks like another, or like a digit


def new_code() -> str:
    """Five letters, one of six million words, no other room's: typed quickly, and guesses are slowed."""
    code = "".join(secrets.choice(LETTERS) for _ in range(5))
    return code if _room(code) is None else new_code()


@dataclass(eq=False)
class Opened:
    """A session's way in for phones: its room, and the networks' pages that it shows by their names. Of the
    `places` by which phones come, the one `at` is shown: this computer's addresses, with the listener's
    `port`, or the whole addresses of the app itself, and 0. `asks`: whether the lecture has opened it, or it
    gives networks' pages alone.
    """

    session: str
    room: Room
    places: list[Address]
    port: int
    code: str = field(default_factory=new_code)
    key: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    pages: dict[str, Page] = field(default_factory=dict)
    asks: bool = False
    at: int = 0
    staged: Question | None = None
    looked: float = field(default_factory=time.monotonic)

    @property
    def base(self) -> str:
        """What stands before a code."""
        address = self.places[self.at].address
        return f"http://{address}:{self.port}" if self.port else address

    def move(self, address: object) -> None:
        """Show another of this computer's addresses; one that it hasn't got is ignored."""
        for i, one in enumerate(self.places):
            if one.address == address:
                self.at = i

    def door(self) -> dict[str, Any]:
        """What the stage shows of the way in, as JSON: address, QR code, and where else it might be."""
        url = f"{self.base}/{self.code}"
        return {
            "key": self.key,
            "short": url.partition("://")[2],
            "url": url,
            "qr": qr(url),
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


_opened: dict[str, Opened] = {}  # by key
_listener: Listener | None = None  # while the app isn't hosted and there is any
_lock = threading.Lock()


def _room(code: str) -> Room | None:
    return next((one.room for one in list(_opened.values()) if one.code == code), None)


def _page(name: str) -> Page | None:
    return next(filter(None, (one.pages.get(name) for one in list(_opened.values()))), None)


phones = Phones(_room, _page)
"""What phones are served, on whichever port."""


class Entrance:
    """Middleware, before the door of a hosted app: what is below PLACE is the phones', and no more."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(f"{PLACE}/"):
            await phones.app({**scope, "root_path": scope.get("root_path", "") + PLACE}, receive, send)
        else:
            await self._app(scope, receive, send)


def open_for(session: str, language: str) -> Opened:
    """The session's way in, opened if there is none. Raises ConfigError where that can't be."""
    global _listener
    with _lock:
        if (own := of(session)) is not None:
            return own
        if len(_opened) >= ROOMS:
            raise ConfigError("{count} rooms are open here; close one of them first", count=ROOMS)
        if environment.hosted():
            named = [startup_message.outside(st.context.url or ""), *startup_message.addresses()]
            places, port = [Address(url + PLACE, "") for url in dict.fromkeys(named)], 0
        else:
            places = addresses()
            if not places:
                raise ConfigError(
                    "this computer has no address in a local network; connect it to the Wi-Fi that the "
                    "phones use"
                )
            _listener = _listener or Listener(phones.app)
            port = _listener.port
        found = Opened(session, Room(language), places, port)
        _opened[found.key] = found
        return found


def of(session: str) -> Opened | None:
    """The session's way in; None if it has none open."""
    return next((one for one in list(_opened.values()) if one.session == session), None)


def claim(session: str, key: object) -> None:
    """The room of a key is the session's from now on, unless that has one."""
    with _lock:
        found = _opened.get(key) if isinstance(key, str) else None
        if found is not None and of(session) is None:
            found.session = session


def close_of(sessions: Collection[str]) -> None:
    """Close the ways of these sessions, with the last one the listener: its phones are told first."""
    global _listener
    with _lock:
        gone = [one for one in _opened.values() if one.session in sessions]
        for one in gone:
            del _opened[one.key]
            one.room.close()
        if _listener is not None and not _opened:
            _listener.close()
            _listener = None


def close_all() -> None:
    """Close every way: the server stops."""
    close_of([one.session for one in list(_opened.values())])


def unseen(after: float = UNSEEN) -> None:
    """Close the questions of stages that nobody has looked from for a while: another page is shown there."""
    for one in list(_opened.values()):
        if time.monotonic() - one.looked > after:
            one.room.ask(None)


async def look(request: Request) -> Response:
    """What the stage has to know, once that is another edition than the one that it has seen; JSON."""
    found = _opened.get(request.path_params["key"])
    if found is None:
        return JSONResponse({"closed": True}, headers={"Cache-Control": "no-store"})
    found.seen()
    room = found.room
    with room.stage.heard() as news:
        if request.query_params.get("seen") == str(room.edition):
            try:
                await asyncio.wait_for(news.wait(), WAIT)
                await asyncio.sleep(GATHER)
            except TimeoutError:
                pass
    return JSONResponse(room.shown() | {"closed": room.closed}, headers={"Cache-Control": "no-store"})


@lru_cache(maxsize=20)
def qr(text: str) -> str:
    """A QR code as the address of an SVG picture, dark on white with its margin, on any background."""
    code = segno.make(text, error="m", micro=False)
    return str(code.svg_data_uri(border=4, dark="#000", light="#fff", omitsize=True))


def routes() -> list[Route]:
    """What the app itself answers to a stage."""
    return [Route("/room/{key}", look)]

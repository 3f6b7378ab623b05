"""The open rooms, at most one a session. A room serves the lecture's questions, networks' pages, or both.

Phones use a separate listener (listener.py), which runs while any room is open. A hosted app's own port is
open to phones anyway: there they use paths below PLACE, without a visitor's cookie or place.

A room belongs to the session that opened it. Only that session gets its key. With the key, the stage polls
the room's state (`look`), and a new session, after a reload of the page, takes the room over (`claim`).
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
"""Rooms open at a time, at most."""

PLACE = "/r"
"""The path of the phones' pages on a hosted app's own port: short, because people type it."""

WAIT = 4.0  # seconds that `look` waits for news; short, because a stopping server waits for open requests
GATHER = 0.15  # seconds of answers that go to the stage together
UNSEEN = 15.0  # seconds without `look` until a stage counts as left
LETTERS = "abcdefghjkmnpqrstuvwxyz"  # without i, l and o, which look like other letters or digits


def new_code() -> str:
    """A new room's code, five letters: quick to type, and one of six million, with guesses slowed down."""
    code = "".join(secrets.choice(LETTERS) for _ in range(5))
    return code if _room(code) is None else new_code()


@dataclass(eq=False)
class Opened:
    """A session's open room.

    places  addresses by which phones may come: this computer's, or the hosted app's whole addresses
    port    the listener's port; 0 for a hosted app
    pages   functions that answer requests for networks' pages, by network's name
    asks    whether the lecture has opened the room; else it serves networks' pages alone
    at      the index of the place shown
    staged  the current step's question
    looked  the time of the last `look`, by time.monotonic()
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
        """The address before a code."""
        address = self.places[self.at].address
        return f"http://{address}:{self.port}" if self.port else address

    def move(self, address: object) -> None:
        """Show another of the places; an unknown address is ignored."""
        for i, one in enumerate(self.places):
            if one.address == address:
                self.at = i

    def door(self) -> dict[str, Any]:
        """The room's address, QR code, key and other places, as JSON for the stage."""
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
        """Ask the current step's question, or none."""
        self.staged = question
        self.room.ask(question)

    def seen(self) -> None:
        """Record a `look`, and ask the question again that `unseen` may have closed."""
        self.looked = time.monotonic()
        self.room.ask(self.staged)


_opened: dict[str, Opened] = {}  # by key
_listener: Listener | None = None  # while any room is open, unless the app is hosted
_lock = threading.Lock()  # of changes; readers copy `_opened` with list() instead


def _room(code: str) -> Room | None:
    return next((one.room for one in list(_opened.values()) if one.code == code), None)


def _page(name: str) -> Page | None:
    return next(filter(None, (one.pages.get(name) for one in list(_opened.values()))), None)


phones = Phones(_room, _page)
"""The phones' web application, behind the listener and behind `Entrance`."""


class Entrance:
    """The middleware, outside Auth, that leads a hosted app's requests below PLACE to the phones'
    application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(f"{PLACE}/"):
            await phones.app({**scope, "root_path": scope.get("root_path", "") + PLACE}, receive, send)
        else:
            await self._app(scope, receive, send)


def open_for(session: str, language: str) -> Opened:
    """The session's room, opened if there is none.

    Raises ConfigError past ROOMS open rooms, and without an address in a local network.
    """
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
    """The session's open room; None without one."""
    return next((one for one in list(_opened.values()) if one.session == session), None)


def claim(session: str, key: object) -> None:
    """Give the room of a key to this session, unless the session has one."""
    with _lock:
        found = _opened.get(key) if isinstance(key, str) else None
        if found is not None and of(session) is None:
            found.session = session


def close_of(sessions: Collection[str]) -> None:
    """Close these sessions' rooms, whose phones hear of it; with the last room, close the listener."""
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
    """Close every room; the server calls this when it stops."""
    close_of([one.session for one in list(_opened.values())])


def unseen(after: float = UNSEEN) -> None:
    """Close the questions of rooms without a `look` for `after` seconds: their stages show another page."""
    for one in list(_opened.values()):
        if time.monotonic() - one.looked > after:
            one.room.ask(None)


async def look(request: Request) -> Response:
    """A long poll: the room's state as JSON, once its edition differs from the query's `seen`, or after WAIT
    seconds.
    """
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
    """A QR code as the data URI of an SVG, dark on white with a margin, so that any background will do."""
    code = segno.make(text, error="m", micro=False)
    return str(code.svg_data_uri(border=4, dark="#000", light="#fff", omitsize=True))


def routes() -> list[Route]:
    """The route of the stages' `look`, on the app's own port."""
    return [Route("/room/{key}", look)]

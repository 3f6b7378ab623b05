"""A model's page for the phones of a hall: a listener of its own serves it, and nothing else.

A phone fetches the page once; what is typed there costs this computer nothing.
"""

from __future__ import annotations

import hmac
import threading
from collections.abc import Iterable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rnnviz.errors import ConfigError
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.ui.hosting import allowed
from rnnviz.ui.room.entrance import Entrance, here
from rnnviz.ui.room.limits import Limit
from rnnviz.ui.room.listener import Listener, new_code
from rnnviz.ui.room.phones import address, refused
from rnnviz.ui.room.room import Refused
from rnnviz.ui.standalone import serving

MOST = 20
"""Listeners that are open at a time, one a session."""


class Handout:
    """The web application: one page, under its code."""

    def __init__(self, page: serving.Made, code: str) -> None:
        self._page, self._code = page, code
        self._limit = Limit(burst=300, rate=20)  # a whole class may have one address
        self.app = Starlette(
            routes=[Route("/{code}", self._give)],
            exception_handlers={HTTPException: refused, Refused: refused},
        )

    async def _give(self, request: Request) -> Response:
        if not self._limit.allows(address(request)):
            raise Refused(429, "slowly")
        if not hmac.compare_digest(request.path_params["code"].lower().encode(), self._code.encode()):
            raise HTTPException(404)
        return serving.answer(request, self._page)


_open: dict[str, tuple[serving.Made, Entrance]] = {}  # by session
_lock = threading.Lock()


def hand_out(session: str, info: ModelInfo, language: str) -> Entrance:
    """Where phones find the model's page: the session's listener, opened if another page or none is there.

    Raises ConfigError where that can't be, and what building the page raises.
    """
    allowed.insist(allowed.everything())
    page = serving.made(info, language)
    with _lock:
        last, found = _open.get(session, (None, None))
        if found is not None and last == page:
            return found
        if found is None and len(_open) >= MOST:
            raise ConfigError("{count} pages are shown on phones here; stop one of them first", count=MOST)
        places, code = here(), new_code()
        made = Entrance(code, Listener(Handout(page, code).app), places)
        if found is not None:
            found.close()
        _open[session] = page, made
        return made


def close_of(sessions: Iterable[str]) -> None:
    """Close the listeners of these sessions."""
    with _lock:
        gone = [_open.pop(session) for session in list(sessions) if session in _open]
    for _page, entrance in gone:
        entrance.close()


def close_all() -> None:
    """Close every listener: the server stops."""
    close_of(list(_open))

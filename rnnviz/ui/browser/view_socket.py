"""The server's side of a view's conversation, as view_socket.js is the browser's: a WebSocket beside
Streamlit's, which for every ask would start a thread, run the page and send six messages. Whatever needs a
run of the page still goes through Streamlit, and so does everything where there is no such connection. app.py
imports this module: keep it light.

    browser  asks: JSON, one at a time
    server   the bytes that answer an ask, or "" for: ask the page

The browser shows the token that the page has told it as the connection's subprotocol: without a good one
there is no connection, and nothing to hold what a stranger sends.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from rnnviz.i18n import language, speaking
from rnnviz.ui.hosting import user

if TYPE_CHECKING:
    from rnnviz.ui.hosting.user import User

log = logging.getLogger("rnnviz")

ADDRESS = "/live"
ASK_PAGE = ""
MOST = 4  # connections of one view: one, and what a lost network has not ended yet
LONGEST = 250_000
"""Characters of an ask: a text of 20,000 control characters, which JSON writes in six each, and the rest."""

Answer = Callable[[Any, bool], bytes | None]
"""The bytes that answer what a browser says, any JSON value. None where only the page can; or, where the
second argument is True, if that would take longer than about a millisecond, less than to hand it to a thread.
"""


def _nothing(said: Any, at_once: bool) -> bytes | None:
    return None


class ViewSocket:
    """What answers one view's asks. The session's state alone holds it. `lock` is held while an ask is
    answered: the page's runs are another thread.
    """

    def __init__(self) -> None:
        self.token, self.person, self.connections = secrets.token_urlsafe(18), user.current(), 0
        self.lock = threading.Lock()
        self.serve(_nothing)
        self.turn = _turns.setdefault(self.person, asyncio.Lock())
        _links[self.token] = self

    def serve(self, answer: Answer) -> None:
        """Called by each run of the page: from now on `answer` says it, in the language of now."""
        self.answer, self.language = answer, language()

    def say(self, said: Any, at_once: bool = False) -> bytes | None:
        """See `Answer`; at once it waits for no other thread."""
        if not self.lock.acquire(blocking=not at_once):
            return None
        try:
            with speaking(self.language):
                return self.answer(said, at_once)
        finally:
            self.lock.release()


_links: WeakValueDictionary[str, ViewSocket] = WeakValueDictionary()
_turns: WeakValueDictionary[User, asyncio.Lock] = WeakValueDictionary()
"""Each person's: of all their views one long ask at a time has a thread, so that nobody takes all of them."""


async def _connected(socket: WebSocket) -> None:
    token = next(iter(socket.scope["subprotocols"]), "")
    if not _come(token, user.of(socket.scope["headers"])):
        await socket.close(1008)
        return
    try:
        await socket.accept(token)
        with suppress(KeyError):  # bytes where text should be
            await _talk(socket, token)
        await socket.close(1008)
    except WebSocketDisconnect:
        pass
    finally:
        _gone(token)


def _come(token: str, who: User) -> bool:
    """Whether it is a view of theirs with room for a connection. It isn't kept: it goes with its session."""
    found = _links.get(token)
    if found is None or found.person != who or found.connections >= MOST:
        return False
    found.connections += 1
    return True


def _gone(token: str) -> None:
    if (found := _links.get(token)) is not None:
        found.connections -= 1


async def _talk(socket: WebSocket, token: str) -> None:
    while token in _links:
        found = await _answer(token, await socket.receive_text())
        await (socket.send_text(ASK_PAGE) if found is None else socket.send_bytes(found))
        await asyncio.sleep(0)  # the next ask may be there already: others' turn first


async def _answer(token: str, wish: str) -> bytes | None:
    link = _links.get(token)
    if link is None or len(wish) > LONGEST:
        return None
    try:
        said = json.loads(wish)
    except (ValueError, RecursionError):  # no ask at all; whoever sends many fills no log
        return None
    try:
        answer = link.say(said, at_once=True)
        if answer is not None:
            return answer
        async with link.turn:
            return await run_in_threadpool(link.say, said)
    except Exception:  # the page will say what is wrong
        log.exception("a view's ask could not be answered")
        return None


def routes() -> list[WebSocketRoute]:
    """What serves the connections."""
    return [WebSocketRoute(ADDRESS, _connected)]

"""The server's side of a view's own WebSocket; view_socket.js is the browser's side.

Through Streamlit's WebSocket every ask starts a thread, runs the page and sends six messages. An ask that
needs a run of the page still goes through Streamlit; so do all asks where this connection fails. app.py
imports this module: keep it light.

    browser  asks: JSON, one at a time
    server   the bytes that answer an ask, or "" for: ask the page

The page gives the browser a token, which the browser sends as the connection's subprotocol. Without a valid
token the server refuses the connection before it holds any of a stranger's messages.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from rnnviz.i18n import language, speaking

log = logging.getLogger("rnnviz")

ADDRESS = "/live"
ASK_PAGE = ""
MAX_CONNECTIONS = 4  # connections of one view: the live one, and those that a lost network has not closed yet
MAX_ASK_CHARS = 250_000
"""Characters of an ask: JSON writes a control character in six, so 20,000 take 120,000; the rest is room."""

Answer = Callable[[Any, bool], bytes | None]
"""(ask, at_once) -> the bytes that answer an ask, any JSON value; None if only the page can answer.

With `at_once`, also None if the answer would take longer than about a millisecond: the event loop waits, and
a shorter answer costs less than its handover to a thread.
"""


def _nothing(said: Any, at_once: bool) -> bytes | None:
    return None


class ViewSocket:
    """The server's end of one view's connection. Only the session's state holds it, so both end together.

    `lock` is held during an answer, because the page's runs are another thread.
    """

    def __init__(self) -> None:
        self.token, self.connections = secrets.token_urlsafe(18), 0
        self.lock = threading.Lock()
        self.serve(_nothing)
        self.turn = asyncio.Lock()  # one long ask at a time has a thread, however many connections wait
        _links[self.token] = self

    def serve(self, answer: Answer) -> None:
        """Answer asks by `answer` from now on, in the session's language. Each run of the page calls this."""
        self.answer, self.language = answer, language()

    def say(self, said: Any, at_once: bool = False) -> bytes | None:
        """The answer to an ask; see `Answer`. With `at_once`, None where another thread holds the lock."""
        if not self.lock.acquire(blocking=not at_once):
            return None
        try:
            with speaking(self.language):
                return self.answer(said, at_once)
        finally:
            self.lock.release()


_links: WeakValueDictionary[str, ViewSocket] = WeakValueDictionary()


async def _connected(socket: WebSocket) -> None:
    token = next(iter(socket.scope["subprotocols"]), "")
    if not _come(token):
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


def _come(token: str) -> bool:
    """Whether the token is of a view with room for a connection, which is then counted.

    The view is not returned: a reference here would keep it alive after its session.
    """
    found = _links.get(token)
    if found is None or found.connections >= MAX_CONNECTIONS:
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
        await asyncio.sleep(0)  # with the next ask here already, `receive_text` would not let others run


async def _answer(token: str, wish: str) -> bytes | None:
    link = _links.get(token)
    if link is None or len(wish) > MAX_ASK_CHARS:
        return None
    try:
        said = json.loads(wish)
    except (ValueError, RecursionError):  # not JSON; no log entry, so that a stranger can't fill the disk
        return None
    try:
        answer = link.say(said, at_once=True)
        if answer is not None:
            return answer
        async with link.turn:
            return await run_in_threadpool(link.say, said)
    except Exception:  # the browser asks the page next, which shows the error
        log.exception("a view's ask could not be answered")
        return None


def routes() -> list[WebSocketRoute]:
    """The route of the views' WebSockets."""
    return [WebSocketRoute(ADDRESS, _connected)]

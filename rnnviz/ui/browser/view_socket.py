"""The server's side of a view's own WebSocket; view_socket.js is the browser's side.

Through Streamlit's WebSocket every ask starts a thread, runs the page and sends six messages. An ask that
needs a run of the page still goes through Streamlit; so do all asks where this connection fails. app.py
imports this module, through serving/entry.py: keep it light.

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
from contextlib import suppress
from typing import Any, Protocol
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from rnnviz.i18n import language, speaking

log = logging.getLogger("rnnviz")

ADDRESS = "/live"
ASK_PAGE = ""
MAX_CONNECTIONS = 4  # of one view: the live one, and those that a lost network has not closed yet
MAX_ASK_CHARS = 250_000
"""JSON writes a control character in six, so a text of 20,000 takes 120,000; the rest is room."""


class Answerer(Protocol):
    """What answers a view's asks: a page's session, such as `LiveSession`."""

    def answer_ask(self, ask_json: Any, /, *, at_once: bool) -> bytes | None:
        """The bytes that answer an ask, any JSON value; None if only the page can answer.

        With `at_once`, also None if the answer would take longer than about a millisecond: the event loop
        waits, and a shorter answer costs less than its handover to a thread.
        """


class ViewSocket:
    """The server's end of one view's connection. Only the session's state holds it, so both end together."""

    def __init__(self) -> None:
        self.token, self.connections = secrets.token_urlsafe(18), 0
        # Two threads use the session: this connection's and the page's runs. Whoever answers holds the lock,
        # and a page that replaces what the session shows holds it too.
        self.lock = threading.Lock()
        # One long ask at a time has a thread, however many connections wait. A lock of the event loop, not of
        # threads: who waits for it takes none of the server's few threads.
        self.turn = asyncio.Lock()
        self._answerer: Answerer | None = None
        self._language = ""
        _sockets[self.token] = self

    def serve(self, answerer: Answerer) -> None:
        """Let `answerer` answer from now on, in the session's language. Each run of the page calls this."""
        self._answerer, self._language = answerer, language()

    def answer(self, ask_json: Any, *, at_once: bool = False) -> bytes | None:
        """See `Answerer.answer_ask`. With `at_once`, None also where another thread holds the lock."""
        if self._answerer is None or not self.lock.acquire(blocking=not at_once):
            return None
        try:
            # A connection has no Streamlit session to take the language from: the page's run left it here.
            with speaking(self._language):
                return self._answerer.answer_ask(ask_json, at_once=at_once)
        finally:
            self.lock.release()


# Weak, so that a closed session frees its socket: the token then opens nothing any more.
_sockets: WeakValueDictionary[str, ViewSocket] = WeakValueDictionary()


async def _serve_connection(connection: WebSocket) -> None:
    token = next(iter(connection.scope["subprotocols"]), "")
    if not _count_connection(token):
        await connection.close(1008)
        return
    try:
        await connection.accept(token)
        with suppress(KeyError):  # bytes where text should be
            await _answer_asks(connection, token)
        await connection.close(1008)
    except WebSocketDisconnect:
        pass
    finally:
        _release_connection(token)


def _count_connection(token: str) -> bool:
    """Whether the token is of a view with room for a connection, which is then counted.

    The view is not returned: a reference here would keep it alive after its session.
    """
    view_socket = _sockets.get(token)
    if view_socket is None or view_socket.connections >= MAX_CONNECTIONS:
        return False
    view_socket.connections += 1
    return True


def _release_connection(token: str) -> None:
    if (view_socket := _sockets.get(token)) is not None:
        view_socket.connections -= 1


async def _answer_asks(connection: WebSocket, token: str) -> None:
    while token in _sockets:
        answer = await _answer_json(token, await connection.receive_text())
        await (connection.send_text(ASK_PAGE) if answer is None else connection.send_bytes(answer))
        # With the next ask here already, `receive_text` would not let other connections run.
        await asyncio.sleep(0)


async def _answer_json(token: str, text: str) -> bytes | None:
    """The answer to an ask as text; None: ask the page."""
    view_socket = _sockets.get(token)
    if view_socket is None or len(text) > MAX_ASK_CHARS:
        return None
    try:
        ask_json = json.loads(text)
    except (ValueError, RecursionError):  # not JSON; no log entry, so that a stranger can't fill the disk
        return None
    try:
        # A key is answered here, in the event loop: a thread's handover would take longer than the answer.
        answer = view_socket.answer(ask_json, at_once=True)
        if answer is not None:
            return answer
        async with view_socket.turn:
            return await run_in_threadpool(view_socket.answer, ask_json)
    except Exception:  # the browser asks the page next, which shows the error
        log.exception("a view's ask could not be answered")
        return None


def routes() -> list[WebSocketRoute]:
    """The route of the views' WebSockets."""
    return [WebSocketRoute(ADDRESS, _serve_connection)]

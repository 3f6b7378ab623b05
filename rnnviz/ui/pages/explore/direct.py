"""A key's own way to the server and back: a WebSocket beside Streamlit's, which for every ask would start a
thread, run the page and send six messages. Whatever needs a run of the page still goes through Streamlit, and
so does everything where there is no such connection. app.py imports this module: keep it light.

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
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from rnnviz.ui.hosting import person

if TYPE_CHECKING:
    from rnnviz.ui.hosting.person import Person
    from rnnviz.ui.pages.explore.session import Ask, LiveSession

log = logging.getLogger("rnnviz")

ADDRESS = "/live"
ASK_PAGE = ""
MOST = 4  # connections of one tab: one, and what a lost network has not ended yet
LONGEST = 250_000
"""Characters of an ask: a text of 20,000 control characters, which JSON writes in six each, and the rest."""

_STATE = "explore.direct"  # of st.session_state, which alone keeps the tab


class Tab:
    """What answers one tab's asks; `held` is set by every run of the page."""

    def __init__(self) -> None:
        self.token, self.person, self.connections = secrets.token_urlsafe(18), person.current(), 0
        self.held: tuple[LiveSession, Mapping[str, Any], str, float] | None = None
        self.turn = _turns.setdefault(self.person, asyncio.Lock())
        _tabs[self.token] = self

    def answer(self, ask: Ask, *, at_once: bool = False) -> bytes | None:
        """The bytes that answer `ask`; None where only the page can, or if it would not be `at_once`: within
        about a millisecond, less than to hand it to a thread.
        """
        if self.held is None or ask.fresh or ask.model or ask.glance:
            return None
        session, static, digest, temperature = self.held
        say = session.at_once if at_once else session.answer
        return say(ask, static, digest, temperature=temperature)


_tabs: WeakValueDictionary[str, Tab] = WeakValueDictionary()
_turns: WeakValueDictionary[Person, asyncio.Lock] = WeakValueDictionary()
"""Each person's: of all their tabs one long ask at a time has a thread, so that nobody takes all of them."""


def tab(state: MutableMapping[Any, Any]) -> Tab:
    """That of a session's state, made the first time."""
    found = state.get(_STATE)
    if not isinstance(found, Tab):
        found = state[_STATE] = Tab()
    return found


async def _connected(socket: WebSocket) -> None:
    token = next(iter(socket.scope["subprotocols"]), "")
    if not _come(token, person.of(socket.scope["headers"])):
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


def _come(token: str, who: Person) -> bool:
    """Whether this is a tab of theirs with room for a connection. It isn't kept: it goes with its session."""
    found = _tabs.get(token)
    if found is None or found.person != who or found.connections >= MOST:
        return False
    found.connections += 1
    return True


def _gone(token: str) -> None:
    if (found := _tabs.get(token)) is not None:
        found.connections -= 1


async def _talk(socket: WebSocket, token: str) -> None:
    while token in _tabs:
        found = await _answer(token, await socket.receive_text())
        await (socket.send_text(ASK_PAGE) if found is None else socket.send_bytes(found))
        await asyncio.sleep(0)  # the next ask may be there already: others' turn first


async def _answer(token: str, said: str) -> bytes | None:
    from rnnviz.ui.pages.explore.session import Ask

    found = _tabs.get(token)
    if found is None or len(said) > LONGEST:
        return None
    try:
        ask = Ask.from_json(json.loads(said))
    except (ValueError, RecursionError):  # no ask at all; whoever sends many fills no log
        return None
    try:
        answer = found.answer(ask, at_once=True)
        if answer is not None:
            return answer
        async with found.turn:
            return await run_in_threadpool(found.answer, ask)
    except Exception:  # the page will say what is wrong
        log.exception("an ask of the live view could not be answered")
        return None


def routes() -> list[WebSocketRoute]:
    """What serves the connections."""
    return [WebSocketRoute(ADDRESS, _connected)]

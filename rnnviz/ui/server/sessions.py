"""Sessions whose readers have left: what they hold goes on a clock. Streamlit keeps it for a while, should
the reader come back, but then looks only when another session leaves: on a quiet evening nothing goes.
"""

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Iterable

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rnnviz.ui.hosting import environment, uploads, user
from rnnviz.ui.jobs import free_memory
from rnnviz.ui.room import rooms

log = logging.getLogger("rnnviz")

OFTEN = 10.0  # seconds between two looks, at most
SELDOM = 0.5  # and at least: a server may be told to keep no session at all


class Sessions:
    """When each session was last there; `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._there: dict[str, float] = {}

    def seen(self, session: str) -> None:
        """It has run the script just now."""
        self._there[session] = self._clock()

    def heard_of(self, session: str) -> None:
        """It is or was there, and has perhaps never run the script."""
        self._there.setdefault(session, self._clock())

    def gone(self, there: Callable[[str], bool], after: float) -> list[str]:
        """Those that `there` has denied for `after` seconds; each is named once."""
        now = self._clock()
        for session in [session for session in list(self._there) if there(session)]:
            self._there[session] = now
        found = [session for session, last in list(self._there.items()) if now - last >= after]
        for session in found:
            del self._there[session]
        return found


_sessions = Sessions()
_visitors: dict[str, str] = {}  # by session


def seen() -> None:
    """Called by each run of the script."""
    context = get_script_run_ctx()
    if context is not None:
        _sessions.seen(context.session_id)
        who = user.current()
        if not who.lecturer:
            _visitors[context.session_id] = who.id
        _watch_nothing(context.session_id)


def _watch_nothing(session: str) -> None:
    """Where `server.fileWatcherType` is "none", Streamlit has a session that comes back watch files all the
    same: it would look up those of 2,400 modules, 150 ms in which nobody is answered. See docs/streamlit.md.
    """
    if runtime.exists() and st.get_option("server.fileWatcherType") == "none":
        found = runtime.get_instance().get_app_session(session)
        if found is not None:
            found.disconnect_file_watchers()


async def reap() -> None:
    """Let the sessions go whose readers have been away for as long as `server.disconnectedSessionTTL` says,
    or a little less, as Streamlit closes none that it has given up; on the server's event loop, for ever.
    """
    keep: float = st.get_option("server.disconnectedSessionTTL")
    often = min(OFTEN, max(SELDOM, keep / 4))
    while True:
        await asyncio.sleep(often)
        server = runtime.get_instance()
        rooms.unseen()
        there = {who for session, who in list(_visitors.items()) if server.is_active_session(session)}
        await asyncio.to_thread(_sweep, there)
        for session in uploads.holding() if environment.hosted() else ():
            _sessions.heard_of(session)
        gone = _sessions.gone(server.is_active_session, keep - 2 * often)
        if gone:
            rooms.close_of(gone)
            for session in gone:
                _visitors.pop(session, None)
            close(gone, server.close_session)
            await asyncio.to_thread(_give_back)


def close(sessions: Iterable[str], one: Callable[[str], None]) -> None:
    """Close them all: what one of them fails at is logged, and the clock goes on."""
    for session in sessions:
        try:
            one(session)
        except Exception:
            log.exception("a session that is gone could not be closed")


# What these need takes a fifth of a second to import: not before the first page is looked for.


def _sweep(there: set[str]) -> None:
    from rnnviz.training import visitors

    if visitors.serving.is_set():  # another process knows who is there of those whom it serves
        visitors.sweep(there)


def _give_back() -> None:
    gc.collect()  # a session is a circle of objects
    free_memory.give_back()

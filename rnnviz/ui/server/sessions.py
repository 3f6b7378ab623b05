"""The end of sessions whose readers have left, by a clock.

Streamlit keeps a session for a while, should the reader return. But it looks for expired ones only when
another session ends: on a quiet evening it frees nothing.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rnnviz.ui.jobs import free_memory
from rnnviz.ui.room import classroom

log = logging.getLogger("rnnviz")

OFTEN = 10.0  # seconds between two looks, at most
SELDOM = 0.5  # seconds between two looks, at least: `disconnectedSessionTTL` may be 0


class Sessions:
    """The time at which each session was last active; `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._there: dict[str, float] = {}

    def seen(self, session: str) -> None:
        """Record a session that runs the script now."""
        self._there[session] = self._clock()

    def gone(self, there: Callable[[str], bool], after: float) -> list[str]:
        """The sessions that `there` has reported inactive for `after` seconds; each is returned once."""
        now = self._clock()
        for session in [session for session in list(self._there) if there(session)]:
            self._there[session] = now
        found = [session for session, last in list(self._there.items()) if now - last >= after]
        for session in found:
            del self._there[session]
        return found


_sessions = Sessions()


def seen() -> None:
    """Record this session. Each run of the script calls this."""
    context = get_script_run_ctx()
    if context is not None:
        _sessions.seen(context.session_id)
        _watch_nothing(context.session_id)


def _watch_nothing(session: str) -> None:
    """Stop a session's file watchers where `server.fileWatcherType` is "none".

    Streamlit starts them all the same for a session that reconnects. It looks up the files of 2,400 modules,
    and answers nobody for 150 ms. See docs/streamlit.md.
    """
    if runtime.exists() and st.get_option("server.fileWatcherType") == "none":
        found = runtime.get_instance().get_app_session(session)
        if found is not None:
            found.disconnect_file_watchers()


async def reap() -> None:
    """Close sessions whose readers have been away for `server.disconnectedSessionTTL`; runs until cancelled.

    The time is a little shorter: a session that Streamlit itself has dropped can't be closed any more.
    """
    keep: float = st.get_option("server.disconnectedSessionTTL")
    often = min(OFTEN, max(SELDOM, keep / 4))
    while True:
        await asyncio.sleep(often)
        server = runtime.get_instance()
        classroom.unseen()
        gone = _sessions.gone(server.is_active_session, keep - 2 * often)
        if gone:
            close(gone, server.close_session)
            await asyncio.to_thread(free_memory.collect)


def close(sessions: Iterable[str], one: Callable[[str], None]) -> None:
    """Close each session by `one`; an error is logged, and the others are still closed."""
    for session in sessions:
        try:
            one(session)
        except Exception:
            log.exception("a session that is gone could not be closed")

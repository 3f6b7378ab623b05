"""The server's start and end, and its tasks in between."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import streamlit as st

from rnnviz.ui import warm_up
from rnnviz.ui.hosting import environment, startup_message
from rnnviz.ui.jobs import free_memory
from rnnviz.ui.room import rooms
from rnnviz.ui.server import descriptors, messages, open_browser, sessions


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Prepare the process, start the warm-up and the reaping of sessions; at the end, close rooms."""
    descriptors.raise_limit()
    messages.keep_addresses()
    free_memory.keep_little()
    threading.Thread(target=warm_up.up, name="rnnviz-warm", daemon=True).start()
    beside = [asyncio.create_task(sessions.reap())]
    if open_browser.wanted():
        beside.append(asyncio.create_task(open_browser.open_browser()))
    if environment.hosted():
        startup_message.greet()
        _close_rooms_when_stopped()
    with _visitors():
        yield {}
    rooms.close_all()
    for task in beside:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _close_rooms_when_stopped() -> None:
    """End phones' streams as soon as a signal stops the process. The server waits for open responses, without
    a timeout, before the end of `lifespan`; phones' streams would never end.
    """
    loop = asyncio.get_running_loop()

    def stop(before: Any, number: int, frame: Any) -> None:
        loop.call_soon_threadsafe(rooms.close_all)
        before(number, frame)

    with contextlib.suppress(ValueError):  # outside the main thread, as in tests, Python allows no handler
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if callable(before):
                signal.signal(number, partial(stop, before))


def _visitors() -> contextlib.AbstractContextManager[None]:
    if not environment.hosted():
        return contextlib.nullcontext()
    from rnnviz.training import visitors  # here, as it takes 0.2 s and an app that isn't hosted needs none

    return visitors.served()

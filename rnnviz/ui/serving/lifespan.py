"""The server's start and end, and its tasks in between."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st

from rnnviz.ui.jobs import free_memory
from rnnviz.ui.serving import descriptors, messages, open_browser, sharing, warm_up
from rnnviz.ui.serving.room import classroom

OFTEN = 10.0  # seconds between two looks whether the lecture has left its step


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Prepare the process, start the warm-up, and with `rnnviz host` the room; at the end, close it."""
    descriptors.raise_limit()
    messages.keep_addresses()
    free_memory.keep_little()
    threading.Thread(target=warm_up.up, name="rnnviz-warm", daemon=True).start()
    beside = [asyncio.create_task(_close_left_question())]
    if open_browser.wanted():
        beside.append(asyncio.create_task(open_browser.open_browser()))
    if classroom.at_start is not None:
        beside.append(asyncio.create_task(asyncio.to_thread(sharing.open_at_start)))
    yield {}
    classroom.close()
    for task in beside:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _close_left_question() -> None:
    while True:
        await asyncio.sleep(OFTEN)
        classroom.unseen()

"""What goes on beside the pages as long as the server runs."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st

from rnnviz.ui import warm
from rnnviz.ui.hosting import greeting, setting
from rnnviz.ui.jobs import memory
from rnnviz.ui.room import rooms
from rnnviz.ui.server import descriptors, opening, sessions


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Import what the first page needs while the browser is still opening; see to those who leave."""
    descriptors.raise_limit()
    memory.keep_little()
    threading.Thread(target=warm.up, name="rnnviz-warm", daemon=True).start()
    beside = [asyncio.create_task(sessions.reap())]
    if opening.wanted():
        beside.append(asyncio.create_task(opening.open_browser()))
    if setting.hosted():
        greeting.greet()
    with _visitors():
        yield {}
    rooms.close_all()
    for task in beside:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _visitors() -> contextlib.AbstractContextManager[None]:
    if not setting.hosted():
        return contextlib.nullcontext()
    from rnnviz.runs import visitors  # a fifth of a second, which one's own first page needn't wait for

    return visitors.served()

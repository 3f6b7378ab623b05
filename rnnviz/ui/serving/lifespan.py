"""The server's start and end, and its tasks in between; what Streamlit 1.67 lacks for them."""

import asyncio
import contextlib
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from rnnviz.ui.jobs import store
from rnnviz.ui.serving import sharing, warm_up
from rnnviz.ui.serving.room import classroom

# The port answers as soon as lifespan's start has ended, which these 10 seconds outlast by far.
MAX_CONNECT_TRIES = 200
CONNECT_PAUSE_S = 0.05


def opens_browser() -> bool:
    """Whether to open a browser: not for a headless server. Streamlit opens one for a script, not for an
    `st.App`.
    """
    return not st.get_option("server.headless")


async def open_browser() -> None:
    """Open the app's first page in this computer's browser as soon as its port accepts connections."""
    address, port = st.get_option("server.address") or "localhost", st.get_option("server.port")
    for _ in range(MAX_CONNECT_TRIES):
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(address, port)
            writer.close()
            # In a thread: starting a browser takes up to seconds, in which the event loop must answer it.
            path = (st.get_option("server.baseUrlPath") or "").strip("/")
            scheme = "https" if st.get_option("server.sslCertFile") else "http"
            await asyncio.to_thread(webbrowser.open, f"{scheme}://{address}:{port}/{path}")
            return
        await asyncio.sleep(CONNECT_PAUSE_S)


class AddressKeepingQueue(ForwardMsgQueue):
    """A session's queue of messages to its browser, a workaround.

    When the script reruns, Streamlit's queue drops the messages of the last run. In 1.67 it drops the
    upload's address (`file_urls_response`) too, for which the browser then waits for ever. This one keeps it.
    """

    def clear(
        self, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        before = self._queue
        super().clear(retain_lifecycle_msgs, fragment_ids_this_run)
        if retain_lifecycle_msgs:
            # By identity: comparing messages by value would compare whole payloads.
            remaining = {id(message) for message in self._queue}
            self._queue += [old for old in before if _is_address(old) and id(old) not in remaining]


def install_queue() -> None:
    """Replace Streamlit's queue for all sessions that begin from now on."""
    # AppSession.__init__ looks the name up in its module, so sessions made later get this class (Streamlit
    # 1.67).
    app_session.ForwardMsgQueue = AddressKeepingQueue  # type: ignore[attr-defined]


def _is_address(message: ForwardMsg) -> bool:
    return message.WhichOneof("type") == "file_urls_response"


MAX_OPEN_FILES = 10_240
"""The limit of open files and connections to ask for: each phone of a class keeps one or two open. macOS
refuses more, even if it reports no limit.
"""


def raise_open_file_limit() -> None:
    """Raise the soft limit to the hard one, at most to MAX_OPEN_FILES; many systems begin at 256."""
    try:
        import resource
    except ImportError:  # Windows lacks the module and the limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    new_limit = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(MAX_OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < new_limit:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (new_limit, hard))


STAGE_CHECK_S = 10.0  # between two checks whether the lecture has left its step


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Prepare the process, start the warm-up, and with `rnnviz host` the room; at the end, close it."""
    # All before the first browser connects: Starlette lets none in until `yield`.
    raise_open_file_limit()
    install_queue()
    store.keep_little_memory()
    await asyncio.to_thread(warm_up.prepare_first_picture)
    threading.Thread(target=warm_up.warm_up, name="rnnviz-warm", daemon=True).start()
    tasks = [asyncio.create_task(_close_abandoned_questions())]
    if opens_browser():
        tasks.append(asyncio.create_task(open_browser()))
    if classroom.startup_options is not None:
        tasks.append(asyncio.create_task(asyncio.to_thread(sharing.open_at_start)))
    yield {}
    # The room first: its phones hear that it is closed while the event loop still runs.
    classroom.close()
    for task in tasks:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _close_abandoned_questions() -> None:
    while True:
        await asyncio.sleep(STAGE_CHECK_S)
        classroom.close_abandoned_question()

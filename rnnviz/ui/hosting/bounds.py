"""How much visitors have uploaded: the server holds it, whether any page looks at it or not, and for a while
after a tab was closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rnnviz.ui.hosting import allowed, person, traffic
from rnnviz.ui.hosting.places import TABS

FRAME = 4_096
"""Bytes around a file in the request that brings it."""

_held: dict[str, dict[str, int]] = {}  # bytes of uploads, by session and file
_whose: dict[str, str] = {}  # the visitor of each of these sessions


class Bounds:
    """The middleware, inside the door: the lecturer passes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        changes = scope["type"] == "http" and scope["method"] in ("PUT", "DELETE")
        upload = traffic.upload_of(scope["path"]) if changes else None
        if upload is None or person.of(scope["headers"]).lecturer:
            await self._app(scope, receive, send)
        else:
            await self._upload(*upload, scope, receive, send)

    async def _upload(self, session: str, file: str, scope: Scope, receive: Receive, send: Send) -> None:
        if not _there(session):  # Streamlit says so
            await self._app(scope, receive, send)
            return
        held, _whose[session] = _held.setdefault(session, {}), person.of(scope["headers"]).id
        before, puts, status = held.get(file), scope["method"] == "PUT", 0
        if puts:
            size = length(scope)
            if size is None or refused(held, file, size) or crowded(session, file, size):
                most = allowed.text_bytes() // 1_000_000
                text = f"A visitor's text has at most {most} MB. If it has less, remove others first.\n"
                await PlainTextResponse(text, 411 if size is None else 413)(scope, receive, send)
                return
            held[file] = size  # at once: others may be on their way

        async def tell(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, tell)
        finally:  # where a browser is cut off, there is no answer
            if puts != (200 <= status < 300):
                held.pop(file, None)  # put in vain, or removed
                if puts and before is not None:
                    held[file] = before


def _there(session: str) -> bool:
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def length(scope: Scope) -> int | None:
    """The bytes that a request says it brings, without what is around a file; None if it doesn't say."""
    said = Headers(scope=scope).get("content-length", "")
    return max(0, int(said) - FRAME) if said.isascii() and said.isdigit() and len(said) < 16 else None


def refused(held: Mapping[str, int], file: str, size: int) -> bool:
    """Whether a `file` of that `size` is too much, beside those that are `held`.

    >>> refused({}, "a", allowed.text_bytes()), refused({}, "a", allowed.text_bytes() + 1)
    (False, True)
    >>> refused({"a": allowed.HELD_BYTES}, "a", 1), refused({"a": allowed.HELD_BYTES}, "b", 1)
    (False, True)
    """
    others = [bytes for name, bytes in held.items() if name != file]
    full = len(others) >= allowed.HELD_FILES or sum(others) + size > allowed.HELD_BYTES
    return full or size > allowed.text_bytes()


def crowded(session: str, file: str, size: int) -> bool:
    """Whether a `file` of that `size` is too much beside those of the visitor's other tabs, perhaps closed by
    now, or of all visitors.
    """
    sums = {one: sum(files.values()) for one, files in list(_held.items())}
    sums[session] += size - _held[session].get(file, 0)
    theirs = sum(total for one, total in sums.items() if _whose.get(one) == _whose.get(session))
    return theirs > TABS * allowed.HELD_BYTES or sum(sums.values()) > allowed.ALL_BYTES


def holding() -> list[str]:
    """The sessions that have uploaded something, whether their pages have ever run or not."""
    return list(_held)


def drop(file: str) -> None:
    """This session's page has done with an upload: the server lets go of it, and it counts no more."""
    context = get_script_run_ctx()
    if context is not None and runtime.exists():
        files: Any = runtime.get_instance().uploaded_file_mgr  # its protocol names no removal of one file
        files.remove_file(context.session_id, file)
        _held.get(context.session_id, {}).pop(file, None)


def drop_all() -> None:
    """The same of all uploads of this session."""
    context = get_script_run_ctx()
    if context is not None and runtime.exists():
        runtime.get_instance().uploaded_file_mgr.remove_session_files(context.session_id)
        forget([context.session_id])


def forget(sessions: Iterable[str]) -> None:
    """These sessions are over, and what they had uploaded is gone."""
    for session in sessions:
        _held.pop(session, None)
        _whose.pop(session, None)

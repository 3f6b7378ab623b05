"""How much a visitor's session has uploaded: the server holds it, whether any page looks at it or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime

from rnnviz.ui.hosting import allowed, person, traffic

FRAME = 4_096
"""Bytes around a file in the request that brings it."""

_held: dict[str, dict[str, int]] = {}  # bytes of uploads, by session and file


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
        held = _held.setdefault(session, {})
        before, puts = held.get(file), scope["method"] == "PUT"
        if puts:
            size = length(scope)
            if size is None or refused(held, file, size):
                text = f"A visitor's texts have at most {allowed.MEGABYTES} MB. Remove others first.\n"
                await PlainTextResponse(text, 411 if size is None else 413)(scope, receive, send)
                return
            held[file] = size  # at once: others may be on their way

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start" and puts != (message["status"] < 300):
                held.pop(file, None)  # put in vain, or removed
                if puts and before is not None:
                    held[file] = before
            await send(message)

        await self._app(scope, receive, tell)


def _there(session: str) -> bool:
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def length(scope: Scope) -> int | None:
    """The bytes that a request says it brings, without what is around a file; None if it doesn't say."""
    said = Headers(scope=scope).get("content-length", "")
    return max(0, int(said) - FRAME) if said.isascii() and said.isdigit() and len(said) < 16 else None


def refused(held: Mapping[str, int], file: str, size: int) -> bool:
    """Whether a `file` of that `size` is too much, beside those that are `held`.

    >>> refused({}, "a", allowed.BYTES), refused({}, "a", allowed.BYTES + 1)
    (False, True)
    >>> refused({"a": allowed.BYTES}, "a", 1), refused({"a": allowed.HELD_BYTES}, "b", 1)
    (False, True)
    """
    others = [bytes for name, bytes in held.items() if name != file]
    return (
        size > allowed.BYTES or len(others) >= allowed.HELD_FILES or sum(others) + size > allowed.HELD_BYTES
    )


def forget(sessions: Iterable[str]) -> None:
    """These sessions are over, and what they had uploaded is gone."""
    for session in sessions:
        _held.pop(session, None)

"""What comes from a visitor's browser: bounded, for their own session, and nothing that touches others'."""

import re

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Send
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg

from rnnviz.ui.hosting import permissions, uploads, user

AROUND = 4_096
"""Bytes around a file in the request that brings it."""

USUAL = {"rerun_script", "stop_script", "file_urls_request", "app_heartbeat", "backend_operation_request"}
"""What a page sends. The rest empties caches that all sessions share, or asks for the server's git state."""

_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/(.*)", re.DOTALL)
_NO_BYTES = 1003  # RFC 6455, 7.4.1


def upload_of(path: str) -> tuple[str, str] | None:
    """The session and the file that an upload's path names; None for any other path.

    >>> upload_of("/hall/_stcore/upload_file/s1/f1"), upload_of("/learn")
    (('s1', 'f1'), None)
    """
    found = _UPLOAD.search(path)
    return (found[1], found[2]) if found else None


def owner(session: str) -> str | None:
    """What the door said of the connection that a session has now; None without one."""
    client = runtime.get_instance().get_client(session)
    if client is None or client.client_context is None:
        return None
    return next((value for name, value in client.client_context.headers if name == user.HEADER), None)


def most(path: str) -> int:
    """Bytes that a visitor may send at a time to a path: a text, if the session's others leave room for it. A
    message over a WebSocket may have `server.maxMessageSize`.
    """
    upload = upload_of(path)
    room = permissions.held_bytes() - (uploads.held(upload[0]) if upload else 0)
    return min(permissions.text_bytes(), max(0, room)) + AROUND


def bounded(receive: Receive, length: str | None, most: int) -> Receive:
    """`receive`, for a request's body of at most `most` bytes; `length` is what its header announces.

    Raises HTTPException, at once or on the way.
    """
    if length is not None and (not (length.isascii() and length.isdigit()) or int(length[:20]) > most):
        raise HTTPException(413)
    came = 0

    async def receiving() -> Message:
        nonlocal came
        message = await receive()
        came += len(message.get("body", b""))
        if came > most:
            raise HTTPException(413)
        return message

    return receiving


def usual(receive: Receive, send: Send) -> Receive:
    """`receive`, for a visitor's WebSocket: messages that are not USUAL are dropped, and text ends it."""

    async def receiving() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            data = message.get("bytes")
            if data is None:
                await send({"type": "websocket.close", "code": _NO_BYTES, "reason": ""})
                return {"type": "websocket.disconnect", "code": _NO_BYTES, "reason": ""}
            if _kind(data) in USUAL:
                return message

    return receiving


def _kind(data: bytes) -> str | None:
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except Exception:  # the protobuf library's own, which Streamlit answers
        return "rerun_script"
    kind: str | None = message.WhichOneof("type")
    return kind

"""Limits on a visitor's requests: bounded bodies, uploads to the own session, and no message that affects
other sessions.
"""

import re

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Send
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg

from rnnviz.ui.hosting import permissions, uploads, user

AROUND = 4_096
"""Bytes of a request around the uploaded file: multipart headers and boundaries."""

USUAL = {"rerun_script", "stop_script", "file_urls_request", "app_heartbeat", "backend_operation_request"}
"""Messages that a page sends. Streamlit's others empty shared caches, or ask for the server's git state."""

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
    """The user's header of a session's current connection; None without a connection."""
    client = runtime.get_instance().get_client(session)
    if client is None or client.client_context is None:
        return None
    return next((value for name, value in client.client_context.headers if name == user.HEADER), None)


def most(path: str) -> int:
    """Bytes of a visitor's request to a path, at most: a text, as far as the session's uploads leave room.

    For WebSocket messages, Streamlit's `server.maxMessageSize` is the limit.
    """
    upload = upload_of(path)
    room = permissions.held_bytes() - (uploads.held(upload[0]) if upload else 0)
    return min(permissions.text_bytes(), max(0, room)) + AROUND


def bounded(receive: Receive, length: str | None, most: int) -> Receive:
    """`receive`, for a request's body of at most `most` bytes; `length` is its Content-Length header.

    Raises HTTPException (413) at once for a longer or invalid `length`. The result raises it for a body that
    turns out longer: a header may be missing, or wrong.
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
    """`receive`, for a visitor's WebSocket: it drops messages that are not USUAL; a text message ends it."""

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
    except Exception:  # no protobuf message: it passes as a usual one, and Streamlit answers with its error
        return "rerun_script"
    kind: str | None = message.WhichOneof("type")
    return kind

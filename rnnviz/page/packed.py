"""Files as they are sent: compressed once, recognised by their digest, in pieces."""

import gzip
import hashlib
import mimetypes
from asyncio import AbstractEventLoop, Semaphore, get_running_loop, sleep
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import lru_cache

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

PIECE = 16 << 10
"""Bytes sent at a time: a connection that reads slowly, or not at all, holds no more of a file in memory."""

AT_ONCE = 300
"""Files on their way at a time; others wait, and hold nothing meanwhile."""

DAY = 86_400


@dataclass(frozen=True)
class Packed:
    """A file: gzip-compressed as sent, its uncompressed size in bytes, its digest and its MIME type."""

    data: bytes
    size: int
    digest: str
    kind: str

    def answer(self, request: Request) -> Response:
        """The response with the file; 304 if the browser has it already.

        An address that names the digest (`?v=`) never means another file, so the browser keeps it.
        """
        settled = request.query_params.get("v") == self.digest
        etag = f'"{self.digest}"'
        headers = {
            "ETag": etag,
            "Cache-Control": f"public, max-age={365 * DAY}, immutable" if settled else "no-cache",
            "Vary": "Accept-Encoding, Accept-Language",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }
        if etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers |= {"Content-Encoding": "gzip", "Content-Length": str(len(self.data))}
            body = self.data
        else:
            headers["Content-Length"] = str(self.size)
            body = _unpacked(self.data)
        return StreamingResponse(_pieces(body), media_type=self.kind, headers=headers)


async def _pieces(data: bytes) -> AsyncIterator[memoryview]:
    async with _turn():
        for start in range(0, len(data), PIECE):
            yield memoryview(data)[start : start + PIECE]
            await sleep(0)  # where the connection is lost, the server hears of it now


@lru_cache(maxsize=2)
def _unpacked(data: bytes) -> bytes:
    """Once for all who take no gzip, which no browser does."""
    return gzip.decompress(data)


@lru_cache(maxsize=4)
def _turns(_loop: AbstractEventLoop) -> Semaphore:
    return Semaphore(AT_ONCE)


def _turn() -> Semaphore:
    """A place among the files on their way: of this server, as each has an event loop."""
    return _turns(get_running_loop())


def pack(content: bytes, name: str) -> Packed:
    """A file's content, packed; its MIME type is guessed by its name.

    >>> pack(b"<p>" * 100, "a.html").kind
    'text/html'
    """
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    digest = hashlib.sha256(content).hexdigest()[:20]
    return Packed(gzip.compress(content, 6, mtime=0), len(content), digest, kind)

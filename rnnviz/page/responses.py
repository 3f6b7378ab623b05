"""What the servers of pages share: the language, a page's headers, and a file as it is sent."""

import base64
import gzip
import hashlib
import mimetypes
import re
from asyncio import AbstractEventLoop, Semaphore, get_running_loop, sleep
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import cache, lru_cache

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response, StreamingResponse

from rnnviz import sentences


def request_language(request: HTTPConnection) -> str:
    """The language of sentences.LANGUAGES that the address asks for with `lang`; else the browser's first."""
    parameter = request.query_params.get("lang")
    return (
        sentences.match_language(parameter)
        if parameter
        else preferred_language(request.headers.get("accept-language", ""))
    )


def preferred_language(header: str) -> str:
    """The first language of an Accept-Language header that the app has, else the default. Quality values are
    not read: browsers write the preferred language first.

    >>> [preferred_language(header) for header in ("fr, zh-CN;q=0.9, en;q=0.8", "zh_TW", "de", ";q=x")]
    ['zh', 'zh', 'en', 'en']
    """
    names = (re.split("[-_;]", part.strip())[0].lower() for part in header[:1000].split(","))
    return next((name for name in names if name in sentences.LANGUAGES), sentences.DEFAULT)


@cache
def page_headers(**inline: str) -> dict[str, str]:
    """The headers of a page in one file. Its policy allows the `inline` style and script by their hashes,
    and requests to, and frames from, its own origin alone.
    """
    allowed = "".join(
        f"{kind}-src 'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'; "
        for kind, text in inline.items()
    )
    return {
        "Content-Security-Policy": (
            f"default-src 'none'; {allowed}img-src data:; connect-src 'self'; frame-src 'self'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }


CHUNK_BYTES = 16 << 10
"""Bytes sent at a time: a connection that reads slowly, or not at all, holds no more of a file in memory."""

MAX_FILES_AT_ONCE = 300
"""Files on their way at a time; others wait, and hold nothing meanwhile."""

DAY_S = 86_400


@dataclass(frozen=True)
class PackedFile:
    """A file: gzip-compressed as sent, its uncompressed size in bytes, its digest and its MIME type.

    permanent   whether its address never means another content, so that a browser need not even ask
    """

    data: bytes
    size: int
    digest: str
    kind: str
    permanent: bool = False

    def answer(self, request: Request) -> Response:
        """The response with the file; 304 if the browser has it already."""
        etag = f'"{self.digest}"'
        headers = {
            "ETag": etag,
            "Cache-Control": f"public, max-age={365 * DAY_S}, immutable" if self.permanent else "no-cache",
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
        return StreamingResponse(_chunks(body), media_type=self.kind, headers=headers)


async def _chunks(data: bytes) -> AsyncIterator[memoryview]:
    # The slot is taken when sending begins, not when the response is made: until then it costs a few bytes.
    async with _file_slot():
        for start in range(0, len(data), CHUNK_BYTES):
            yield memoryview(data)[start : start + CHUNK_BYTES]
            await sleep(0)  # where the connection is lost, the server hears of it now


@lru_cache(maxsize=2)
def _unpacked(data: bytes) -> bytes:
    """Once for all who take no gzip, which no browser does."""
    return gzip.decompress(data)


# A semaphore belongs to the event loop on which it is first awaited. The app's server and the room's listener
# have one each; more are those of servers that have ended.
@lru_cache(maxsize=4)
def _loop_semaphore(_loop: AbstractEventLoop) -> Semaphore:
    return Semaphore(MAX_FILES_AT_ONCE)


def _file_slot() -> Semaphore:
    """A place among the files on their way: of this server, as each has an event loop."""
    return _loop_semaphore(get_running_loop())


def pack_file(content: bytes, name: str, *, permanent: bool = False) -> PackedFile:
    """A file's content, packed; its MIME type is guessed by its name.

    >>> pack_file(b"<p>" * 100, "a.html").kind
    'text/html'
    """
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    # 80 bits of it: no two files will ever share them by chance.
    digest = hashlib.sha256(content).hexdigest()[:20]
    return PackedFile(gzip.compress(content, 6, mtime=0), len(content), digest, kind, permanent)

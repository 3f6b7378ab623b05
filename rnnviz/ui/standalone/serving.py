"""The routes of networks' pages. A page is built at its first request."""

import asyncio
import gzip
import hashlib
import io
import logging
import threading
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from rnnviz import i18n
from rnnviz.errors import RnnvizError
from rnnviz.networks import checkpoint
from rnnviz.ui.hosting import error_pages
from rnnviz.ui.standalone import CELLS

log = logging.getLogger("rnnviz")

KEPT = 20
"""Cached pages, of some 3 MB each: the shipped networks' in each language, and a few more."""

PIECE = 64 << 10  # bytes sent at a time, so that a slow connection holds no whole page in memory
_one_at_a_time = threading.Lock()  # lru_cache would let two threads build the same page


def address(name: str, kind: str) -> str:
    """The path of a model's page, in the session's language; "" if the model can have none.

    name  the model's file name without the suffix
    kind  its cell, or "ngram"

    >>> address("timemachine-gru", "gru"), address("timemachine-6gram", "ngram")
    ('/page/timemachine-gru.html?lang=en', '')
    """
    return f"/page/{quote(name, safe='')}.html?lang={i18n.language()}" if kind in CELLS else ""


def routes() -> list[Route]:
    """The route of networks' pages."""
    turn = asyncio.Lock()  # requests wait here, on the event loop: in `made` each would take a thread

    async def page(request: Request) -> Response:
        name, language = request.path_params["name"], error_pages.language(request)
        info = await run_in_threadpool(_found, name)
        if info is not None:
            try:
                async with turn:
                    found = await run_in_threadpool(made, info, language)
                return answer(request, found)
            except (RnnvizError, OSError):  # logged alone: the message names folders, no visitor's business
                log.exception("the page of a network could not be made")
        return PlainTextResponse(
            f"There is no network called {name[:100]!r} here that a page can show.\n", status_code=404
        )

    return [Route("/page/{name}.html", page)]


def _found(name: str) -> checkpoint.ModelInfo | None:
    listed = checkpoint.available()[0]
    return next((info for info in listed if info.path.stem == name and info.kind in CELLS), None)


@dataclass(frozen=True)
class Made:
    """A page: gzip-compressed as sent, its uncompressed size in bytes, and its ETag."""

    packed: bytes
    size: int
    etag: str


def answer(request: Request, page: Made) -> Response:
    """The response with a page; 304 if the browser has it already."""
    headers = {
        "ETag": page.etag,
        "Cache-Control": "no-cache",  # the browser revalidates by the ETag
        "Vary": "Accept-Encoding, Accept-Language",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    if page.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    body: io.BufferedIOBase = io.BytesIO(page.packed)
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers |= {"Content-Encoding": "gzip", "Content-Length": str(len(page.packed))}
    else:
        body, headers["Content-Length"] = gzip.GzipFile(fileobj=body), str(page.size)
    # Without gzip, each piece is decompressed when it is sent.
    return StreamingResponse(iter(partial(body.read, PIECE), b""), media_type="text/html", headers=headers)


def made(info: checkpoint.ModelInfo, language: str) -> Made:
    """The page of a network, cached until its file changes. Raises as `build.page` does, and OSError."""
    status = info.path.stat()
    with _one_at_a_time, i18n.speaking(language):
        return _built(info.path, language, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=KEPT)
def _built(path: Path, _language: str, _time: int, _bytes: int) -> Made:
    from rnnviz.ui.standalone import build  # here, because only a shared page needs its imports

    info = checkpoint.read_info(path)
    page = build.page(info, checkpoint.yardstick(info.card)).encode()
    packed = gzip.compress(page, 6, mtime=0)
    return Made(packed, len(page), f'"{hashlib.sha256(page).hexdigest()[:20]}"')

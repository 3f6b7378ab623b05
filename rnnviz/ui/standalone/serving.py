"""The page of each network, at an address of the app: built when it is first asked for."""

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
"""Pages, of some 3 MB each: those of the shipped networks in each language, and a few."""

PIECE = 64 << 10  # bytes that a slow connection keeps waiting at a time
_one_at_a_time = threading.Lock()


def address(name: str, kind: str) -> str:
    """The path of a model's page, in the session's language, "" if it can have none.

    name  its file's, without the suffix
    kind  its cell, or "ngram"

    >>> address("timemachine-gru", "gru"), address("timemachine-6gram", "ngram")
    ('/page/timemachine-gru.html?lang=en', '')
    """
    return f"/page/{quote(name, safe='')}.html?lang={i18n.language()}" if kind in CELLS else ""


def routes() -> list[Route]:
    """What serves the pages."""
    turn = asyncio.Lock()  # those who wait while a page is built take no thread from others

    async def page(request: Request) -> Response:
        name, language = request.path_params["name"], error_pages.language(request)
        info = await run_in_threadpool(_found, name)
        if info is not None:
            try:
                async with turn:
                    found = await run_in_threadpool(made, info, language)
                return answer(request, found)
            except (RnnvizError, OSError):  # it names folders, which are not for everybody
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
    """A page as it is sent, compressed; its size before that, and what tells it from others."""

    packed: bytes
    size: int
    etag: str


def answer(request: Request, page: Made) -> Response:
    """A page, or nothing where the browser has it already."""
    headers = {
        "ETag": page.etag,
        "Cache-Control": "no-cache",  # a browser asks whether it has changed
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
    # A piece at a time: slow connections hold no whole pages.
    return StreamingResponse(iter(partial(body.read, PIECE), b""), media_type="text/html", headers=headers)


def made(info: checkpoint.ModelInfo, language: str) -> Made:
    """The page of a network, kept. Raises what `build.page` raises."""
    status = info.path.stat()
    with _one_at_a_time, i18n.speaking(language):
        return _built(info.path, language, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=KEPT)
def _built(path: Path, _language: str, _time: int, _bytes: int) -> Made:
    from rnnviz.ui.standalone import build  # what it needs is not needed by those who share nothing

    info = checkpoint.read_info(path)
    page = build.page(info, build.yardstick(info)).encode()
    packed = gzip.compress(page, 6, mtime=0)
    return Made(packed, len(page), f'"{hashlib.sha256(page).hexdigest()[:20]}"')

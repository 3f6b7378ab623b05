"""The page of each network, at an address of the app: built when it is first asked for."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from rnnviz.errors import RnnvizError
from rnnviz.networks import checkpoint
from rnnviz.ui import i18n
from rnnviz.ui.hosting import notice
from rnnviz.ui.standalone import CELLS

KEPT = 4  # pages, of some 3 MB each
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
    return [Route("/page/{name}.html", _page)]


def _page(request: Request) -> Response:  # on a thread: reading files and building keep nobody waiting
    name = request.path_params["name"]
    for info in checkpoint.available()[0]:
        if info.path.stem == name and info.kind in CELLS:
            break
    else:
        return PlainTextResponse(
            f"There is no network called {name[:100]!r} here that a page can show.\n", status_code=404
        )
    try:
        return answer(request, made(info, notice.language(request)))
    except RnnvizError as error:
        return PlainTextResponse(f"{error}\n", status_code=404)


@dataclass(frozen=True)
class Made:
    """A page as it is sent, compressed, and what tells it from others."""

    packed: bytes
    etag: str


def answer(request: Request, page: Made) -> Response:
    """A page, or nothing where the browser has it already."""
    headers = {
        "ETag": page.etag,
        "Cache-Control": "no-cache",  # a browser asks whether it has changed
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    if page.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    body = page.packed
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        body = gzip.decompress(body)
    headers["Content-Length"] = str(len(body))
    return StreamingResponse(_pieces(body), media_type="text/html", headers=headers)


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(body), PIECE):
        yield body[at : at + PIECE]


def made(info: checkpoint.ModelInfo, language: str) -> Made:
    """The page of a network, kept. Raises what `build.page` raises."""
    status = info.path.stat()
    with _one_at_a_time, i18n.speaking(language):
        return _built(info.path, status.st_mtime_ns, status.st_size, language)


@lru_cache(maxsize=KEPT)
def _built(path: Path, changed: int, size: int, language: str) -> Made:
    from rnnviz.ui.standalone import build  # what it needs is not needed by those who share nothing

    info = checkpoint.read_info(path)
    page = build.page(info, build.yardstick(info)).encode()
    return Made(gzip.compress(page, 6, mtime=0), f'"{hashlib.sha256(page).hexdigest()[:20]}"')

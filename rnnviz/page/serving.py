"""The routes of networks' pages. A page is built at its first request."""

import asyncio
import logging
import threading
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from rnnviz import i18n
from rnnviz.errors import RnnvizError
from rnnviz.networks import checkpoint
from rnnviz.page import CELLS
from rnnviz.page.responses import PackedFile, pack_file, request_language

log = logging.getLogger("rnnviz")

MAX_CACHED_PAGES = 20
"""Cached pages, of some 3 MB each: the shipped networks' in each language, and a few more."""

# lru_cache alone would let two threads build the same page, at some seconds of a core each.
_build_lock = threading.Lock()


def page_address(name: str, kind: str) -> str:
    """The path of a model's page, in the session's language; "" if the model can have none.

    name  the model's file name without the suffix
    kind  its cell, or "ngram"

    >>> page_address("timemachine-gru", "gru"), page_address("timemachine-6gram", "ngram")
    ('/page/timemachine-gru.html?lang=en', '')
    """
    return f"/page/{quote(name, safe='')}.html?lang={i18n.language()}" if kind in CELLS else ""


def routes() -> list[Route]:
    """The route of networks' pages."""
    # Requests wait here, on the event loop. In `network_page` each would hold one of Starlette's 40 threads
    # until the pages before it are built, and then nothing else of the app that needs a thread is answered.
    turn = asyncio.Lock()

    async def page(request: Request) -> Response:
        name = request.path_params["name"]
        info = await run_in_threadpool(_find_network, name)
        if info is not None:
            try:
                async with turn:
                    file = await run_in_threadpool(network_page, info, request_language(request))
                return file.answer(request)
            except (RnnvizError, OSError):
                log.exception("the page of a network could not be made")
        return PlainTextResponse(
            f"There is no network called {name[:100]!r} here that a page can show.\n", status_code=404
        )

    return [Route("/page/{name}.html", page)]


def _find_network(name: str) -> checkpoint.ModelInfo | None:
    listed = checkpoint.available()[0]
    return next((info for info in listed if info.path.stem == name and info.kind in CELLS), None)


def network_page(info: checkpoint.ModelInfo, language: str) -> PackedFile:
    """The page of a network, cached until its file changes. Raises as `single_file` does, and OSError."""
    # Time and size are part of the cache's key: a model file that is replaced has another page.
    status = info.path.stat()
    with _build_lock, i18n.speaking(language):
        return _build_page(info.path, language, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=MAX_CACHED_PAGES)
def _build_page(path: Path, _language: str, _time: int, _bytes: int) -> PackedFile:
    from rnnviz.page import build  # here, because only a shared page needs its imports

    info = checkpoint.read_info(path)
    return pack_file(build.single_file(info).encode(), f"{path.stem}.html")

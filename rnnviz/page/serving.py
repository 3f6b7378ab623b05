"""The page as servers give it away: one network in one file, built at its first request; a room's folder."""

import asyncio
import logging
import threading
from collections.abc import Iterable, Mapping
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
from rnnviz.page import CELLS, folder
from rnnviz.page.responses import PackedFile, pack_file, request_language
from rnnviz.sentences import DEFAULT

log = logging.getLogger("rnnviz")

MAX_CACHED_PAGES = 24
"""Cached pages of one file, of some 2 MB each: the shipped networks' in each language, and a few more."""

MAX_CACHED_FOLDERS = 2
"""Cached folders, of some 3 MB with two networks: a room that is opened again has its page at once."""

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
    listed, name = checkpoint.available()[0], checkpoint.current_name(name)
    return next((info for info in listed if info.path.stem == name and info.kind in CELLS), None)


def network_page(info: checkpoint.ModelInfo, language: str) -> PackedFile:
    """The page of a network, cached until its file changes. Raises as `single_file` does, and OSError."""
    with _build_lock, i18n.speaking(language):
        return _build_page(_version(info), language)


def folder_page(infos: Iterable[checkpoint.ModelInfo], first: str) -> Mapping[str, PackedFile]:
    """The files of the page of these networks, by name, cached until a network's file changes. The page
    begins with the network `first`. Raises as `build.folder_files` does, and OSError.
    """
    # In no session's language: the page has both, and every phone turns to its own.
    with _build_lock, i18n.speaking(DEFAULT):
        return _build_folder(tuple(_version(info) for info in infos), first)


# Time and size are part of the caches' keys: a model file that is replaced has another page.
_Version = tuple[Path, int, int]


def _version(info: checkpoint.ModelInfo) -> _Version:
    status = info.path.stat()
    return info.path, status.st_mtime_ns, status.st_size


# The imports are here, because only a shared page needs them.
@lru_cache(maxsize=MAX_CACHED_PAGES)
def _build_page(version: _Version, _language: str) -> PackedFile:
    from rnnviz.page import build

    path = version[0]
    return pack_file(build.single_file(checkpoint.read_info(path)).encode(), f"{path.stem}.html")


@lru_cache(maxsize=MAX_CACHED_FOLDERS)
def _build_folder(versions: tuple[_Version, ...], first: str) -> Mapping[str, PackedFile]:
    from rnnviz.page import build

    infos = [checkpoint.read_info(path) for path, _time, _bytes in versions]
    return {
        name: pack_file(content, name, permanent=folder.has_digest(name))
        for name, content in build.folder_files(infos, first=first).items()
    }

"""The page of each network, at an address of the app: built when it is first asked for."""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from rnnviz.errors import RnnvizError
from rnnviz.networks import checkpoint
from rnnviz.ui import i18n

CELLS = ("mlp", "rnn", "gru", "lstm")
"""The networks that a page can show: what engine.js computes."""

KEPT = 4  # pages, of some 4 MB each
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
    name, asked = request.path_params["name"], request.query_params.get("lang")
    for info in checkpoint.available()[0]:
        if info.path.stem == name and info.kind in CELLS:
            break
    else:
        return PlainTextResponse(
            f"There is no network called {name[:100]!r} here that a page can show.\n", status_code=404
        )
    try:
        return HTMLResponse(_made(info, i18n.match(asked)))
    except RnnvizError as error:
        return PlainTextResponse(f"{error}\n", status_code=404)


def _made(info: checkpoint.ModelInfo, language: str) -> bytes:
    status = info.path.stat()
    with _one_at_a_time, i18n.speaking(language):
        return _built(info.path, status.st_mtime_ns, status.st_size, language)


@lru_cache(maxsize=KEPT)
def _built(path: Path, changed: int, size: int, language: str) -> bytes:
    from rnnviz.ui.standalone import build  # what it needs is not needed by those who share nothing

    info = checkpoint.read_info(path)
    return build.page(info, build.yardstick(info)).encode()

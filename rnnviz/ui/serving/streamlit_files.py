"""Streamlit's own scripts and style sheets, compressed once.

A first page fetches 2.5 MB of them. Streamlit sends them as they are, because its compression would work anew
at each request.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import file_util

from rnnviz.page.responses import PackedFile, pack_file

MAX_FILES = 400
"""Compressed files in memory, at most: all of Streamlit's, of some 6 MB."""


@cache
def streamlit_index() -> str:
    """Streamlit's own index."""
    return Path(file_util.get_static_dir(), "index.html").read_text(encoding="utf-8")


def element_scripts(elements: Iterable[str]) -> list[str]:
    """The addresses, from a page's, of the scripts that Streamlit fetches once it knows that a page has such
    elements: a round trip after its own start. Each name is that of a script without its digest.
    """
    folder, index = Path(file_util.get_static_dir(), "static", "js"), streamlit_index()
    listed: dict[str, None] = {}
    waiting = [path.name for element in elements for path in folder.glob(f"{element}.*.js")]
    while waiting:
        name = waiting.pop()
        if name not in listed and name not in index:
            listed[name] = None
            waiting += re.findall(r'(?:from|import)"\./([\w.-]+\.js)"', (folder / name).read_text("utf-8"))
    return [f"./static/js/{name}" for name in listed]


class CompressedFilesMiddleware:
    """The middleware that answers requests for Streamlit's scripts and style sheets."""

    def __init__(self, app: ASGIApp, base: str) -> None:
        self._app = app
        root = Path(file_util.get_static_dir())
        # Listed here, so that no path that a request makes up leads anywhere else.
        self._files: Mapping[str, Path] = {
            f"{base}/{path.relative_to(root).as_posix()}": path
            for kind in ("js", "css")
            for path in root.glob(f"static/{kind}/*.{kind}")
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = self._files.get(scope["path"]) if scope["type"] == "http" else None
        if path is None or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        file = await run_in_threadpool(_packed, path)
        await file.answer(Request(scope))(scope, receive, send)


@lru_cache(MAX_FILES)
def _packed(path: Path) -> PackedFile:
    # Its name bears a digest of its content.
    return pack_file(path.read_bytes(), path.name, permanent=True)

"""The app's parts for `st.App`: the script, routes (pages, views' files, sockets) and middleware."""

from pathlib import Path
from typing import Any

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from rnnviz.page import serving
from rnnviz.page.responses import request_language
from rnnviz.ui.browser import view_socket, views
from rnnviz.ui.serving import guard, process_threads, warm_up  # noqa: F401 (it prepares this process)
from rnnviz.ui.serving.first_picture import first_answer
from rnnviz.ui.serving.guard import AllowedHostsMiddleware
from rnnviz.ui.serving.lifespan import lifespan
from rnnviz.ui.serving.room import classroom
from rnnviz.ui.serving.streamlit_files import CompressedFilesMiddleware
from rnnviz.ui.shell import error_messages

PAGE_NAMES = ("explore", "perplexity", "inside", "train", "learn")  # the first has the app's own address


def app_parts(*, watched: bool | None = None) -> dict[str, Any]:
    """The arguments of `st.App`.

    `watched`: whether a developer edits files while the server runs; None: as Streamlit's file watcher says.
    Raises ConfigError for environment variables that make no sense.
    """
    guard.check_environment()
    base = f"/{(st.get_option('server.baseUrlPath') or '').strip('/')}".rstrip("/")
    if watched is None:
        watched = st.get_option("server.fileWatcherType") != "none"
    return {
        "script_path": Path(__file__).parents[1] / "script" / "main.py",
        "lifespan": lifespan,
        "routes": [
            # Before Streamlit's own routes, which would answer any path with its index, the first page.
            Route(f"{base}/{{page:page}}", _redirect_to_page),
            *(Route(f"{base}/{page}", _index) for page in ("", *PAGE_NAMES[1:])),
            *views.routes(settled=not watched),
            *view_socket.routes(),
            *serving.routes(),
            *classroom.routes(),
        ],
        # The first is the outermost: what it refuses never counts as a reader's message.
        "middleware": [
            Middleware(AllowedHostsMiddleware),
            Middleware(warm_up.LastMessageMiddleware),
            Middleware(CompressedFilesMiddleware, base=base),
        ],
        "on_script_error": error_messages.on_script_error,
    }


class _PageNameConvertor(Convertor[str]):
    """A page's name that is no address: the first page's, whose address is "/", and any name in capitals."""

    regex = f"(?!(?:{'|'.join(PAGE_NAMES[1:])})$)(?i:{'|'.join(PAGE_NAMES)})"

    def convert(self, value: str) -> str:
        return value.lower()

    def to_string(self, value: str) -> str:
        return value


# Starlette knows convertors by name for the whole process, and a path refers to them as {page:page}.
register_url_convertor("page", _PageNameConvertor())


async def _redirect_to_page(request: Request) -> RedirectResponse:
    """Redirect a page's name to the page's address, with its query. Streamlit first removes a trailing slash
    by a redirect of the same kind.
    """
    name = request.path_params["page"]
    place = "./" if name == PAGE_NAMES[0] else f"./{name}"
    return RedirectResponse(f"{place}?{request.url.query}" if request.url.query else place)


async def _index(request: Request) -> Response:
    """A page: Streamlit's index with the page's first picture."""
    name = request.scope["path"].rpartition("/")[2] or PAGE_NAMES[0]
    file = await run_in_threadpool(first_answer, name, request_language(request), request.query_params)
    return file.answer(request)

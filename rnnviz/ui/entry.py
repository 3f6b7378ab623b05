"""What the app is made of: pages, plotly.min.js, the views' files for the browser, and who may come in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from rnnviz.ui import process, trouble, warm  # noqa: F401 (process prepares this one)
from rnnviz.ui.browser import views
from rnnviz.ui.hosting import setting
from rnnviz.ui.pages.explore import direct
from rnnviz.ui.room import rooms
from rnnviz.ui.server.guard import Guard
from rnnviz.ui.server.lifespan import lifespan
from rnnviz.ui.standalone import serving


def parts(*, watched: bool | None = None) -> dict[str, Any]:
    """The arguments of `st.App`; `watched`: whether files are worked on while they are served, as Streamlit's
    own option says unless this does.
    """
    if watched is None:
        watched = st.get_option("server.fileWatcherType") != "none"
    return {
        "script_path": Path(__file__).parent / "script" / "main.py",
        "lifespan": lifespan,
        "routes": [
            Route("/explore", _first_page),
            Mount("/plotly", StaticFiles(directory=views.plotly())),
            *views.routes(settled=not watched),
            *direct.routes(),
            *serving.routes(),
            *rooms.routes(),
        ],
        "middleware": [Middleware(Guard), *_door(), Middleware(warm.Listening)],
        "on_script_error": trouble.on_script_error,
    }


async def _first_page(request: Request) -> RedirectResponse:
    """Explore has the app's own address; who writes its name there, like the other pages', is led to it."""
    return RedirectResponse(f"./?{request.url.query}" if request.url.query else "./")


def _door() -> list[Middleware]:
    if not setting.hosted():
        return []
    from rnnviz.ui.hosting.bounds import Bounds
    from rnnviz.ui.hosting.door import Door

    return [Middleware(Door, beside=(direct.ADDRESS,)), Middleware(Bounds)]

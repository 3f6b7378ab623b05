"""Where `streamlit run app.py` enters: the pages, plotly.min.js and the views' files for the browser."""

from importlib.util import find_spec
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from rnnviz.ui import process, trouble  # noqa: F401 (process prepares this one)
from rnnviz.ui.browser import views
from rnnviz.ui.room import rooms
from rnnviz.ui.server.guard import Guard
from rnnviz.ui.server.lifespan import lifespan
from rnnviz.ui.standalone import serving

plotly = find_spec("plotly")
if plotly is None or plotly.origin is None:
    raise SystemExit("rnnviz needs plotly: pip install -r requirements.txt")
app = st.App(
    "rnnviz/ui/script/main.py",
    lifespan=lifespan,
    routes=[
        Mount("/plotly", StaticFiles(directory=Path(plotly.origin).parent / "package_data")),
        *views.routes(),
        *serving.routes(),
        *rooms.routes(),
    ],
    middleware=[Middleware(Guard)],
    on_script_error=trouble.on_script_error,
)

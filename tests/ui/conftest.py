"""The app as Streamlit runs it, without a browser: rnnviz/ui/script/main.py in AppTest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from rnnviz.runs import api as runs
from rnnviz.training import speed
from rnnviz.ui.jobs import store
from tests.runs.made_runs import made

SCRIPT = Path(__file__).resolve().parents[2] / "rnnviz" / "ui" / "script" / "main.py"

Open = Callable[..., AppTest]


@pytest.fixture
def open_app(only_tiny_models: Path) -> Iterator[Open]:
    """Open the app on a page ("explore", "perplexity"), with a browser's locale and query parameters."""

    def opened(page: str = "explore", *, locale: str = "en-GB", **query: str) -> AppTest:
        app = AppTest.from_file(SCRIPT, default_timeout=120)
        app.context = {"locale": locale}
        for name, value in query.items():
            app.query_params[name] = value
        app._page_hash = calc_hash(page)  # switch_page knows files only, and our pages are functions
        return app.run()

    yield opened
    st.cache_resource.clear()


@pytest.fixture(autouse=True)
def _nothing_scored() -> Iterator[None]:
    """What one test scored is not known to the next."""
    store.shared().clear()
    yield
    store.shared().clear()


def turn(app: AppTest, page: str) -> AppTest:
    """Go to another page in the same session, as by a click in the sidebar: the address begins anew."""
    app._page_hash = calc_hash(page)
    app.query_params.clear()
    return app.run()


def everything(app: AppTest) -> str:
    """All words on the page, to say what must not be among them."""
    parts = []
    for kind in ("title", "header", "subheader", "markdown", "caption", "error", "warning", "info", "code"):
        parts += [str(element.value) for element in app.get(kind)]
    return "\n".join(parts)


@pytest.fixture
def started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, only_tiny_models: Path
) -> list[runs.Description]:
    """Runs have a folder of their own and no processes, as have kept models. Returns what was started."""
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))
    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [kept, only_tiny_models])
    monkeypatch.setattr(speed, "measured", lambda config, symbols, check: 20_000.0)
    monkeypatch.setattr("rnnviz.ui.pages.train.forecast.QUIET", 0.0)
    monkeypatch.setattr("rnnviz.ui.pages.train.forecast._speeds", {})
    asked: list[runs.Description] = []

    def start(description: runs.Description) -> str:
        asked.append(description)
        made(description.name)
        return description.name

    monkeypatch.setattr(runs, "start", start)
    return asked

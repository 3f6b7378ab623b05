"""The app as Streamlit runs it, without a browser: rnnviz/ui/script/main.py in AppTest."""

import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.logger import get_logger
from streamlit.testing.v1 import AppTest

from rnnviz.lab.fit import estimate
from rnnviz.lab.pages.inside import search_texts
from rnnviz.lab.run import runs
from rnnviz.page.payload import unpack
from rnnviz.ui.jobs import store
from rnnviz.ui.shell import dashboard
from tests.training.made_runs import made
from tests.ui.apptest import SHIPPED, Open, opened


@pytest.fixture(scope="session", autouse=True)
def _one_look_for_components() -> Iterator[None]:
    """AppTest has all installed packages' descriptions read for each app: three quarters of its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests)
        )
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_word_about_each_look_outside_a_run() -> None:
    """Streamlit warns whenever a session is looked for where none is: here, with every word of a page."""
    for name in ("runtime.scriptrunner_utils.script_run_context", "runtime.state.session_state_proxy"):
        get_logger(f"streamlit.{name}").setLevel(logging.ERROR)


@pytest.fixture
def shipped(only_tiny_models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shipped models are there, and no others."""
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [SHIPPED])


@pytest.fixture
def open_app(only_tiny_models: Path) -> Iterator[Open]:
    """Open the app on a page ("explore", "perplexity"); see apptest.opened."""
    yield opened
    st.cache_resource.clear()


@pytest.fixture
def troubled() -> None:
    """For a test, or a module, in which a page shows an error."""


@pytest.fixture(autouse=True)
def _no_run_goes_wrong(request: pytest.FixtureRequest) -> Iterator[None]:
    """No run of a script ends in an exception, nor shows an error but where it is to: see `troubled`."""
    run, shows_errors = AppTest._run, "troubled" in request.fixturenames

    def looked_at(self: AppTest, *given: Any, **more: Any) -> AppTest:
        app = run(self, *given, **more)
        assert not app.exception
        assert shows_errors or not app.error, [error.value for error in app.error]
        return app

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AppTest, "_run", looked_at)
        yield


@pytest.fixture(autouse=True)
def _nothing_scored() -> Iterator[None]:
    """What one test scored is not known to the next."""
    store.shared.cache_clear()
    yield
    if (scratch := vars(store.shared())["_scratch"]) is not None:
        scratch.remove()


@pytest.fixture
def started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, only_tiny_models: Path
) -> list[runs.Description]:
    """Runs have a folder of their own and no processes, as have kept models. Returns what was started."""
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))
    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [kept, only_tiny_models])
    monkeypatch.setattr(estimate, "measured", lambda config, symbols, check: 20_000.0)
    monkeypatch.setattr("rnnviz.lab.pages.train.forecast.QUIET", 0.0)
    asked: list[runs.Description] = []

    def start(description: runs.Description) -> str:
        asked.append(description)
        made(description.name)
        return description.name

    monkeypatch.setattr(runs, "start", start)
    return asked


@pytest.fixture
def boards(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """What was last sent to each of Inside's boards, by its key."""
    sent: dict[str, dict[str, Any]] = {}
    mount = dashboard._component.mount

    def watch(data: bytes, *, key: str) -> None:
        header, arrays = unpack(data)
        sent[key] = {**header, "arrays": arrays}
        mount(data, key=key)

    monkeypatch.setattr(dashboard._component, "mount", watch)
    return sent


@pytest.fixture
def short_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """No corpus is here: Inside searches the text on its page, and that at once."""
    monkeypatch.setattr(search_texts, "here", list)

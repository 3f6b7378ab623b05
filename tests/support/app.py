"""The app as Streamlit runs it, without a browser: rnnviz/ui/script/main.py in AppTest."""

import logging
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.logger import get_logger
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.testing.v1 import AppTest

from rnnviz.ui.jobs import store
from tests.support.apptest import SHIPPED, Open, open_page

__all__ = (
    "_no_run_goes_wrong",
    "_no_word_about_each_look_outside_a_run",
    "_nothing_scored",
    "_one_look_for_components",
    "downloads",
    "open_app",
    "shipped",
    "troubled",
)


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
    yield open_page
    st.cache_resource.clear()


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], Any]]:
    """What a click on a download button calls for its content, by the file's name, the last drawn."""
    offered: dict[str, Callable[[], Any]] = {}
    add = MediaFileManager.add_deferred

    def watch(
        self: MediaFileManager, call: Any, mime: Any, place: str, file_name: Any = None, **options: Any
    ) -> str:
        offered[file_name] = call
        return add(self, call, mime, place, file_name, **options)

    monkeypatch.setattr(MediaFileManager, "add_deferred", watch)
    return offered


@pytest.fixture
def troubled() -> None:
    """For a test, or a module, in which a page shows an error."""


@pytest.fixture(autouse=True)
def _no_run_goes_wrong(request: pytest.FixtureRequest) -> Iterator[None]:
    """No run of a script ends in an exception, nor shows an error but where it is to: see `troubled`."""
    run, shows_errors = AppTest._run, "troubled" in request.fixturenames

    def looked_at(self: AppTest, *arguments: Any, **keywords: Any) -> AppTest:
        app = run(self, *arguments, **keywords)
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

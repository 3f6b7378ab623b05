"""The app as Streamlit runs it, with runs of no process, and what Inside's dashboards were sent."""

from pathlib import Path
from typing import Any

import pytest

from rnnviz.lab.fit import estimate
from rnnviz.lab.pages.inside import search_texts
from rnnviz.lab.run import runs
from rnnviz.page.payload import unpack
from rnnviz.ui.shell import dashboard
from tests.support.app import *  # noqa: F403 - its fixtures
from tests.support.made_runs import make_run


@pytest.fixture
def started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, only_tiny_models: Path
) -> list[runs.Description]:
    """Runs have a folder of their own and no processes, as have kept models. Returns what was started."""
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))
    kept_folder = tmp_path / "kept"
    kept_folder.mkdir()
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [kept_folder, only_tiny_models])
    monkeypatch.setattr(estimate, "measure_speed", lambda config, symbols, check: 20_000.0)
    monkeypatch.setattr("rnnviz.lab.pages.train.forecast.QUIET_S", 0.0)
    descriptions: list[runs.Description] = []

    def start(description: runs.Description) -> str:
        descriptions.append(description)
        make_run(description.name)
        return description.name

    monkeypatch.setattr(runs, "start", start)
    return descriptions


@pytest.fixture
def dashboards(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """What was last sent to each of Inside's dashboards, by its key."""
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
    monkeypatch.setattr(search_texts, "list_searchable_corpora", list)

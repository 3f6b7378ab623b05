"""Where the runs of these tests are."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of runs to itself."""
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))

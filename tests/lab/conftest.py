"""Where the runs of these tests are, and one that trains beside them."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from rnnviz.lab.run import queue, runs
from rnnviz.lab.run.folder import RunFolder
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def _own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a folder of runs to itself."""
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """That folder, for runs in processes of their own, which have ended before another test begins."""
    monkeypatch.setenv("RNNVIZ_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("RNNVIZ_NICE", "0")  # the tests may run beside others
    yield tmp_path / "runs"
    until(lambda: not any(RunFolder(run.path).locked() for run in runs.listed()))


@pytest.fixture
def busy(home: Path) -> Iterator[IO[bytes]]:
    """The lock of a run that trains until it is closed, as when a process is killed: it tidies nothing up.
    Those that start meanwhile wait, and are stopped in the end.
    """
    folder = RunFolder(home / "busy")
    folder.path.mkdir(parents=True)
    with folder.take_lock() as lock:
        queue.take_ticket(folder)
        yield lock
        for run in runs.listed():
            runs.stop(run.id)

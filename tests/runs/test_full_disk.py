"""A disk without room ends a run in words, and it goes on later to the same numbers."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from rnnviz.errors import CheckpointError, TrainingError
from rnnviz.runs import api as runs
from rnnviz.runs.folder import Description
from tests.runs.processes import events, train, until
from tests.runs.test_api import SMALL, TEXT, begin, final, home, same, whole

__all__ = ["home", "whole"]


def test_a_file_that_may_not_grow_ends_the_run_in_words_and_it_goes_on_later(
    home: Path, whole: dict[str, torch.Tensor]
) -> None:
    folder = begin(home)
    process = train(folder.path, SAVE=0.0, PROGRESS=0.01, file_limit=20_000)
    process.join()
    run = runs.find("run")
    assert (process.exitcode, run.state) == (1, "failed")
    assert run.reason.startswith("The disk is full")
    process = train(folder.path)
    process.join()
    assert process.exitcode == 0, folder.log.read_text()
    assert same(final(folder), whole)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    where = tmp_path / "disk"
    where.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(where)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("a small disk can be mounted by the administrator alone")
    yield where
    subprocess.run(["umount", "-l", str(where)], check=True)


def test_a_full_disk_ends_the_run_in_words_and_it_goes_on_when_there_is_room(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch, whole: dict[str, torch.Tensor]
) -> None:
    monkeypatch.setenv("RNNVIZ_RUNS", str(small_disk))
    folder = begin(small_disk)
    process = train(folder.path, SAVE=0.0, PROGRESS=0.01, step_seconds=0.02)
    until(lambda: folder.state.exists() and events(folder, "progress"))
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space left"), filler.open("ab", buffering=0) as file:  # noqa: PT012
        while True:
            file.write(bytes(1024))
    process.join()
    run = runs.find("run")
    assert (process.exitcode, run.state) == (1, "failed"), folder.log.read_text()
    assert run.reason.startswith("The disk is full: No space left on device")
    with pytest.raises((TrainingError, CheckpointError), match="No space left"):
        runs.start(Description("another", SMALL, text=TEXT))
    assert [r.id for r in runs.listed()] == ["run"]
    filler.unlink()
    process = train(folder.path)
    process.join()
    assert process.exitcode == 0, folder.log.read_text()
    assert same(final(folder), whole)

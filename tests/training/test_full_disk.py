"""A disk without room ends a run in words, and it goes on later to the same numbers."""

import sys
from pathlib import Path

import pytest
import torch

from rnnviz.training import runs
from tests.training.processes import train
from tests.training.test_runs import begin, final, home, whole
from tests.training.test_trainer import same

__all__ = ["home", "whole"]


@pytest.mark.exact
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of files' size")
def test_a_file_that_may_not_grow_ends_the_run_in_words_and_it_goes_on_later(
    home: Path, whole: dict[str, torch.Tensor]
) -> None:
    """The promise of `--resume`: an interruption changes no number of a run, on a CPU."""
    folder = begin(home)
    process = train(folder.path, SAVE=0.0, PROGRESS=0.01, file_limit=20_000)
    process.join()
    run = runs.find("run")
    assert (process.exitcode, run.state) == (1, "failed")
    assert run.reason.startswith("The disk is full")
    process = train(folder.path)
    process.join()
    assert process.exitcode == 0, folder.log.read_text("utf-8")
    assert same(final(folder), whole)

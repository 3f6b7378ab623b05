"""A disk without room ends a run in words, and it goes on later to the same numbers."""

import sys
from pathlib import Path

import pytest
import torch

from rnnviz.lab.run import runs
from tests.support.processes import train_to_its_end
from tests.support.training import begin_run, final_weights, same_tensors, whole

__all__ = ["whole"]


@pytest.mark.exact
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of files' size")
def test_a_file_that_may_not_grow_ends_the_run_in_words_and_it_goes_on_later(
    home: Path, whole: dict[str, torch.Tensor]
) -> None:
    """The promise of `--resume`: an interruption changes no number of a run, on a CPU."""
    folder = begin_run(home)
    train_to_its_end(folder, status=1, SAVE_S=0.0, PROGRESS_S=0.01, file_limit=20_000)
    run = runs.find("run")
    assert run.state == "failed"
    assert run.reason.startswith("The disk is full")
    train_to_its_end(folder)
    assert same_tensors(final_weights(folder), whole)

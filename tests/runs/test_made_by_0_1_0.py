"""Models, run folders and stories that version 0.1.0 wrote open, and say what they said."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from rnnviz.networks import checkpoint
from rnnviz.reading.scoring import perplexity
from rnnviz.reading.trace import trace
from rnnviz.runs import api as runs
from rnnviz.runs import story as run_story
from rnnviz.runs.folder import RunFolder
from tests.runs.processes import train

MADE = Path(__file__).with_name("made_by_0_1_0")


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """The stopped run, in the folder of runs."""
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path))
    return RunFolder(shutil.copytree(MADE / "run", tmp_path / "run"))


@pytest.mark.parametrize(("name", "expected"), [("tiny", 12.296496056), ("tiny-3gram", 5.137887159)])
def test_a_model_predicts_what_it_predicted(name: str, expected: float) -> None:
    model = checkpoint.load(MADE / f"{name}.safetensors")
    assert perplexity(model, text="the wet lamp").perplexity == pytest.approx(expected, rel=1e-5)


def test_a_stopped_run_is_shown(stopped: RunFolder) -> None:
    run = runs.find("run")
    assert (run.name, run.state, run.last and run.last["step"]) == ("tiny", "stopped", 23)
    assert run.description["probe"] == "the lamp"
    assert runs.snapshots("run") == [0, 1, 2, 3, 4, 5, 7, 10, 13, 18]
    first, now = runs.snapshot("run", 0), runs.snapshot("run")
    assert (first.text, first.step, now.step, now.hidden.shape) == ("the lamp", 0, 23, (8, 1, 4))
    assert now.cell is not None
    assert now.perplexity[-1] < first.perplexity[-1]


def test_a_stopped_run_goes_on_to_the_numbers_of_one_that_was_not(stopped: RunFolder) -> None:
    process = train(stopped.path)
    process.join()
    assert process.exitcode == 0, stopped.log.read_text()
    whole = checkpoint.load_numpy(MADE / "tiny.safetensors")
    held_out = runs.follow("run")[0][-1]["held_out"]
    assert held_out == pytest.approx(whole.card["held_out"]["perplexity"], rel=1e-4)


def test_a_story_is_played(stopped: RunFolder) -> None:
    story = run_story.read(MADE / "tiny.snapshots.safetensors")
    assert story.steps[:8] == (0, 1, 2, 3, 4, 5, 7, 10)
    assert story.steps[-1] == 61
    assert story.description["probe"] == story.snapshot().text == "the lamp"
    assert np.abs(story.snapshot(10).hidden - runs.snapshot("run", 10).hidden).max() < 0.01
    last = trace(checkpoint.load_numpy(MADE / "tiny.safetensors"), "the lamp")
    assert story.snapshot().nll == pytest.approx(last.nll, abs=2e-3)
    assert {e["event"] for e in story.events} == {"start", "progress", "report", "finished"}

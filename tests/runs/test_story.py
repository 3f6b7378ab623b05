"""A run's story in one file: small, whole, and refused where it is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from rnnviz.errors import TrainingError
from rnnviz.networks import checkpoint
from rnnviz.runs import api as runs
from rnnviz.runs import story as run_story
from tests.runs.made_runs import made


@pytest.fixture(autouse=True)
def _own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))


def test_a_story_tells_what_the_run_did(tmp_path: Path) -> None:
    made("one", held_out=4.3)
    path = run_story.write("one", tmp_path / f"one{run_story.SUFFIX}")
    story = run_story.read(path)
    assert story.steps == (0, 1, 3, 10, 30)
    assert story.name == "one"
    assert story.description["config"]["cell"] == "lstm"
    assert [e["event"] for e in story.events] == [
        "start", "progress", "progress", "progress", "report", "passed", "finished",
    ]  # fmt: skip
    for step in story.steps:
        kept, told = runs.snapshot("one", step), story.snapshot(step)
        assert (told.text, told.step, told.characters) == (kept.text, kept.step, kept.characters)
        assert np.abs(told.hidden - kept.hidden).max() <= 1 / 127
        assert told.log_probs == pytest.approx(kept.log_probs, abs=1e-2)
        assert told.perplexity == pytest.approx(kept.perplexity, rel=1e-4)
    assert story.snapshot().step == 30
    with pytest.raises(TrainingError, match="no snapshot of step 7"):
        story.snapshot(7)


def test_many_events_are_thinned_and_the_last_one_stays() -> None:
    events = [{"event": "progress", "step": n, "characters": n, "pid": 7} for n in range(5000)]
    events += [{"event": "report", "step": n, "sample": "x"} for n in range(2)]
    kept = run_story.thinned(events)
    progress = [e for e in kept if e["event"] == "progress"]
    assert len(progress) == run_story.CURVE
    assert progress[-1] == {"event": "progress", "step": 4999, "characters": 4999}
    assert [e.get("sample") for e in kept[-2:]] == [None, "x"]


def test_it_stands_beside_a_model_and_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models_folder: Path
) -> None:
    made("tiny-gru")
    folder = tmp_path / "models"
    folder.mkdir()
    model = folder / "tiny-gru.safetensors"
    model.write_bytes((models_folder / "tiny-gru.safetensors").read_bytes())
    run_story.write("tiny-gru", run_story.beside(model))
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [folder])
    models, damaged = checkpoint.available()
    assert [m.path for m in models] == [model]
    assert damaged == []


def test_what_is_no_story_is_refused(tmp_path: Path) -> None:
    made("one")
    whole = run_story.write("one", tmp_path / "one.snapshots.safetensors").read_bytes()
    path = tmp_path / "bad.snapshots.safetensors"
    for data in (b"", b"nonsense", whole[:-9], whole[:40]):
        path.write_bytes(data)
        with pytest.raises(TrainingError, match="damaged"):
            run_story.read(path)
    arrays = {
        "hidden": np.zeros((1, 2, 1, 3), np.int8),
        "log_probs": np.zeros((1, 9, 4)),
        "nll": np.zeros((1, 2)),
    }
    for about in ("{}", "[]", '{"steps": [0], "text": "ab", "symbols": ["a"], "events": []}'):
        save_file(arrays, path, metadata={"story": about})
        with pytest.raises(TrainingError, match="damaged"):
            run_story.read(path)
    with pytest.raises(TrainingError, match="no snapshot at"):
        run_story.read(tmp_path / "none.snapshots.safetensors")


def test_a_run_that_watched_nothing_has_no_story(tmp_path: Path) -> None:
    for file in (made("bare") / "snapshots").iterdir():
        file.unlink()
    with pytest.raises(TrainingError, match="no sentence to watch"):
        run_story.write("bare", tmp_path / "x.snapshots.safetensors")

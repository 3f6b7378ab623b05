"""How a model learned in one file: small, whole, and refused where it is damaged."""

from pathlib import Path

import numpy as np
import pytest

import rnnviz
from rnnviz import cli
from rnnviz.networks import checkpoint
from rnnviz.runs import api as runs
from rnnviz.runs import replay as run_replay
from tests.runs.made_runs import made
from tests.training.test_trainer import TEXT


@pytest.fixture(autouse=True)
def _own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))


def test_a_story_tells_what_the_run_did(tmp_path: Path) -> None:
    made("one", held_out=4.3)
    path = run_replay.write("one", tmp_path / f"one{run_replay.SUFFIX}")
    replay = run_replay.read(path)
    assert replay.steps == (0, 1, 3, 10, 30)
    assert replay.name == "one"
    assert replay.description["config"]["cell"] == "lstm"
    assert [e["event"] for e in replay.events] == [
        "start", "progress", "progress", "progress", "report", "passed", "finished",
    ]  # fmt: skip
    for step in replay.steps:
        kept, told = runs.snapshot("one", step), replay.snapshot(step)
        assert (told.text, told.step, told.characters) == (kept.text, kept.step, kept.characters)
        assert np.abs(told.hidden - kept.hidden).max() <= 1 / 127
        assert told.log_probs == pytest.approx(kept.log_probs, abs=1e-2)
        assert told.perplexity == pytest.approx(kept.perplexity, rel=1e-4)
    assert replay.snapshot().step == 30


def test_many_events_are_thinned_and_the_last_one_stays() -> None:
    events = [{"event": "progress", "step": n, "characters": n, "pid": 7} for n in range(5000)]
    events += [{"event": "report", "step": n, "sample": "x"} for n in range(2)]
    kept = run_replay.thinned(events)
    progress = [e for e in kept if e["event"] == "progress"]
    assert len(progress) == run_replay.CURVE
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
    run_replay.write("tiny-gru", folder / "tiny-gru.snapshots.safetensors")
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [folder])
    models, damaged = checkpoint.available()
    assert [m.path for m in models] == [model]
    assert damaged == []


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Finished runs on 85 % and on 90 % of a text, watching a sentence, compared with an n-gram model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    Path("text.txt").write_text(TEXT)
    count = "train --corpus text.txt --name counts --cell ngram --order 3"
    assert cli.main(count.split()) == 0
    for on in ("train", "train+validation"):
        name = f"on-{on.rsplit('+')[-1]}"
        words = f"train --corpus text.txt --name {name} --train-on {on} --hidden-size 8 --ngram counts"
        options = ["--epochs", "2", "--threads", "1", "--dropout-output", "0.3", "--probe", "the lamp"]
        assert cli.main([*words.split(), *options]) == 0
    return {name: tmp_path / "runs" / f"on-{name}" for name in ("train", "validation")}


def told(run: Path) -> run_replay.Replay:
    return run_replay.read(run_replay.write(run.name, f"{run.name}.snapshots.safetensors"))


def test_a_replay_of_a_run_has_what_it_kept(both: dict[str, Path]) -> None:
    replay = told(both["train"])
    kept = [int(path.stem) for path in (both["train"] / "snapshots").iterdir()]
    assert list(replay.steps) == sorted(kept)
    assert len(kept) > 3
    reports = [e for e in replay.events if e["event"] == "report"]
    assert all(e["validation_perplexity"] > 1 for e in reports)


def test_a_replay_without_validation_text_has_one_held_out_figure_at_its_end(both: dict[str, Path]) -> None:
    replay = told(both["validation"])
    card = checkpoint.read_info(Path("on-validation.safetensors")).card
    assert not any("validation_perplexity" in event for event in replay.events)
    end = replay.events[-1]
    assert (end["event"], end["held_out"]) == (
        "finished",
        pytest.approx(card["held_out"]["perplexity"], 1e-4),
    )
    start = next(e for e in replay.events if e["event"] == "start")
    assert start["ngram"] == pytest.approx(card["held_out"]["ngram"], rel=1e-4)
    assert start["ngram_order"] == 3
    assert start["uniform"] > start["unigram"] > 1
    last = rnnviz.trace(checkpoint.load("on-validation.safetensors"), "the lamp")
    assert replay.snapshot().nll == pytest.approx(last.nll, abs=2e-3)

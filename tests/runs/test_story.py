"""A run's story in one file: small, whole, and refused where it is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import rnnviz
from rnnviz import cli
from rnnviz.errors import TrainingError
from rnnviz.networks import checkpoint
from rnnviz.runs import api as runs
from rnnviz.runs import story as run_story
from rnnviz.runs.snapshots import opened, pack
from tests.runs.made_runs import made
from tests.training.test_trainer import TEXT


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


def told(run: Path, *words: str) -> run_story.Story:
    assert cli.main(["story", str(run), *words]) == 0
    return run_story.read(words[1] if words else run_story.beside(Path(f"{run.name}.safetensors")))


def test_the_command_makes_a_story_beside_the_model(both: dict[str, Path]) -> None:
    story = told(both["train"])
    kept = [int(path.stem) for path in (both["train"] / "snapshots").iterdir()]
    assert list(story.steps) == sorted(kept)
    assert len(kept) > 3
    reports = [e for e in story.events if e["event"] == "report"]
    assert all(e["validation_perplexity"] > 1 for e in reports)
    assert not any("held_out_perplexity" in e for e in story.events)


def test_a_story_without_validation_text_has_one_held_out_figure_at_its_end(both: dict[str, Path]) -> None:
    story = told(both["validation"], "--output", "other.snapshots.safetensors")
    card = checkpoint.read_info(Path("on-validation.safetensors")).card
    for event in story.events:
        assert not event.keys() & {"validation_perplexity", "held_out_perplexity"}
    end = story.events[-1]
    assert (end["event"], end["held_out"]) == (
        "finished",
        pytest.approx(card["held_out"]["perplexity"], 1e-4),
    )
    start = next(e for e in story.events if e["event"] == "start")
    assert start["ngram"] == pytest.approx(card["held_out"]["ngram"], rel=1e-4)
    assert start["ngram_order"] == 3
    assert start["uniform"] > start["unigram"] > 1
    last = rnnviz.trace(checkpoint.load("on-validation.safetensors"), "the lamp")
    assert story.snapshot().nll == pytest.approx(last.nll, abs=2e-3)


def test_a_story_needs_a_finished_run(both: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    made("cut", "stopped")
    for words, said in (
        ("runs/cut", "isn't finished"),
        ("runs/none", "there is no run in"),
        ("runs/on-train --output x.safetensors", "ends in .snapshots.safetensors"),
    ):
        assert cli.main(["story", *words.split()]) == 1
        assert said in capsys.readouterr().err


def of_0_1_0(path: Path, train_on: str) -> run_story.Story:
    """A story as version 0.1.0 wrote it."""
    made("old", held_out=4.2)
    story = run_story.read(run_story.write("old", path))
    with opened(path, "story") as (about, arrays):
        events = [
            {{"validation_perplexity": "held_out_perplexity"}.get(k, k): v for k, v in e.items()}
            for e in about["events"]
        ]
        about |= {"events": events}
        about["description"]["config"]["train_on"] = train_on
        path.write_bytes(pack("story", story.snapshot(), about, arrays))
    return run_story.read(path)


@pytest.mark.parametrize(
    ("train_on", "name"),
    [("train", "validation_perplexity"), ("train+validation", "held_out_perplexity")],
)
def test_a_story_of_0_1_0_says_which_text_its_figures_are_of(
    tmp_path: Path, train_on: str, name: str
) -> None:
    """Then a figure was called held out, and was so only where the validation text had been trained on."""
    story = of_0_1_0(tmp_path / "old.snapshots.safetensors", train_on)
    report = next(e for e in story.events if e["event"] == "report")
    assert [k for k in report if k.endswith("_perplexity")] == ["train_perplexity", name]
    assert report[name] == 4.2

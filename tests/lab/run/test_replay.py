"""How a model learned in one file: small, whole, and refused where it is damaged."""

from pathlib import Path

import numpy as np
import pytest

from rnnviz import cli
from rnnviz.lab.run import replay as run_replay
from rnnviz.lab.run import runs
from rnnviz.networks import checkpoint
from tests.support.made_runs import make_run
from tests.support.texts import TRAVELLER


def test_a_story_tells_what_the_run_did(tmp_path: Path) -> None:
    make_run("one", held_out=4.3)
    path = run_replay.write("one", tmp_path / f"one{run_replay.SUFFIX}")
    replay = run_replay.read(path)
    assert replay.steps == (0, 1, 3, 10, 30)
    assert replay.name == "one"
    assert replay.description["config"]["cell"] == "lstm"
    assert [e["event"] for e in replay.events] == [
        "start", "progress", "progress", "progress", "report", "passed", "finished",
    ]  # fmt: skip
    for step in replay.steps:
        original, replayed = runs.snapshot("one", step), replay.snapshot(step)
        assert (replayed.text, replayed.step, replayed.characters) == (
            original.text,
            original.step,
            original.characters,
        )
        assert np.abs(replayed.hidden - original.hidden).max() <= 1 / 127
        assert replayed.log_probs == pytest.approx(original.log_probs, abs=1e-2)
        assert replayed.perplexity == pytest.approx(original.perplexity, rel=1e-4)
    assert replay.snapshot().step == 30


def test_many_events_are_thinned_and_the_last_one_stays() -> None:
    events = [{"event": "progress", "step": n, "characters": n, "pid": 7} for n in range(5000)]
    events += [{"event": "report", "step": n, "sample": "x"} for n in range(2)]
    thin = run_replay.thin_events(events)
    progress = [e for e in thin if e["event"] == "progress"]
    assert len(progress) == run_replay.CURVE_POINTS
    assert progress[-1] == {"event": "progress", "step": 4999, "characters": 4999}
    assert [e.get("sample") for e in thin[-2:]] == [None, "x"]


def test_a_replay_without_validation_text_has_one_held_out_figure_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    Path("text.txt").write_text(TRAVELLER, "utf-8")
    for words in (
        "--name counts --cell ngram --order 3",
        "--name net --train-on train+validation --hidden-size 8 --ngram counts --epochs 2 --watch lamp",
    ):
        assert cli.main(["train", "--corpus", "text.txt", *words.split()]) == 0
    replay = run_replay.read(run_replay.write("net", "net.snapshots.safetensors"))
    card = checkpoint.read_info(Path("net.safetensors")).card
    assert not any("validation_perplexity" in event for event in replay.events)
    assert replay.events[-1]["event"] == "finished"
    assert replay.events[-1]["held_out"] == pytest.approx(card["held_out"]["perplexity"], 1e-4)
    start = next(e for e in replay.events if e["event"] == "start")
    assert start["ngram"] == pytest.approx(card["held_out"]["ngram"], rel=1e-4)

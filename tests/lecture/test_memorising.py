"""The memorising run: its recording, and that such a run is what the recording says it is."""

import json
import random
from pathlib import Path

from rnnviz.lecture import memorising


def test_the_recording_shows_what_the_lecture_says() -> None:
    run = memorising.recorded()
    assert run.train[-1] < 1.05
    assert run.held_out[-1] > 5 * run.uniform, "far worse than a uniform guess"
    assert min(run.held_out) < run.uniform / 2, "and it had been better"
    assert run.passes[run.best] < 60
    assert (run.uniform, run.characters, run.held_out_characters) == (28, 10_000, 10_000)
    assert len(run.passes) == len(run.train) == len(run.held_out) == 500
    assert run.passes[-1] == 500
    assert run.recipe["hidden_size"] == 512
    assert run.recipe["steps"] == 35


def test_the_recording_holds_no_text() -> None:
    fields = json.loads(memorising.RECORDING.read_text("utf-8"))
    words = [v for v in fields.values() if isinstance(v, str)]
    assert words == ["timemachine"]
    assert memorising.RECORDING.stat().st_size < 20_000


def test_letters_are_lower_case_with_single_spaces() -> None:
    assert memorising.letters("  The Time-Traveller (for so…)\n1895 ") == "the time traveller for so"


def test_a_small_run_memorises(tmp_path: Path) -> None:
    """The same code, on random letters: there is nothing to learn but the text itself."""
    generator = random.Random(1)
    text = " ".join("".join(generator.choices("abcdefghij", k=4)) for _ in range(200))
    run = memorising.record(text, characters=240, passes=25, hidden_size=48)
    assert run.train[-1] < 0.95 * run.train[0]
    assert run.held_out[-1] > run.train[-1], "what it learned is no use elsewhere"
    memorising.write(run, tmp_path / "run.json")
    again = json.loads((tmp_path / "run.json").read_text())
    assert tuple(again["train"]) == run.train

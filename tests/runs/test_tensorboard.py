"""Figures that TensorBoard shows too, read back with its own reader: the run's own, at the same steps."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rnnviz import cli
from rnnviz.errors import install
from rnnviz.networks.config import TrainConfig
from rnnviz.runs import tensorboard
from rnnviz.runs.folder import Description, RunFolder
from rnnviz.runs.tensorboard import FIGURES
from tests.runs.processes import events

ROOT = Path(__file__).resolve().parents[2]
TEXT = "a traveller came home late one night, hung up his wet coat, lit the lamp and sat down. " * 12
WORDS = ["--hidden-size", "8", "--embedding-size", "4", "--epochs", "3", "--steps", "16", "--threads", "1"]

Steps = dict[str, dict[int, float]]


def told(folder: RunFolder) -> Steps:
    """The run's own figures: {name: {step: figure}}."""
    found: Steps = {}
    step = 0
    for event in events(folder):
        step = event.get("step") or step
        for name in FIGURES.get(event["event"], ()):
            if event.get(name) is not None:
                found.setdefault(name, {})[step] = event[name]
    return found


def same(found: Steps, own: Steps) -> bool:
    """Whether both have the same figures at the same steps, to float32."""
    return found.keys() == own.keys() and all(
        found[name] == pytest.approx(own[name], rel=1e-6) for name in own
    )


def of_tensorboard(folder: RunFolder) -> tuple[Steps, str]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(folder.path / "tensorboard"))
    read.Reload()
    tags: Mapping[str, Any] = read.Tags()
    (text,) = read.Tensors(tags["tensors"][0])
    return (
        {name: {e.step: e.value for e in read.Scalars(name)} for name in tags["scalars"]},
        text.tensor_proto.string_val[0].decode(),
    )


@pytest.mark.slow
def test_the_same_figures_stand_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboard", reason="the extra tensorboard is not installed")
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "lamp.txt").write_text(TEXT)
    words = ["train", "--corpus", "lamp.txt", "--name", "lamp", *WORDS, "--log-to", "tensorboard"]
    done = subprocess.run(
        [sys.executable, "-m", "rnnviz", *words], cwd=tmp_path, env=os.environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Wrote "), "and nothing before it"
    folder = RunFolder(tmp_path / "runs" / "lamp")
    found, about = of_tensorboard(folder)
    own = told(folder)
    assert own.keys() >= {"train_perplexity", "validation_perplexity", "held_out"}
    assert same(found, own)
    for setting in ("hidden_size", "ngram", "learning_rate"):
        assert setting in about


def test_a_resumed_run_stands_there_once(tmp_path: Path) -> None:
    """What a resumed run repeats takes the place of what was there."""
    pytest.importorskip("tensorboard", reason="the extra tensorboard is not installed")
    folder = RunFolder(tmp_path)
    for start, steps in ((0, range(1, 6)), (3, range(4, 9))):
        with tensorboard.opened("tensorboard", folder) as log:
            log("progress", {"step": 1, "train_perplexity": 1.0})  # before the start: nowhere
            log("start", {"resumed_at": start})
            for step in steps:
                log("report", {"step": step, "validation_perplexity": 10.0 * start + step})
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(tmp_path / "tensorboard"))
    read.Reload()
    assert [(e.step, e.value) for e in read.Scalars("validation_perplexity")] == [
        *((n, n) for n in (1, 2, 3)),
        *((n, 30 + n) for n in (4, 5, 6, 7, 8)),
    ]


def test_what_is_not_there_is_said_before_the_run_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tensorboard, "find_spec", lambda name: None)
    for kind, said in (
        ("tensorboard", f"tensorboard is not installed; {install('tensorboard')} brings it"),
        ("trackio", "no longer logged to Trackio; --log-to tensorboard writes the same ones"),
        ("wandb", "can be logged to tensorboard; received 'wandb'"),
    ):
        assert cli.main(["train", "--corpus", "machine", "--name", "x", "--log-to", kind]) == 1
        assert said in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_run_that_was_logged_to_trackio_goes_on_without_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = RunFolder(tmp_path / "run")
    recipe = TrainConfig("rnn", hidden_size=4, embedding_size=0, epochs=1, batch=1, steps=8)
    folder.begin(Description("lamp", recipe, text=TEXT, log_to="trackio"))
    assert cli.main(["train", "--resume", str(folder.path)]) == 0
    assert "no longer logged to Trackio" in capsys.readouterr().err
    assert events(folder)[-1]["event"] == "finished"

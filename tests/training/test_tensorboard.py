"""Figures that TensorBoard shows too, read back with its own reader: the run's own, at the same steps."""

from pathlib import Path

import pytest

from rnnviz import cli
from rnnviz.errors import install
from rnnviz.networks.config import TrainConfig
from rnnviz.training import tensorboard
from rnnviz.training.folder import Description, RunFolder
from rnnviz.training.tensorboard import FIGURES
from tests.training.processes import events

TEXT = "a traveller came home late one night, hung up his wet coat, lit the lamp and sat down. " * 12
WORDS = ["--hidden-size", "8", "--embedding-size", "4", "--epochs", "3", "--steps", "16", "--threads", "1"]

Steps = dict[str, dict[int, float]]


def scalars(folder: Path) -> Steps:
    """The figures that TensorBoard shows of a run: {name: {step: figure}}."""
    module = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    read = module.EventAccumulator(str(folder / "tensorboard"))
    read.Reload()
    return {name: {e.step: e.value for e in read.Scalars(name)} for name in read.Tags()["scalars"]}


def test_the_same_figures_stand_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tensorboard", reason="the extra tensorboard is not installed")
    monkeypatch.chdir(tmp_path)
    Path("lamp.txt").write_text(TEXT, "utf-8")
    words = ["train", "--corpus", "lamp.txt", "--name", "lamp", *WORDS, "--log-to", "tensorboard"]
    assert cli.main(words) == 0
    assert capfd.readouterr().out.startswith("Wrote "), "and nothing before it"
    folder = RunFolder(tmp_path / "runs" / "lamp")
    own: Steps = {}
    for event in events(folder):
        for name in FIGURES.get(event["event"], ()):
            if event.get(name) is not None:
                own.setdefault(name, {})[event["step"]] = event[name]
    assert own.keys() >= {"train_perplexity", "validation_perplexity", "held_out"}
    found = scalars(folder.path)
    assert found.keys() == own.keys()
    for name, figures in own.items():
        assert found[name] == pytest.approx(figures, rel=1e-6), name


def test_a_resumed_run_stands_there_once(tmp_path: Path) -> None:
    """What a resumed run repeats takes the place of what was there."""
    pytest.importorskip("tensorboard", reason="the extra tensorboard is not installed")
    for start, steps in ((0, range(1, 6)), (3, range(4, 9))):
        with tensorboard.opened("tensorboard", RunFolder(tmp_path)) as log:
            log("progress", {"step": 1, "train_perplexity": 1.0})  # before the start: nowhere
            log("start", {"resumed_at": start})
            for step in steps:
                log("report", {"step": step, "validation_perplexity": 10.0 * start + step})
    at = {n: n if n < 4 else 30 + n for n in range(1, 9)}
    assert scalars(tmp_path) == {"validation_perplexity": at}


def test_what_is_not_there_is_said_before_the_run_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tensorboard, "find_spec", lambda name: None)
    for kind, said in (
        ("tensorboard", f"tensorboard is not installed; {install('tensorboard')} brings it"),
        ("wandb", "can be logged to tensorboard; received 'wandb'"),
    ):
        assert cli.main(["train", "--corpus", "machine", "--name", "x", "--log-to", kind]) == 1
        assert said in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_run_that_1_0_0_logged_to_trackio_goes_on_without(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    recipe = TrainConfig("rnn", hidden_size=4, embedding_size=0, epochs=1, batch=1, steps=8)
    folder.begin(Description("lamp", recipe, text=TEXT, log_to="trackio"))
    assert cli.main(["train", "--resume", str(folder.path)]) == 0
    assert events(folder)[-1]["event"] == "finished"

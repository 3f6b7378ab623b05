"""What a run cannot do is refused in one plain sentence, before anything is made."""

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import rnnviz
from rnnviz.errors import CheckpointError, ConfigError, CorpusError, TextError, TrainingError
from rnnviz.lab.fit import estimate
from rnnviz.lab.fit.fitting import fit
from rnnviz.lab.fit.presets import preset
from rnnviz.lab.fit.trainer import Trainer, train
from rnnviz.lab.run import replay, runs
from rnnviz.lab.run.folder import Description, RunFolder
from rnnviz.lab.run.snapshots import read
from rnnviz.lab.run.training_state import restore, save
from rnnviz.networks.config import TrainConfig
from rnnviz.text import corpora
from tests.support.made_runs import make_run
from tests.support.models import tiny
from tests.support.refused import Refusals, assert_refused
from tests.support.texts import TRAVELLER
from tests.support.training import CORPUS, SMALL

TOY = Description("toy", TrainConfig(cell="rnn", hidden_size=8), corpus="machine")


def after(first: Callable[[], Any], second: Callable[[], Any]) -> Callable[[], Any]:
    """`second`, where `first` was done."""

    def both() -> Any:
        first()
        return second()

    return both


def while_alive(do: Callable[[str], Any]) -> Any:
    with rnnviz.follow("mine") as run:
        run.log(1, 1.0)
        return do("mine")


def locked_by(make: str) -> Any:
    """Go on with a run whose lock is a folder, or a file on a disk that has become read-only."""
    folder = RunFolder(make_run("one", "stopped"))
    getattr(folder.lock, make)()
    with pytest.MonkeyPatch.context() as patch:
        if make == "touch":
            error = OSError(errno.EROFS, os.strerror(errno.EROFS))
            patch.setattr("portalocker.utils.open", Mock(side_effect=error), raising=False)
        return runs.resume("one")


def logged(step: Any) -> Any:
    with rnnviz.follow("mine") as run:
        run.log(5, 1.0)
        run.log(step, 1.0)


def resumed(trainer: Trainer) -> Any:
    """Go on with a run that began with SMALL on CORPUS."""
    folder, began = RunFolder(Path("run")), Trainer(SMALL, CORPUS)
    folder.path.mkdir()
    began.step()
    save(folder, began)
    return restore(folder, trainer)


def no_folder() -> None:
    """Where a file stands in the place of the folder of runs."""
    Path("runs").write_text("", "utf-8")


def unwatched() -> Any:
    for file in (make_run("bare") / "snapshots").iterdir():
        file.unlink()
    return replay.write("bare", "x.snapshots.safetensors")


WILD = replace(SMALL, cell="rnn", activation="relu", steps=60, learning_rate=100.0, clip=1e6)
TINY = TrainConfig(cell="gru", hidden_size=8, embedding_size=4, batch=4, steps=8)
TEXTS = ["the machine", "that remembers"]
SEVERAL: dict[str, Any] = {
    "fit on a generator": lambda: fit(TINY, (text for text in TEXTS)),  # type: ignore[arg-type]
    "fit on an array": lambda: fit(TINY, np.array(TEXTS)),  # type: ignore[arg-type]
    "save": lambda: rnnviz.save(tiny("gru"), "own.safetensors", corpus=TEXTS),  # type: ignore[arg-type]
    "held out": lambda: rnnviz.save(tiny("gru"), "own.safetensors", held_out=TEXTS),  # type: ignore[arg-type]
}

REFUSED: Refusals = {
    "keep: a name": (
        after(lambda: make_run("one"), lambda: runs.keep("one", "../x")), CheckpointError, "no folder",
    ),
    "keep: taken": (
        after(lambda: runs.keep(make_run("one").name, "x"), lambda: runs.keep("one", "x")),
        TrainingError,
        "a model called 'x' already",
    ),
    "resume: finished": (
        after(lambda: make_run("one"), lambda: runs.resume("one")),
        TrainingError,
        "is finished; start a new one",
    ),
    "resume: another program's": (
        after(lambda: while_alive(runs.stop), lambda: runs.resume("mine")),
        TrainingError,
        "another program, which logged it here",
    ),
    "delete: alive": (lambda: while_alive(runs.delete), TrainingError, "is training or waiting"),
    "set_limit": (lambda: runs.set_limit(0), ConfigError, "from 1 to 64; received 0"),
    "start: no text": (lambda: runs.start(replace(TOY, corpus="")), TrainingError, "needs a text"),
    "start: an empty text": (
        lambda: runs.start(replace(TOY, corpus="", text="")), TrainingError, "needs a text",
    ),
    "Description: a name": (
        lambda: Description("../toy", SMALL), ConfigError, "no folder; received '../toy'",
    ),
    "Description: watch_text": (
        lambda: Description("toy", SMALL, watch_text="x" * 500), ConfigError, "400 characters; received 500",
    ),
    "Description: minutes": (
        lambda: Description("toy", SMALL, minutes=0), ConfigError, "minutes is a number from 0.001 to 100000",
    ),
    "start: no folder": (after(no_folder, lambda: runs.start(TOY)), TrainingError, "no run can be kept in"),
    "set_limit: no folder": (
        after(no_folder, lambda: runs.set_limit(2)), TrainingError, "no run can be kept in",
    ),
    **{
        f"find: {id[:20]!r}": (
            after(lambda: runs.home().mkdir(), lambda id=id: runs.find(id)), TrainingError, "there is no run",
        )
        for id in ("", ".", "..", "a/b", ".queue", "gone", "a\0b", "\ud800", "~nobody", "é" * 200)
    },
    **{
        f"{do.__name__}: a long id, of which the beginning is quoted": (
            lambda do=do: do("x" * 5_000), TrainingError, "^there is no run 'x{100}' in ",
        )
        for do in (runs.find, runs.tail_log, runs.stop, runs.resume, runs.delete, runs.snapshot)
    },
    "a folder: a long path, without its middle": (
        lambda: RunFolder("x" * 5_000).description(), TrainingError, "^there is no run in .{80}…x{40}; ",
    ),
    "a folder: below a file": (
        lambda: RunFolder(f"{__file__}/x").description(), TrainingError, "^there is no run in ",
    ),
    "a folder: of a user that is none": (
        lambda: RunFolder("~nobody-here/x").description(), TrainingError, "^there is no run in ",
    ),
    **{
        f"a folder: no text, {odd!r}": (
            lambda odd=odd: RunFolder(odd).begin(TOY), TrainingError, "has bytes that are not text",
        )
        for odd in ("a\udcff", "\ud800/b")
    },
    "resume: a lock that can't be opened": (lambda: locked_by("mkdir"), TrainingError, "no lock .*; remove "),
    "resume: a read-only disk": (
        lambda: locked_by("touch"), TrainingError, "^nothing can be written in .*/one: Read-only file ",
    ),
    "tail_log: gone": (lambda: runs.tail_log("gone"), TrainingError, "there is no run"),
    **{
        f"rnnviz.follow: {odd!r}": (
            lambda odd=odd: rnnviz.follow(odd), ConfigError, "a run has the name of",
        )
        for odd in ("../x", "", "a b")
    },
    "rnnviz.follow: total": (
        lambda: rnnviz.follow("mine", total=0), ConfigError, "total is a whole number",
    ),
    "rnnviz.follow: no block": (
        lambda: rnnviz.follow("mine").log(1, 1.0), TrainingError, "begins with its block",
    ),
    **{
        f"rnnviz.follow: step {step}": (lambda step=step: logged(step), ConfigError, "after 5")
        for step in (5, 4, 5.5, True)
    },
    "replay: a step": (
        after(
            lambda: replay.write(make_run("one").name, "one.snapshots.safetensors"),
            lambda: replay.read("one.snapshots.safetensors").snapshot(7),
        ),
        TrainingError,
        "no snapshot of step 7",
    ),
    "replay: not there": (
        lambda: replay.read(Path("none.snapshots.safetensors")), TrainingError, "no snapshot at",
    ),
    "replay: watched nothing": (unwatched, TrainingError, "no sentence to watch"),
    "snapshot: not there": (lambda: read(Path("none.safetensors")), TrainingError, "no snapshot at"),
    "save: trained on": (
        lambda: rnnviz.save(tiny("gru"), "own.safetensors", corpus=TRAVELLER, held_out=TRAVELLER[40:90]),
        ConfigError,
        "trained on 100% of the held-out text",
    ),
    **{
        f"several texts: {name}": (several, TextError, r"received \w+: join several texts, as with")
        for name, several in SEVERAL.items()
    },
    "save: a path": (
        lambda: rnnviz.save(tiny("gru"), "own.safetensors", example=Path("machine")),  # type: ignore[arg-type]
        TextError,
        "a text is a str; received a path",
    ),
    "restore: another text": (
        lambda: resumed(Trainer(SMALL, corpora.from_text(TRAVELLER.upper(), "x"))),
        TrainingError,
        "another text",
    ),
    "restore: another recipe": (
        lambda: resumed(Trainer(replace(SMALL, learning_rate=0.1), CORPUS)), TrainingError, "another recipe",
    ),
    "RunFolder: not there": (
        lambda: RunFolder(Path("gone")).description(), TrainingError, "there is no run in",
    ),
    "RunFolder: twice": (
        after(lambda: RunFolder(Path("run")).begin(TOY), lambda: RunFolder(Path("run")).begin(TOY)),
        TrainingError,
        "already has a run",
    ),
    "speed: no time": (
        lambda: estimate.measure_speed(TINY, 30, 1, timeout=0.01), TrainingError, "after 0.01 s",
    ),
    "speed: threads": (
        lambda: estimate.measure_speed(TINY, 30, -1), TrainingError, "could not be measured (",
    ),
    "preset: a name": (
        lambda: preset("ten-minutes", 1000, 2),
        ConfigError,
        "one-minute, one-minute-mingru, five-minutes, best, textbook, names; received 'ten-minutes'",
    ),
    "preset: cores": (
        lambda: preset("best", 1000, 0), ConfigError, "at least 1 core; received 1000 and 0",
    ),
    "train: diverges": (
        lambda: list(train(WILD, CORPUS, sample_length=0)),
        TrainingError,
        r"^the loss is no longer a number at step \d+: the run diverged\. Lower learning_rate \(now 100\)",
    ),
    "fit: what has no card": (
        lambda: fit(SMALL, SimpleNamespace(split=CORPUS.split)),  # type: ignore[arg-type]
        TextError,
        "received SimpleNamespace",
    ),
    "TrainConfig: pieces at random places of random lengths": (
        lambda: replace(SMALL, partition="random", truncation="random"), ConfigError, "set truncation to",
    ),
    "TrainConfig: pieces at random places, and fresh starts": (
        lambda: replace(SMALL, partition="random", fresh_rows=0.1), ConfigError, "and fresh_rows to 0",
    ),
    "train: a short text": (
        lambda: Trainer(SMALL, corpora.from_text("a", "a")),
        CorpusError,
        "^training needs at least 2 characters; received 1$",
    ),
    **{
        f"TrainConfig: {name} {value}": (
            lambda name=name, value=value: replace(SMALL, **{"cell": "mlp", name: value}), ConfigError, said,
        )
        for name, value, said in (
            ("epochs", 0, "epochs is a number from"),
            ("batch", 0, "batch is a whole number"),
            ("batch", 1.5, "batch is a whole number"),
            ("learning_rate", float("nan"), "learning_rate is a number"),
            ("dropout_output", 1.0, "dropout_output is a number from 0 to 0.95"),
            ("train_on", "all", "train_on is"),
            ("precision", "float8", "precision is"),
            ("cell", "gpt", "cell is one of"),
            ("dropout_weight", 0.1, "cell 'mlp' has none"),
            ("hidden_size", 0, "hidden_size is a whole number"),
            ("clip", 0.0, "clip is a number from"),
            ("optimiser", "adam", "optimiser is 'adamw' or 'sgd' or 'momentum'"),
            ("partition", "shuffled", "partition is"),
            ("initialisation", "zero", "initialisation is"),
            ("initialisation", "identity", "is for cell 'rnn'"),
            ("sigma", -1.0, "sigma is a number from 0"),
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusal_is_one_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RNNVIZ_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(runs, "_launch", lambda folder, lock: None)
    assert_refused(*REFUSED[name])

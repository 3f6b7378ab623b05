"""Figures that another program shows too, read back with its own reader: the run's own, at the same steps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from rnnviz import cli
from rnnviz.errors import ConfigError, install
from rnnviz.runs import elsewhere
from rnnviz.runs.elsewhere import FIGURES
from rnnviz.runs.folder import RunFolder
from tests.runs.processes import events

ROOT = Path(__file__).resolve().parents[2]
TEXT = "a traveller came home late one night, hung up his wet coat, lit the lamp and sat down. " * 12
WORDS = ["--hidden-size", "8", "--embedding-size", "4", "--epochs", "3", "--steps", "16", "--threads", "1"]

READ = """
import json
from trackio.sqlite_storage import SQLiteStorage
import trackio
(run,) = trackio.Api().runs("rnnviz")
logs = SQLiteStorage.get_logs("rnnviz", run.name)
print(json.dumps({"name": run.name, "config": run.config, "logs": logs}))
"""

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


def of_trackio(folder: RunFolder) -> tuple[Steps, str]:
    done = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True)
    read = json.loads(done.stdout)
    assert read["name"] == folder.id
    found: Steps = {}
    for line in read["logs"]:
        for name in {n for names in FIGURES.values() for n in names} & line.keys():
            found.setdefault(name, {})[line["step"]] = line[name]
    return found, str(read["config"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", elsewhere.KINDS)
def test_the_same_figures_stand_there(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec(kind) is None:
        pytest.skip(f"the extra {kind} is not installed")
    for name, value in {"TRACKIO_DIR": tmp_path / "tracked", "RNNVIZ_RUNS": tmp_path / "runs"}.items():
        monkeypatch.setenv(name, str(value))
    for name in ("TRACKIO_SERVER_URL", "TRACKIO_SPACE_ID", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "lamp.txt").write_text(TEXT)
    words = ["train", "--corpus", "lamp.txt", "--name", "lamp", *WORDS, "--log-to", kind]
    done = subprocess.run(
        [sys.executable, "-m", "rnnviz", *words], cwd=tmp_path, env=os.environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Wrote "), "and nothing before it"
    folder = RunFolder(tmp_path / "runs" / "lamp")
    found, about = (of_tensorboard if kind == "tensorboard" else of_trackio)(folder)
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
        with elsewhere.opened("tensorboard", folder) as figures:
            assert figures is not None
            figures.take("progress", {"step": 1, "train_perplexity": 1.0}, {})  # before the start: nowhere
            figures.take("start", {"resumed_at": start}, {})
            for step in steps:
                figures.take("report", {"step": step, "validation_perplexity": 10.0 * start + step}, {})
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
    monkeypatch.setattr(elsewhere, "find_spec", lambda name: None)
    assert cli.main(["train", "--corpus", "machine", "--name", "x", "--log-to", "trackio"]) == 1
    assert f"trackio is not installed; {install('trackio')} brings it" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
    with pytest.raises(ConfigError, match="trackio or tensorboard; received 'wandb'"):
        elsewhere.check("wandb")

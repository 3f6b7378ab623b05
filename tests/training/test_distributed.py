"""Several workers train as one process does: same curve, one writer, and no worker is lost in silence."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import other_processor
import psutil
import pytest
import torch
from safetensors.torch import load_file

from rnnviz.errors import ConfigError
from rnnviz.networks.config import TrainConfig
from rnnviz.text import corpora
from rnnviz.training import process as run_process
from rnnviz.training.folder import Description, RunFolder
from rnnviz.training.trainer import Trainer
from tests import needs
from tests.training.processes import events, progressed, until

pytestmark = pytest.mark.skipif(
    not (torch.distributed.is_available() and torch.distributed.is_gloo_available()),
    reason="this torch has no gloo",
)

TEXT = "a traveller came home late one night, hung up his wet coat, lit the lamp and sat down. " * 12
RECIPES: list[dict[str, Any]] = [
    {"cell": "gru", "hidden_size": 12, "layers": 2},
    {"cell": "lstm", "hidden_size": 12, "truncation": "random", "clip": 0.1},
    {"cell": "rnn", "hidden_size": 12, "embedding_size": 0},
    {"cell": "mlp", "hidden_size": 12, "embedding_size": 12, "tied": True},
]
LONG: dict[str, Any] = {  # runs for a few seconds; its last model is the one that is kept
    "cell": "gru", "hidden_size": 8, "embedding_size": 4, "batch": 6, "steps": 4, "characters": 24_000,
    "train_on": "train+validation", "dropout_weight": 0.2, "dropout_output": 0.2, "precision": "float32",
    "evaluate_every": 500,
}  # fmt: skip
COMMON: dict[str, Any] = {"embedding_size": 6, "batch": 5, "steps": 10, "epochs": 2, "precision": "float32"}

WORKER = """
import json, os, sys
from pathlib import Path
import torch
from rnnviz.text import corpora
from rnnviz.training import distributed
from rnnviz.networks.config import TrainConfig
from rnnviz.errors import ConfigError
from rnnviz.training.trainer import Trainer
recipes, text, folder = json.loads(sys.argv[1])
torch.set_num_threads(1)
with distributed.joined("cpu"):
    found = []
    for recipe in recipes:
        trainer = distributed.SharedTrainer(TrainConfig(**recipe), corpora.from_text(text), device="cpu")
        trainer.model.engine = "torch"
        steps = []
        while not trainer.done:
            loss, norm, n = trainer.step()
            steps.append([float(loss), float(norm), n])
        weights = [p.tolist() for p in trainer.model.parameters()]
        carried = [s.tolist() for s in trainer.carried]
        found.append([steps, weights, carried])
    try:
        distributed.lead(Trainer(TrainConfig(batch=1), corpora.from_text(text), device="cpu"), text)
    except ConfigError as error:
        found.append(str(error))
Path(folder, os.environ["RANK"]).write_text(json.dumps(found), "utf-8")
"""


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What two workers found for every recipe, started by hand as torchrun starts them."""
    tmp_path = tmp_path_factory.mktemp("together")
    recipes = [*({**COMMON, **recipe} for recipe in RECIPES), LONG]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    task = json.dumps([recipes, TEXT, os.fspath(tmp_path)])
    processes = []
    for rank in range(2):
        place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "test"}
        where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        with other_processor.own_products():
            environment = {**os.environ, **place, **where}
        processes.append(subprocess.Popen([sys.executable, "-c", WORKER, task], env=environment))
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    return [json.loads((tmp_path / str(rank)).read_text("utf-8")) for rank in range(2)]


@pytest.mark.slow
def test_two_workers_train_as_one_process_does(together: list[Any]) -> None:
    first, second = together
    assert first == second  # every worker holds the same model, and the states of all streams
    assert "1 streams" in first[-1]
    assert "2 workers" in first[-1]
    for recipe, (steps, weights, carried) in zip(RECIPES, first, strict=False):
        alone = Trainer(TrainConfig(**{**COMMON, **recipe}), corpora.from_text(TEXT), device="cpu")
        for loss, norm, count in steps:
            expected = alone.step()
            assert loss == pytest.approx(float(expected[0]), rel=1e-3)
            assert norm == pytest.approx(float(expected[1]), rel=1e-2)
            assert count == expected[2]
        assert alone.done
        for mine, theirs in zip(weights, alone.model.parameters(), strict=True):
            torch.testing.assert_close(torch.tensor(mine), theirs.detach(), rtol=1e-2, atol=1e-3)
        assert [torch.tensor(part).shape for part in carried] == [part.shape for part in alone.carried or ()]


def launch(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "RNNVIZ_RUNS": os.fspath(folder / "home")}
    return subprocess.Popen(
        [*command, "-m", "rnnviz", "train", *arguments],
        cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
    )  # fmt: skip


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    until(lambda: condition() or process.poll() is not None)
    assert process.poll() is None, process.communicate()[0]


@pytest.mark.exact
@pytest.mark.slow
@needs.signals
def test_torchrun_is_stopped_resumed_loses_a_worker_and_still_ends_with_the_same_model(
    tmp_path: Path, together: list[Any]
) -> None:
    """The promise of `--resume`: an interruption changes no number of a run, on a CPU."""
    text = tmp_path / "night.txt"
    text.write_text(TEXT, "utf-8")
    new = ["--corpus", str(text), "--name", "night", "--threads", "1"]
    new += [f"--{name.replace('_', '-')}={value}" for name, value in LONG.items()]
    broken = RunFolder(tmp_path / "broken")

    # Asked to stop: saved, at a step that both workers agreed on.
    process = launch(*new, "--run-dir", str(broken.path), "--output", "broken.safetensors", folder=tmp_path)
    wait_for(lambda: progressed(broken), process)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=120)[0]
    assert process.returncode != 0
    assert events(broken)[-1]["event"] == "stopped", said
    assert broken.state.exists()

    # A worker is lost: the run says so, and what was saved can be resumed.
    seen = broken.events.stat().st_size
    process = launch("--resume", str(broken.path), folder=tmp_path)
    wait_for(lambda: progressed(broken, seen), process)
    writer = events(broken, "start")[-1]["pid"]
    helpers = [child for child in psutil.Process(process.pid).children() if child.pid != writer]
    assert len(helpers) == 1
    helpers[0].kill()
    said = process.communicate(timeout=120)[0]
    assert process.returncode != 0
    last = events(broken)[-1]
    assert last["event"] == "failed"
    assert "another worker of this run ended" in last["reason"]
    assert "another worker of this run ended" in said

    process = launch("--resume", str(broken.path), folder=tmp_path)
    said = process.communicate(timeout=120)[0]
    assert process.returncode == 0, said
    assert events(broken)[-1]["event"] == "finished"
    assert len(events(broken, "start")) == 3  # one writer
    state = load_file(broken.state)
    names = [
        name for name, _ in Trainer(TrainConfig(**LONG), corpora.from_text(TEXT)).model.named_parameters()
    ]
    uninterrupted = together[0][len(RECIPES)][1]
    for name, weights in zip(names, uninterrupted, strict=True):
        assert torch.equal(state[f"model.{name}"], torch.tensor(weights)), name


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"minutes": 1}, "speed of one worker, and this run has 2; say how long with --ch"),
        ({"engine": "numba"}, "PyTorch's own engine; leave out --engine numba"),
    ],
)
def test_what_several_workers_cannot_do_is_refused(
    asked: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"TORCHELASTIC_RUN_ID": "test", "WORLD_SIZE": "2", "RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    folder = RunFolder(tmp_path)
    folder.begin(Description("night", TrainConfig(hidden_size=8, precision="float32"), text=TEXT, **asked))
    with pytest.raises(ConfigError, match=said):
        run_process.run(folder, lambda _: nullcontext((lambda _: None, lambda _: None)), queued=False)

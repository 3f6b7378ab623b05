"""Estimates: held to the memory that real runs take, and to what control groups say; and the speed trial."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import other_processor
import psutil
import pytest
import torch

from rnnviz.lab.engines import compiled
from rnnviz.lab.engines.torch_threads import TorchThreads
from rnnviz.lab.fit import speed_trial
from rnnviz.lab.fit.estimate import available_memory, estimate, measure_speed, memory
from rnnviz.lab.fit.trainer import Trainer
from rnnviz.networks.config import Engine, TrainConfig
from rnnviz.text import corpora

GB = 10**9

RUN = """
import json, sys, tempfile
from rnnviz.text import corpora
from rnnviz.lab.run import training_state
from rnnviz.networks.config import TrainConfig
from rnnviz.lab.run.folder import RunFolder
from rnnviz.lab.fit.process_settings import tune_process
from rnnviz.lab.fit.trainer import Trainer

config, symbols = json.loads(sys.argv[1])
tune_process()
text = "".join(map(chr, range(0x4E00, 0x4E00 + symbols - 1)))
trainer = Trainer(TrainConfig(**config), corpora.from_text(text * (600_000 // symbols)), device="cpu")
for _ in range(2):
    trainer.step()
training_state.save(RunFolder(tempfile.mkdtemp()), trainer)
status = dict(line.split(":", 1) for line in open("/proc/self/status", encoding="utf-8"))
print(json.dumps([int(status["VmHWM"].split()[0]) * 1024, trainer.model.vocabulary.size]))
"""


@pytest.fixture(autouse=True)
def _without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling isn't waited for, and one candidate fewer is tried; no run here loads it."""
    monkeypatch.setattr("rnnviz.lab.fit.estimate.NUMBA_BYTES", 0)
    monkeypatch.setattr(compiled, "prepared", lambda _: False)


LARGE: dict[str, Any] = {"cell": "gru", "hidden_size": 384, "layers": 2, "batch": 128, "steps": 64}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads a process's peak from /proc")
@pytest.mark.parametrize(
    ("recipe", "symbols"),
    [
        ({"cell": "lstm", "hidden_size": 256, "batch": 32, "steps": 64}, 70),
        (LARGE, 70),
        ({"cell": "lstm", "hidden_size": 1024, "batch": 4, "steps": 8}, 70),
        ({"cell": "rnn", "hidden_size": 128, "batch": 64, "steps": 64, "dropout_output": 0.3}, 3000),
    ],
    ids=["the usual", "activations", "weights", "vocabulary"],
)
def test_memory_is_what_a_run_takes(recipe: dict[str, Any], symbols: int) -> None:
    with other_processor.own_products():  # another's are rounded in copies, which take memory
        done = subprocess.run(
            [sys.executable, "-c", RUN, json.dumps([recipe, symbols])],
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
    peak, size = json.loads(done.stdout)
    parts = memory(TrainConfig(**recipe), size, 600_000)
    # No n-gram is counted here.
    expected = sum(parts.values()) - 85 * 600_000
    assert 0.75 * peak < expected < 1.35 * peak, (peak, parts)


def test_estimate_says_whether_memory_suffices() -> None:
    usual = estimate(TrainConfig(), 70, 178_979, available=GB)
    assert usual.refusal is None
    assert usual.bytes == sum(usual.parts.values())
    assert usual.parameters == TrainConfig().model_config(70).parameter_count
    for config, symbols, characters, advice in (
        (TrainConfig(hidden_size=16_384), 70, 10**6, "hidden_size or layers"),
        (TrainConfig(batch=65_536, steps=65_536), 70, 10**11, "lower batch"),
        (TrainConfig(batch=4096, steps=512), 100_000, 10**9, "lower batch"),
        (TrainConfig(batch=1, steps=1, hidden_size=1), 70, 10**12, "shorter"),
    ):
        run_estimate = estimate(config, symbols, characters, available=23 * GB)
        message = str(run_estimate.refusal)
        assert advice in message
        assert f"about {run_estimate.bytes / 1e9:,.1f} GB of memory and 23.0 GB are free here" in message


def group(folder: Path, limit: str, usage: str, **files: str) -> None:
    """A control group's files; `limit` and `usage` are "name: bytes"."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in [*(line.split(": ") for line in (limit, usage)), ("memory.stat", files["stat"])]:
        (folder / name).write_text(text, "utf-8")


def test_control_groups_limit_what_is_available(tmp_path: Path) -> None:
    assert 0 < available_memory() <= psutil.virtual_memory().total
    membership, groups = tmp_path / "cgroup", tmp_path / "groups"
    membership.write_text("9:name=systemd:/\n4:memory:/old\n0::/a/b\n", "utf-8")
    assert available_memory(groups, membership) > 1000
    group(groups / "a/b", "memory.max: max", "memory.current: 7", stat="inactive_file 1\n")
    assert available_memory(groups, membership) > 1000
    group(groups / "a", "memory.max: 1000", "memory.current: 600", stat="anon 2\ninactive_file 50\n")
    assert available_memory(groups, membership) == 450
    group(
        groups / "memory/old",
        "memory.limit_in_bytes: 2000",
        "memory.usage_in_bytes: 1900",
        stat="total_inactive_file 5\n",
    )
    assert available_memory(groups, membership) == 105


TINY = TrainConfig(cell="gru", hidden_size=8, embedding_size=4, batch=4, steps=8)


def test_only_what_numba_may_train_has_room_to_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnviz.lab.fit.estimate.find_spec", lambda name: object())
    monkeypatch.setattr("rnnviz.lab.fit.estimate.NUMBA_BYTES", 7)
    toy = TrainConfig("rnn", hidden_size=8, batch=1)
    plain = memory(TrainConfig("mlp"), 30, 1000)["program"]
    assert memory(TrainConfig("rnn"), 30, 1000)["program"] == plain + 7
    assert memory(toy, 30, 1000)["program"] == plain


CORPUS = corpora.from_text("a machine of brass and quartz, " * 100)
MIDDLING = TrainConfig(cell="gru", hidden_size=64, embedding_size=8, batch=16, steps=16)


@pytest.mark.slow
@pytest.mark.parametrize("symbols", [30, 1])  # all may be rare: V is 1
def test_speed_is_measured_in_a_process_that_takes_nothing_from_the_working_directory(
    symbols: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_bytes(b"raise SystemExit('the json.py of the working directory was run')")
    monkeypatch.chdir(tmp_path)
    assert measure_speed(TINY, symbols, 1) > 100


def test_a_speed_that_nobody_wants_any_more_is_not_measured_to_the_end() -> None:
    check = Mock(side_effect=[None, None, KeyError("left")])
    with pytest.raises(KeyError, match="left"):  # after 0.4 s, in which torch isn't loaded yet
        measure_speed(TINY, 30, 1, check=check)


@pytest.mark.parametrize(
    ("recipe", "threads", "engine", "counts"),
    [
        (MIDDLING, 2, "auto", [2]),
        (MIDDLING, 3, "torch", [3]),
        (TINY, None, "auto", [1]),  # too small for a second thread, and for numba
    ],
)
def test_the_trial_keeps_to_what_is_given(
    recipe: TrainConfig,
    threads: int | None,
    engine: Engine,
    counts: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = []

    def step(self: Trainer) -> None:
        tried.append((self.model.engine, torch.get_num_threads()))
        real(self)

    real = Trainer.step
    monkeypatch.setattr(Trainer, "step", step)
    monkeypatch.setattr(compiled, "prepared", lambda _: True)
    fastest = speed_trial.find_fastest_settings(recipe, CORPUS, threads=threads, device="cpu", engine=engine)
    assert list(fastest.threads.speeds) == fastest.threads.counts == counts
    assert {count for _, count in tried} == set(counts)
    both = engine == "auto" and recipe is MIDDLING
    assert {engine_tried for engine_tried, _ in tried} == ({"numba", "torch"} if both else {"torch"})
    assert both or fastest.engine == "torch"


@pytest.mark.parametrize(
    ("torchs", "numbas", "expected"),
    [
        (10_000, None, "torch"),
        (10_000, 15_000, "numba"),
        (12_000, 9_000, "torch"),
        (10_200, 10_000, "numba"),  # hardly faster
    ],
)
@pytest.mark.parametrize("steps", [16, 400])
def test_engine_and_threads_are_chosen_by_the_clock_whose_speed_is_told(
    steps: int,
    torchs: float,
    numbas: float | None,
    expected: Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A clock of our own: each step takes what its engine and number of threads say, and as long
    as 100 characters for the weights. A long step is timed as it is by the fastest alone.
    """
    clock, speeds = 0.0, {"torch": torchs, "numba": numbas or 0.0}

    def step(self: Trainer) -> None:
        nonlocal clock
        begin, end = self.cuts.at(self.step_index)
        n = (end - begin) * self.streams.row_count
        clock += (n + 100) / (speeds[self.model.engine] * torch.get_num_threads() ** 0.8)
        self.characters, self.step_index = self.characters + n, self.step_index + 1

    monkeypatch.setattr(speed_trial, "worth_trying", lambda: [1, 2, 3, 4])
    monkeypatch.setattr(speed_trial, "perf_counter", lambda: clock)
    monkeypatch.setattr(compiled, "prepared", lambda _: numbas is not None)
    monkeypatch.setattr(Trainer, "step", step)
    corpus = corpora.from_text("a machine of brass and quartz, " * 1000)
    fastest = speed_trial.find_fastest_settings(replace(MIDDLING, steps=steps), corpus, device="cpu")
    assert (fastest.engine, fastest.threads.now) == (expected, 4)
    share = 16 * steps / (16 * steps + 100)  # an epoch's last step is shorter
    assert fastest.speed == pytest.approx(speeds[fastest.engine] * 4**0.8 * share, rel=0.02)
    assert 0.1 < clock < (1.0 if steps == 16 else 3.0)


@pytest.mark.slow
def test_a_run_takes_as_many_threads_as_are_found_fastest() -> None:
    trainer = Trainer(replace(TINY, epochs=1), CORPUS, device="cpu")
    trainer.threads = TorchThreads([1, 2], speeds={1: 1.0, 2: 2.0})
    used = []
    list(trainer.run(sample_length=0, on_step=lambda _: used.append(torch.get_num_threads())))
    assert used[0] == 2
    assert len(used) == trainer.total_steps


def test_minutes_become_characters_reports_included() -> None:
    fastest = speed_trial.FastestSettings(TorchThreads([1], speeds={1: 50_000.0}))
    few_reports, many_reports = (
        speed_trial.characters_in(1, replace(TINY, evaluate_every=report_steps), CORPUS, fastest)
        for report_steps in (100_000, 1)
    )
    assert 32 <= many_reports < few_reports < 60 * 50_000
    assert few_reports > 50 * 50_000

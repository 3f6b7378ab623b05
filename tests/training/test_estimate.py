"""Estimates: held to the memory that real runs take, and to what control groups say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from rnnviz.errors import ConfigError, TrainingError
from rnnviz.networks.config import TrainConfig
from rnnviz.training import estimate as estimating
from rnnviz.training.estimate import available_memory, cores, estimate, memory, speed

GB = 10**9

RUN = """
import json, sys, tempfile
from rnnviz import corpora
from rnnviz.runs import training_state
from rnnviz.networks.config import TrainConfig
from rnnviz.runs.folder import RunFolder
from rnnviz.training.tuning import tune_process
from rnnviz.training.trainer import Trainer

config, symbols = json.loads(sys.argv[1])
tune_process()
text = "".join(map(chr, range(0x4E00, 0x4E00 + symbols - 1)))
trainer = Trainer(TrainConfig(**config), corpora.from_text(text * (600_000 // symbols)), device="cpu")
for _ in range(2):
    trainer.step()
training_state.save(RunFolder(tempfile.mkdtemp()), trainer)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps([int(status["VmHWM"].split()[0]) * 1024, trainer.model.vocabulary.size]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads a process's peak from /proc")
@pytest.mark.parametrize(
    ("recipe", "symbols"),
    [
        ({"cell": "lstm", "hidden_size": 256, "batch": 32, "steps": 64}, 70),
        ({"cell": "gru", "hidden_size": 384, "layers": 2, "batch": 128, "steps": 64}, 70),
        ({"cell": "lstm", "hidden_size": 1024, "batch": 4, "steps": 8}, 70),
        ({"cell": "rnn", "hidden_size": 128, "batch": 64, "steps": 64, "dropout_output": 0.3}, 3000),
    ],
    ids=["the usual", "activations", "weights", "vocabulary"],
)
def test_memory_is_what_a_run_takes(recipe: dict[str, Any], symbols: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps([recipe, symbols])], capture_output=True, text=True, check=True
    )
    peak, size = json.loads(done.stdout)
    parts = memory(TrainConfig(**recipe), size, 600_000)
    # No n-gram is counted here.
    expected = sum(parts.values()) - 85 * 600_000
    assert 0.75 * peak < expected < 1.35 * peak, (peak, parts)


def test_what_fits_and_what_does_not() -> None:
    usual = estimate(TrainConfig(), 70, 178_979, available=GB)
    assert usual.fits
    assert usual.reason == ""
    assert usual.bytes == sum(usual.parts.values())
    assert usual.parameters == TrainConfig().model_config(70).parameter_count
    assert (usual.characters_per_second, usual.seconds) == (None, None)
    for config, symbols, characters, advice in (
        (TrainConfig(hidden_size=16_384), 70, 10**6, "hidden_size or layers"),
        (TrainConfig(batch=65_536, steps=65_536), 70, 10**13 // 2, "lower batch"),
        (TrainConfig(batch=4096, steps=512), 100_000, 10**9, "lower batch"),
        (TrainConfig(batch=1, steps=1, hidden_size=1), 70, 10**12, "shorter"),
    ):
        found = estimate(config, symbols, characters, available=23 * GB)
        assert not found.fits
        assert advice in found.reason or "shorter" in found.reason
        assert "23.0 GB are free here" in found.reason
        assert f"{found.bytes / 1e9:,.1f} GB" in found.reason


def test_time_follows_from_speed_and_minutes_decide_characters() -> None:
    config = TrainConfig(epochs=10)
    found = estimate(config, 70, 100_000, 2, speed=10_000, available=GB)
    assert (found.characters, found.seconds) == (850_000, 85)
    found = estimate(config, 70, 100_000, 2, speed=10_000, minutes=5, available=GB)
    assert (found.characters, found.seconds) == (3_000_000, 300)
    found = estimate(config, 70, 100_000, 2, minutes=5, available=GB)
    assert (found.characters, found.seconds) == (0, 300)
    with pytest.raises(ConfigError, match="threads"):
        estimate(config, 70, 100_000, 0)


def test_control_groups_limit_what_is_available(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < available_memory() <= psutil.virtual_memory().total
    own = tmp_path / "cgroup"
    own.write_text("9:name=systemd:/\n4:memory:/old\n0::/a/b\n")
    for folder, files in {
        "v2/a/b": {"memory.max": "max", "memory.current": "7", "memory.stat": "inactive_file 1\n"},
        "v2/a": {"memory.max": "1000", "memory.current": "600", "memory.stat": "anon 2\ninactive_file 50\n"},
        "v2/memory/old": {
            "memory.limit_in_bytes": "2000",
            "memory.usage_in_bytes": "2500",
            "memory.stat": "total_inactive_file 5\n",
        },
    }.items():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (tmp_path / folder / name).write_text(text)
    assert estimating._control_groups(tmp_path / "v2", own) == [450, 0]
    assert estimating._control_groups(tmp_path / "none", tmp_path / "nothing") == []
    monkeypatch.setattr(estimating, "_control_groups", lambda _: [123])
    assert available_memory() == 123
    assert cores() >= 1


def test_speed_is_measured_in_a_process_of_its_own() -> None:
    small = TrainConfig(cell="gru", hidden_size=8, embedding_size=4, batch=4, steps=8)
    assert speed(small, 30, 1, seconds=0.1) > 100


def test_a_speed_that_cannot_be_measured_says_why() -> None:
    with pytest.raises(TrainingError, match=r"longer than 0\.01 s"):
        speed(TrainConfig(), 30, 1, timeout=0.01)
    with pytest.raises(TrainingError, match=r"could not be measured \(.*set_num_threads"):
        speed(TrainConfig(hidden_size=8), 30, -1)

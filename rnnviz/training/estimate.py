"""What a training run will take before it is started: parameters, memory, and time from a short measurement.

    estimate(config, vocabulary_size, text_characters)              at once: does it fit?
    speed(config, vocabulary_size, threads)                         some 4 seconds, in a process of its own
    estimate(config, vocabulary_size, text_characters, speed=…)     and with it: how long?

The memory is a sum whose terms were fitted to the peaks of real runs
(tests/test_estimate.py holds it to them); it is about the processor's memory,
not a GPU's. Importing this module loads no torch.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

from rnnviz.errors import ConfigError, Phrase, TrainingError
from rnnviz.networks.config import TrainConfig

PROGRAM = 240 * 2**20
"""Bytes of a process that has loaded torch and trained something tiny."""

COUNTED = 5_000_000
"""Characters that a run's n-gram counts at most."""


@dataclass(frozen=True)
class Estimate:
    """What a run would take.

    parameters            numbers that are learned
    bytes                 memory at its peak: the sum of `parts`
    parts                 "program", "text" (with the n-gram to beat), "weights" (gradients, the optimiser's
                          two averages and what saving copies, too) and "activations" (batch × steps)
    available             bytes that this machine could give, within the limits of its container
    characters            characters to train on, repeats counted; 0 while only minutes are known
    characters_per_second, seconds    None until a speed was measured
    refusal               what says that `bytes` aren't available, with the numbers; None if they are
    fits, reason          whether there is no refusal; its sentence, or ""
    """

    parameters: int
    bytes: int
    parts: dict[str, int]
    available: int
    characters: int
    characters_per_second: float | None
    seconds: float | None
    refusal: ConfigError | None

    @property
    def fits(self) -> bool:
        """Whether this machine has the memory."""
        return self.refusal is None

    @property
    def reason(self) -> str:
        """Why it doesn't fit, in words; "" if it does."""
        return str(self.refusal or "")


def estimate(
    config: TrainConfig,
    vocabulary_size: int,
    text_characters: int,
    threads: int | None = None,
    *,
    speed: float | None = None,
    minutes: float = 0.0,
    available: int | None = None,
) -> Estimate:
    """What training by `config` on a text of `text_characters` with V symbols takes. Returns at once.

    `speed` is in characters a second, as `speed()` measures it, and `threads` those it was
    measured with. `minutes` above 0 decide how many characters are trained on, instead of
    the recipe. `available` bytes are looked up where they aren't given.
    """
    if threads is not None and threads < 1:
        raise ConfigError("threads is at least 1; received {threads}", threads=threads)
    model = config.model_config(vocabulary_size)
    parts = memory(config, vocabulary_size, text_characters)
    needed = sum(parts.values())
    free = available_memory() if available is None else available
    share = 0.90 if config.train_on == "train+validation" else 0.85
    characters = config.characters or round(config.epochs * share * text_characters)
    if minutes:
        characters = round(minutes * 60 * speed) if speed else 0
    return Estimate(
        parameters=model.parameter_count,
        bytes=needed,
        parts=parts,
        available=free,
        characters=characters,
        characters_per_second=speed,
        seconds=minutes * 60 or (characters / speed if speed else None),
        refusal=None if needed <= free else _refusal(parts, free),
    )


def _refusal(parts: dict[str, int], free: int) -> ConfigError:
    largest = max(parts, key=lambda name: parts[name])
    what = {
        "activations": Phrase(
            "what batch × steps characters leave behind; lower batch, steps or hidden_size"
        ),
        "weights": Phrase("the weights and what learns them; lower hidden_size or layers"),
        "text": Phrase("the text; choose a shorter one"),
        "program": Phrase("the program itself; end other programs"),
    }
    return ConfigError(
        "this run needs about {needed} of memory and {free} are free here; {part} are for {what}",
        needed=_readable(sum(parts.values())),
        free=_readable(free),
        part=_readable(parts[largest]),
        what=what[largest],
    )


def _readable(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB"


def memory(config: TrainConfig, vocabulary_size: int, text_characters: int) -> dict[str, int]:
    """Bytes of a run at its peak, by part; see Estimate.parts.

    Numbers are float32. Per character of a batch and unit of a layer a layer keeps what its
    backward pass needs (`kept`), and one layer at a time holds what that pass makes (`made`).
    """
    model = config.model_config(vocabulary_size)
    kept, made = {"mlp": (3.0, 2.0), "rnn": (4.5, 4.0), "gru": (8.0, 19.0), "lstm": (23.5, 0.0)}[config.cell]
    per_character = (
        (kept * config.layers + made) * config.hidden_size
        + (
            6.0 * config.embedding_size if config.cell in ("mlp", "lstm") else 0.0
        )  # read through a table else
        + 5.0 * vocabulary_size  # logits, their logarithms, and a gradient for each
    )
    # Of a short text, fewer streams are read; see rnnviz.training.batches.
    streams = max(1, min(config.batch, text_characters // (2 * config.steps)))
    activations = 4 * per_character * streams * config.steps
    # Weight, gradient, two averages, copies in the layer's own order; a save's copies take the
    # place of the activations, which are free by then.
    learned = 4 * model.parameter_count
    saving = max(0.0, 7.5 * learned - activations)
    return {
        "program": PROGRAM,
        "text": 20 * text_characters + 85 * min(text_characters, COUNTED),
        "weights": round(5.5 * learned + saving),
        "activations": round(activations),
    }


def available_memory() -> int:
    """Bytes that this process could still take: the system's, and no more than its control groups allow."""
    return min([int(psutil.virtual_memory().available), *_control_groups(Path("/sys/fs/cgroup"))])


def _control_groups(root: Path, own: Path = Path("/proc/self/cgroup")) -> list[int]:
    """What each control group that this process is in still allows, in bytes; version 2, then version 1."""
    found = []
    for folder, names in (
        (root, ("memory.max", "memory.current", "inactive_file")),
        (root / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")),
    ):
        limit, usage, reclaimable = names
        for place in [*_places(folder, own), folder]:
            try:
                most = int((place / limit).read_text())  # "max" is no number: no limit
                used = int((place / usage).read_text())
                lines = (place / "memory.stat").read_text().splitlines()
            except (OSError, ValueError):
                continue
            statistics = dict(line.split() for line in lines)
            found.append(max(0, most - used + int(statistics.get(reclaimable, 0))))
    return found


def _places(folder: Path, own: Path) -> list[Path]:
    """The folders of the groups that this process is in, its own and those around it."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return []
    paths = [line.split(":", 2)[2] for line in lines if line.split(":", 2)[1] in ("", "memory")]
    return [folder / p.relative_to("/") for path in paths for p in (Path(path), *Path(path).parents)][:64]


def cores() -> int:
    """How many processor cores this process may use."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, count or 1)


def speed(
    config: TrainConfig,
    vocabulary_size: int,
    threads: int | None = None,
    *,
    seconds: float = 1.0,
    timeout: float = 60.0,
) -> float:
    """Characters a second that training by `config` reaches here and now, with V symbols.

    Measured for `seconds` in a process of its own, set up as a run is (starting it takes some
    3 seconds more); call it from a thread. Raises TrainingError if it can't be measured, as
    when memory runs out.
    """
    task = json.dumps([config.to_json(), vocabulary_size, threads, seconds])
    command = [sys.executable, "-c", "from rnnviz.training.estimate import _measure; _measure()", task]
    # The package may be importable only because this process found it beside its script.
    path = os.pathsep.join(
        [str(Path(__file__).resolve().parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        return float(json.loads(done.stdout))
    except subprocess.TimeoutExpired:
        raise TrainingError(
            "a step of this recipe takes longer than {timeout:g} s here; lower hidden_size, batch or steps",
            timeout=timeout,
        ) from None
    except ValueError:
        said = (done.stderr.strip().splitlines() or [f"the process ended with {done.returncode}"])[-1]
        raise TrainingError("the speed of this recipe could not be measured ({said})", said=said) from None


def _measure() -> None:
    """In `speed`'s process: print the characters a second of the recipe on the command line, as JSON."""
    import time
    from dataclasses import replace

    import torch

    from rnnviz.text import corpora
    from rnnviz.training.trainer import Trainer
    from rnnviz.training.tuning import tune_process

    values, size, threads, seconds = json.loads(sys.argv[1])
    config = replace(TrainConfig(**values), min_count=1, train_on="train+validation")
    if threads is not None:
        torch.set_num_threads(threads)
    tune_process()
    symbols = "".join(map(chr, range(0x10000, 0x10000 + size - 1)))  # all but <unk>
    length = 4 * config.batch * config.steps + 200
    trainer = Trainer(config, corpora.from_text(symbols * (length // len(symbols) + 2)))
    count, began = 0, 0.0
    for step in range(1_000_000):
        if step == 1:  # the first takes longer
            began = time.perf_counter()
        elif step and time.perf_counter() - began > seconds:
            break
        loss, _, read = trainer.step()
        float(loss)  # waits for a GPU
        count += read if step else 0
    sys.stdout.write(json.dumps(count / (time.perf_counter() - began)))

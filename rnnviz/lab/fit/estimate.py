"""Estimates of a run's memory and speed, without loading torch.

Memory is fitted to the peaks of real runs on processors, not GPUs (see tests/lab/fit/test_estimate.py).
Speed is measured in a separate process.
"""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import psutil

from rnnviz.errors import ConfigError, Phrase, TrainingError
from rnnviz.lab.fit.process_settings import own_python, tune_process
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.threads import cores as cores

PROGRAM_BYTES = 240 * 2**20
"""Bytes of a process that has loaded torch and trained a tiny model."""

NUMBA_BYTES = 270 * 2**20
"""Further bytes while numba compiles, once after an installation; half of them stay."""

MAX_COUNTED_CHARS = 5_000_000
"""Characters that a run's n-gram counts, at most."""

POLL_TRIAL_S = 0.2  # seconds between two polls of a trial's end and of `check`


@dataclass(frozen=True)
class Estimate:
    """The estimate of a run.

    parameters  learned numbers
    parts       bytes of "program", "text" (with the n-gram to beat), "weights" (with gradients, the
                optimiser's two averages and copies for saving) and "activations" (batch × steps)
    available   bytes that this machine could give, within its container's limits
    """

    parameters: int
    parts: dict[str, int]
    available: int

    @property
    def bytes(self) -> int:
        """Peak memory, in bytes."""
        return sum(self.parts.values())

    @property
    def refusal(self) -> ConfigError | None:
        """The error that names the largest part, where the run needs more than the available memory; else
        None.
        """
        if self.bytes <= self.available:
            return None
        largest = max(self.parts, key=lambda name: self.parts[name])
        uses = {
            "activations": Phrase(
                "what batch × steps characters leave behind; lower batch, steps or hidden_size"
            ),
            "weights": Phrase("the weights and what learns them; lower hidden_size or layers"),
            "text": Phrase("the text; choose a shorter one"),
            "program": Phrase("the program itself; end other programs"),
        }
        return ConfigError(
            "this run needs about {needed} of memory and {free} are free here; {part} are for {what}",
            needed=_readable(self.bytes),
            free=_readable(self.available),
            part=_readable(self.parts[largest]),
            what=uses[largest],
        )


def estimate(
    config: TrainConfig, vocabulary_size: int, text_characters: int, *, available: int | None = None
) -> Estimate:
    """The estimate for training on `text_characters` with V symbols. `available` is in bytes; None: looked
    up.
    """
    return Estimate(
        config.model_config(vocabulary_size).parameter_count,
        memory(config, vocabulary_size, text_characters),
        available_memory() if available is None else available,
    )


def _readable(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB"


def memory(config: TrainConfig, vocabulary_size: int, text_characters: int) -> dict[str, int]:
    """Bytes of a run at its peak, by part; see Estimate.parts.

    Per character of a batch and unit, each layer keeps `kept_numbers` for its backward pass, and one layer
    at a time holds the `pass_numbers` of that pass. Both are of torch's layers; the compiled path takes no
    more. All numbers count as float32, also for a GPU's run in bfloat16.
    """
    model = config.model_config(vocabulary_size)
    # (kept_numbers, pass_numbers) by cell, fitted to measured peaks. tests/lab/fit/test_estimate.py holds
    # four recipes to 0.75 … 1.35 of a run's peak. A cell without an entry is estimated by its blocks.
    numbers_by_cell = {
        "mlp": (3.0, 2.0), "rnn": (4.5, 4.0), "gru": (6.0, 12.0 if config.layers > 1 else 1.0),
        "lstm": (23.5, 0.0), "mingru": (8.5, 8.5),
    }  # fmt: skip
    kept_numbers, pass_numbers = numbers_by_cell.get(config.cell, (6.0 * len(CELLS[config.cell].blocks), 0.0))
    embedded = 6.0 * config.embedding_size
    logits = 5.0 * vocabulary_size  # their logarithms, and a gradient for each
    per_character = (kept_numbers * config.layers + pass_numbers) * config.hidden_size + embedded + logits
    # A short text is read in fewer streams; see rnnviz.lab.fit.batches.
    streams = max(1, min(config.batch, text_characters // (2 * config.steps)))
    activations = 4 * per_character * streams * config.steps
    # Weight, gradient, two averages, copies in the layer's memory order. A save's copies reuse the memory of
    # the activations, which are free by then.
    weight_bytes = 4 * model.parameter_count
    saving = max(0.0, 7.5 * weight_bytes - activations)
    # Whether numba still has to compile isn't known here, so its memory counts in any case.
    compiles = config.cell != "mlp" and not config.is_small and find_spec("numba")
    return {
        "program": PROGRAM_BYTES + (NUMBA_BYTES if compiles else 0),
        "text": 20 * text_characters + 85 * min(text_characters, MAX_COUNTED_CHARS),
        "weights": round(5.5 * weight_bytes + saving),
        "activations": round(activations),
    }


def available_memory(
    groups: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")
) -> int:
    """Bytes that this process could still take: the system's, within its control groups' limits. `own` lists
    its groups, whose limits are below `groups` (version 1 or 2).
    """
    free_bytes = [int(psutil.virtual_memory().available)]
    for folder, limit, usage, reclaimable in (
        (groups, "memory.max", "memory.current", "inactive_file"),
        (groups / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        for place in [*_places(folder, membership), folder]:
            try:
                limit_bytes = int((place / limit).read_text("ascii"))  # "max" is no number: no limit
                used_bytes = int((place / usage).read_text("ascii"))
                lines = (place / "memory.stat").read_text("ascii").splitlines()
            except (OSError, ValueError):
                continue
            # Cached pages of files count as used, but the kernel gives them up when memory is needed.
            statistics = dict(line.split() for line in lines)
            free_bytes.append(max(0, limit_bytes - used_bytes + int(statistics.get(reclaimable, 0))))
    return min(free_bytes)


def _places(folder: Path, membership: Path) -> list[Path]:
    """The folders of this process's control groups and of their parents."""
    try:
        lines = membership.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []
    paths = [line.split(":", 2)[2] for line in lines if line.split(":", 2)[1] in ("", "memory")]
    return [folder / p.relative_to("/") for path in paths for p in (Path(path), *Path(path).parents)][:64]


def measure_speed(
    config: TrainConfig,
    vocabulary_size: int,
    threads: int | None = None,
    *,
    timeout: float = 120.0,
    check: Callable[[], object] = lambda: None,
) -> float:
    """Characters a second that training by `config` reaches here, with V symbols, reports not counted.

    A separate process, set up as a run's, makes the trial, in some 4 seconds; call this from a thread.
    `check` is called now and then; its exceptions end the trial. Raises TrainingError if the trial fails, as
    when memory runs out, or takes longer than `timeout` seconds.
    """
    task = json.dumps([config.to_json(), vocabulary_size, threads])
    call = own_python("-c", "from rnnviz.lab.fit.estimate import _measure; _measure()", task)
    pipe, until = subprocess.PIPE, time.monotonic() + timeout
    call |= {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe}
    # A process of its own loads torch, and gives all its memory back when it ends.
    with subprocess.Popen(**call, encoding="utf-8", errors="replace") as process:
        try:
            while True:
                check()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    out, err = process.communicate(timeout=POLL_TRIAL_S)
                    break
                if time.monotonic() > until:
                    raise TrainingError(
                        "the speed of this recipe was not known after {timeout:g} s: other programs may have "
                        "the processor, or its steps are too long; lower hidden_size, batch or steps",
                        timeout=timeout,
                    )
        finally:
            process.kill()
    try:
        return float(json.loads(out))
    except ValueError:
        message = (err.strip().splitlines() or [f"the process ended with {process.returncode}"])[-1]
        raise TrainingError("the speed of this recipe could not be measured ({said})", said=message) from None


def _measure() -> None:
    """The process of `measured`: print the characters a second of the recipe on the command line."""
    from rnnviz.lab.fit.speed_trial import find_fastest_settings
    from rnnviz.text import corpora

    values, V, threads = json.loads(sys.argv[1])
    config = replace(TrainConfig(**values), min_count=1, train_on="train+validation")
    tune_process()
    # A text with V symbols, counting <unk>, long enough for some steps.
    symbols = "".join(map(chr, range(0x10000, 0x10000 + max(V, 2) - 1)))
    text = symbols * ((4 * config.batch * config.steps + 200) // len(symbols) + 2)
    sys.stdout.write(
        json.dumps(find_fastest_settings(config, corpora.from_text(text), threads=threads).speed)
    )

"""How fast a recipe trains, and with what: measured in trials, whose models are thrown away, or guessed.
Importing this loads no torch.

What a processor says of itself doesn't tell: of two with AVX512-BF16, one multiplies bfloat16 four times as
fast as float32, the other half as fast.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from rnnviz.errors import ConfigError, TrainingError, install
from rnnviz.networks.config import Engine, Precision, TrainConfig
from rnnviz.networks.threads import ALIKE, Threads, worth_trying
from rnnviz.training.tuning import own_python, tune_process

if TYPE_CHECKING:
    import torch

    from rnnviz.text.corpora import Corpus
    from rnnviz.training.trainer import SplittableText, Trainer

CORE_SPEED = 20_000
"""Characters a second that an lstm of 256 units trains on with one core of a 2021 server processor."""

TRIAL = 2.0
"""Seconds of a trial; a twentieth of the run, where that is less."""

TRIED = 2048
"""Characters of a step of 256 units, about, by which precisions and numbers of threads are compared, and half
as many of 512. A longer step is cut to fewer time steps, each with the same products; of a shorter one, what
is done once a step would count for too much.
"""

TRY = 0.04
"""Seconds that a candidate is timed for, twice, as another program may have held it up; a step at least."""

CLOSE = 0.85
"""A share of the best speed below which a candidate isn't timed again."""

LOOK = 0.2
"""Seconds between two looks whether a trial is over or still wanted."""


class Pace(NamedTuple):
    """What trains fastest: the precision, how many threads, with the characters a second of each, and whose
    backward pass.
    """

    precision: Precision
    threads: Threads
    engine: Engine = "auto"


def fastest(
    config: TrainConfig, V: int, *, threads: int | None = None, device: str = "auto", engine: Engine = "auto"
) -> Pace:
    """What trains a recipe with V symbols fastest, at its own precision, and at `threads` and with `engine`
    if they are given. Times some steps of each candidate, for half a second to one in all. A GPU gets
    bfloat16 if it has it.
    """
    import torch

    from rnnviz.networks.torch_model import pick_device

    where = pick_device(device)
    pairs = candidates(config, where, engine)
    if where.type != "cpu":
        return Pace(pairs[-1][0], Threads([threads or torch.get_num_threads()]), pairs[-1][1])
    counts = [threads] if threads else [1] if config.is_small else worth_trying()
    if len(pairs) == len(counts) == 1:
        return Pace(pairs[0][0], Threads(counts), pairs[0][1])
    trainer, tried, speeds = _small_steps(config, V), Threads(counts), dict.fromkeys(pairs, 0.0)
    size = trainer.config.steps * trainer.streams.batch

    def begin(pair: tuple[Precision, Engine]) -> None:
        trainer.bfloat16, trainer.model.engine = pair[0] == "bfloat16", pair[1]
        trainer.carried = None  # which another left, in a precision of its own
        trainer.step()  # the first takes longer

    begin(pairs[0])
    while tried.trying:  # on how many threads, with the likeliest
        with tried.piece(size):
            trainer.step()
    torch.set_num_threads(tried.now)
    for _ in range(2):
        best = max(speeds.values())
        for pair in [pair for pair in pairs if speeds[pair] >= CLOSE * best] if len(pairs) > 1 else ():
            begin(pair)
            began, steps, took = perf_counter(), 0, 0.0
            while took < TRY:
                trainer.step()
                steps, took = steps + 1, perf_counter() - began
            speeds[pair] = max(speeds[pair], steps * size / took)
    won = max(pairs, key=lambda pair: speeds[pair] * (1 if pair == pairs[0] else ALIKE))
    share = speeds[won] / speeds[pairs[0]] if speeds[won] else 1.0
    return Pace(won[0], Threads(counts, {n: share * speed for n, speed in tried.speeds.items()}), won[1])


def candidates(
    config: TrainConfig, device: torch.device, engine: Engine = "auto"
) -> list[tuple[Precision, Engine]]:
    """Precisions and engines that may train a recipe fastest; the first is the likeliest, and torch's is
    among them unless another is asked for. Raises ConfigError where what is asked for isn't to be had.
    """
    from rnnviz.networks import compiled
    from rnnviz.training.optimiser import has_bfloat16, no_bfloat16

    if engine == "numba" and not compiled.prepared(config.cell):
        raise ConfigError(
            "engine numba isn't to be had here; install it with {command}, or use another",
            command=install("fast"),
        )
    tries = device.type == "cpu" and not config.is_small
    engines: list[Engine] = [engine] if engine != "auto" else ["torch"]
    if engine == "auto" and tries and compiled.prepared(config.cell):
        engines = ["numba", "torch"]
    precisions = [config.precision]
    if config.precision == "auto":
        both = has_bfloat16(device) and (tries or device.type != "cpu")
        precisions = ["float32", "bfloat16"] if both else ["float32"]
    found, refusal = list[tuple[Precision, Engine]](), None
    for one in engines:
        for precision in precisions:
            if precision == "bfloat16" and one == "torch":
                refusal = no_bfloat16(config.cell, device)
            # Where only torch's other products are in bfloat16, rounding takes longer than they save.
            slow = precision == "bfloat16" and one == "numba" != engine and not compiled.blocks_bfloat16()
            if not slow and not (refusal and (precision, one) == ("bfloat16", "torch")):
                found.append((precision, one))
    if not found and refusal:
        raise refusal
    return found


def _small_steps(config: TrainConfig, V: int) -> Trainer:
    """A trainer of the recipe's shapes; see TRIED."""
    from rnnviz.training.trainer import Trainer

    steps = min(config.steps, max(8, int(TRIED / max(1.0, config.hidden_size / 256)) // config.batch))
    config = replace(config, precision="float32", steps=steps, characters=10**12, truncation="regular")
    return Trainer(*_stand_in(config, V), device="cpu")


def _stand_in(config: TrainConfig, V: int) -> tuple[TrainConfig, Corpus]:
    """A text of V symbols, <unk> among them, that lasts some steps, and the recipe to train on all of it."""
    from rnnviz.text import corpora

    symbols = "".join(map(chr, range(0x10000, 0x10000 + max(V, 2) - 1)))  # all may be rare: V is 1
    length = 4 * config.batch * config.steps + 200
    text = corpora.from_text(symbols * (length // len(symbols) + 2))
    return replace(config, min_count=1, train_on="train+validation"), text


def guess(hidden_size: int, cores: int) -> float:
    """Characters a second of an lstm: twice the cores give 1.7 times the speed, twice the units a third."""
    spread: float = cores**0.75
    return CORE_SPEED * spread * (1 if hidden_size == 256 else 1 / 3)


def characters_in(
    minutes: float,
    config: TrainConfig,
    corpus: SplittableText,
    *,
    device: str = "auto",
    engine: Engine = "auto",
) -> int:
    """The characters trained on in `minutes`, reports included. Takes about 2 seconds and one validation."""
    from rnnviz.reading.sampling import sample
    from rnnviz.reading.scoring import perplexity
    from rnnviz.training.reporting import early_steps

    trainer, speed = _trial(config, corpus, min(TRIAL, minutes * 60 / 20), device, engine)
    began = perf_counter()
    if trainer.validation:
        perplexity(trainer.model, text=trainer.validation)
    sample(trainer.model, "", 200, seed=0)
    report = perf_counter() - began
    every = config.evaluate_every or trainer.streams.chunks
    between = trainer.characters / trainer.step_index * every
    seconds = minutes * 60 - min(minutes * 30, len(early_steps(every)) * report)
    return max(1, round(seconds / (1 / speed + report / between)))


def _trial(
    config: TrainConfig, corpus: SplittableText, seconds: float, device: str, engine: Engine
) -> tuple[Trainer, float]:
    """A trainer after about `seconds` of training, and its characters a second, without reports."""
    from rnnviz.training.trainer import Trainer

    # Pieces of random lengths take as long as regular ones of the same mean.
    trainer = Trainer(replace(config, characters=10**12, truncation="regular"), corpus, device=device)
    trainer.model.engine = engine
    trainer.step()  # the first takes longer
    float(trainer.loss)
    began, before = perf_counter(), trainer.characters
    while True:
        trainer.step()
        float(trainer.loss)  # waits for a GPU, which a run seldom does: a conservative estimate
        if (took := perf_counter() - began) >= seconds:
            return trainer, (trainer.characters - before) / took


def measured(
    config: TrainConfig,
    vocabulary_size: int,
    threads: int | None = None,
    *,
    seconds: float = 1.0,
    timeout: float = 120.0,
    check: Callable[[], object] = lambda: None,
) -> float:
    """Characters a second that training by `config` reaches here, with V symbols. Measured for `seconds` in a
    process set up as a run's, which chooses precision and threads as a run does (some 4 seconds more in all);
    call it from a thread. What `check`, called now and then, raises ends it. Raises TrainingError if it
    fails, as when memory runs out.
    """
    task = json.dumps([config.to_json(), vocabulary_size, threads, seconds])
    call = own_python("-c", "from rnnviz.training.speed import _measure; _measure()", task)
    pipe, until = subprocess.PIPE, time.monotonic() + timeout
    with subprocess.Popen(**call, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            while True:
                check()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    out, err = process.communicate(timeout=LOOK)
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
        said = (err.strip().splitlines() or [f"the process ended with {process.returncode}"])[-1]
        raise TrainingError("the speed of this recipe could not be measured ({said})", said=said) from None


def _measure() -> None:
    """In the process of `measured`: print the characters a second of the recipe on the command line."""
    import torch

    values, size, threads, seconds = json.loads(sys.argv[1])
    config = TrainConfig(**values)
    tune_process()
    if threads is not None:
        torch.set_num_threads(threads)
    pace = fastest(config, size, threads=threads)
    torch.set_num_threads(pace.threads.now)
    recipe, text = _stand_in(replace(config, precision=pace.precision), size)
    sys.stdout.write(json.dumps(_trial(recipe, text, seconds, "auto", pace.engine)[1]))

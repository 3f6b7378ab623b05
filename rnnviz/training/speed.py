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
from typing import TYPE_CHECKING, NamedTuple

from rnnviz.errors import ConfigError, TrainingError, install
from rnnviz.networks.config import CELLS, Engine, Precision, TrainConfig
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

SMALL = 1024
"""States times streams below which a step is over before a second thread has woken up: one, in float32."""

TRIED = 2048
"""Characters of a step of 256 units, about, by which precisions and numbers of threads are compared, and half
as many of 512. A longer step is cut to fewer time steps, each with the same products; of a shorter one, what
is done once a step would count for too much.
"""

RETRIALS = (0.4, 3), (0.85, 2)
"""Candidates that are timed again, and again, as other programs may have held them up: from what share of
the best speed on, and how many.
"""

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
        return Pace(pairs[-1][0], Threads([threads or torch.get_num_threads()]), engine)
    counts = [threads] if threads else [1] if is_small(config) else worth_trying()
    if len(pairs) == len(counts) == 1:
        return Pace(pairs[0][0], Threads(counts), pairs[0][1])
    return _fastest_of(config, V, pairs, counts)


def candidates(
    config: TrainConfig, device: torch.device, engine: Engine = "auto"
) -> list[tuple[Precision, Engine]]:
    """Precisions and engines that may train a recipe fastest; the first is the likeliest. Raises ConfigError
    where what is asked for isn't to be had.
    """
    from rnnviz.networks import compiled
    from rnnviz.training.optimiser import has_bfloat16, no_bfloat16

    if engine == "numba" and not compiled.prepared(config.cell):
        raise ConfigError(
            "engine numba isn't to be had here; install it with {command}, or use another",
            command=install("fast"),
        )
    on_cpu = device.type == "cpu"
    small = on_cpu and is_small(config)
    precisions = [config.precision]
    if config.precision == "auto":
        precisions = ["float32", "bfloat16"] if has_bfloat16(device) and not small else ["float32"]
    found = []
    for precision in precisions:
        for one in [engine] if small or not on_cpu else _engines(config, precision, engine):
            refusal = no_bfloat16(config.cell, device) if precision == "bfloat16" and one != "numba" else None
            if refusal is None:
                found.append((precision, one))
            elif config.precision == "bfloat16":
                raise refusal
    return found


def _engines(config: TrainConfig, precision: Precision, engine: Engine) -> list[Engine]:
    """Those that may be the fastest on a CPU; the first is the likeliest."""
    from rnnviz.networks import compiled

    if engine != "auto" or config.cell not in compiled.TRAINED:
        return [engine]
    numba = compiled.prepared(config.cell)
    if CELLS[config.cell].linear:
        return ["numba" if numba else "auto"]
    if precision == "bfloat16":
        return ["numba" if numba and compiled.blocks_bfloat16() else "auto"]
    if config.cell == "lstm":
        return ["numba", "torch"] if numba else ["torch", "rnnviz"]
    # Of an rnn and a gru ours is faster than torch's.
    if numba:
        return ["numba"] if compiled.blocks() else ["numba", "auto"]
    return ["auto"]


def _fastest_of(
    config: TrainConfig, V: int, pairs: list[tuple[Precision, Engine]], counts: list[int]
) -> Pace:
    """The first of precision and engine is tried on one thread and on all, another on the first's best; then
    all that aren't hopeless again, in turns. The first wins unless another is more than a little faster.
    Whichever wins is tried on all threads and on all but one; other numbers as the run goes on.
    """
    trainer = _small_steps(config, V)
    candidates = [_Candidate(trainer, *pair) for pair in pairs]
    first, others = candidates[0], candidates[1:]
    first.try_on(sorted({counts[0], counts[-1]}))
    for other in others:
        other.try_on([first.count])
    for share, most in RETRIALS:
        best = sorted(candidates, key=lambda candidate: -candidate.speed)[:most]
        close = [candidate for candidate in best if candidate.speed > share * best[0].speed]
        for candidate in close if len(close) > 1 else ():
            candidate.try_on([candidate.count])
    won = max(candidates, key=lambda candidate: candidate.speed * (1 if candidate is first else ALIKE))
    if untried := [count for count in counts[-2:] if count not in won.speeds]:
        won.try_on(untried)
    return Pace(won.precision, Threads(counts, won.speeds), won.engine)


def _small_steps(config: TrainConfig, V: int) -> Trainer:
    """A trainer of the recipe's shapes; see TRIED."""
    from rnnviz.training.trainer import Trainer

    steps = min(config.steps, max(8, int(TRIED / max(1.0, config.hidden_size / 256)) // config.batch))
    config = replace(config, precision="float32", steps=steps, characters=10**12, truncation="regular")
    return Trainer(*_stand_in(config, V), device="cpu")


class _Candidate:
    """A precision and an engine, with the characters a second that they reached, by number of threads. All of
    them drive one trainer, which may be large.
    """

    def __init__(self, trainer: Trainer, precision: Precision, engine: Engine) -> None:
        self.precision, self.engine, self._trainer = precision, engine, trainer
        self.speeds: dict[int, float] = {}

    @property
    def count(self) -> int:
        """The number of threads on which it is fastest."""
        return max(self.speeds, key=lambda count: self.speeds[count])

    @property
    def speed(self) -> float:
        """On that many."""
        return max(self.speeds.values())

    def try_on(self, counts: list[int]) -> None:
        """On each number of threads. Of two speeds the better counts: other programs only slow it."""
        trainer = self._trainer
        trainer.bfloat16, trainer.model.engine = self.precision == "bfloat16", self.engine
        trainer.carried = None  # which another left, in a precision of its own
        threads = Threads(counts)
        while threads.trying:
            with threads.piece(trainer.config.steps * trainer.streams.batch):
                trainer.step()
        for count, speed in threads.speeds.items():
            self.speeds[count] = max(speed, self.speeds.get(count, 0.0))


def _stand_in(config: TrainConfig, V: int) -> tuple[TrainConfig, Corpus]:
    """A text of V symbols, <unk> among them, that lasts some steps, and the recipe to train on all of it."""
    from rnnviz.text import corpora

    symbols = "".join(map(chr, range(0x10000, 0x10000 + max(V, 2) - 1)))  # all may be rare: V is 1
    length = 4 * config.batch * config.steps + 200
    text = corpora.from_text(symbols * (length // len(symbols) + 2))
    return replace(config, min_count=1, train_on="train+validation"), text


def is_small(config: TrainConfig) -> bool:
    """Whether one thread and the engine at hand are tried alone; see SMALL."""
    return config.batch * config.hidden_size < SMALL


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
    began = time.perf_counter()
    if trainer.validation:
        perplexity(trainer.model, text=trainer.validation)
    sample(trainer.model, "", 200, seed=0)
    report = time.perf_counter() - began
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
    began, before = time.perf_counter(), trainer.characters
    while True:
        trainer.step()
        float(trainer.loss)  # waits for a GPU, which a run seldom does: a conservative estimate
        if (took := time.perf_counter() - began) >= seconds:
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

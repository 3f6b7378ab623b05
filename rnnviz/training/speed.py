"""How fast a recipe trains: measured in a trial, whose model is thrown away, or guessed. Loads no torch."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from rnnviz.errors import TrainingError
from rnnviz.networks.config import TrainConfig
from rnnviz.training.tuning import own_python, tune_process

if TYPE_CHECKING:
    from rnnviz.training.trainer import SplittableText, Trainer

CORE_SPEED = 20_000
"""Characters a second that an lstm of 256 units trains on with one core of a 2021 server processor."""

TRIAL = 2.0
"""Seconds of a trial; a twentieth of the run, where that is less."""


def guess(hidden_size: int, cores: int) -> float:
    """Characters a second of an lstm: twice the cores give 1.7 times the speed, twice the units a third."""
    spread: float = cores**0.75
    return CORE_SPEED * spread * (1 if hidden_size == 256 else 1 / 3)


def characters_in(
    minutes: float, config: TrainConfig, corpus: SplittableText, *, device: str = "auto"
) -> int:
    """The characters trained on in `minutes`, reports included. Takes about 2 seconds and one validation."""
    from rnnviz.reading.sampling import sample
    from rnnviz.reading.scoring import perplexity

    trainer, speed = _trial(config, corpus, min(TRIAL, minutes * 60 / 20), device)
    began = time.perf_counter()
    if trainer.validation:
        perplexity(trainer.model, text=trainer.validation)
    sample(trainer.model, "", 200, seed=0)
    report = time.perf_counter() - began
    between = trainer.characters / trainer.step_index * (config.evaluate_every or trainer.streams.chunks)
    return max(1, round(minutes * 60 / (1 / speed + report / between)))


def _trial(config: TrainConfig, corpus: SplittableText, seconds: float, device: str) -> tuple[Trainer, float]:
    """A trainer after about `seconds` of training, and its characters a second, without reports."""
    from rnnviz.training.trainer import Trainer

    # Pieces of random lengths take as long as regular ones of the same mean.
    trainer = Trainer(replace(config, characters=10**12, truncation="regular"), corpus, device=device)
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
    timeout: float = 60.0,
) -> float:
    """Characters a second that training by `config` reaches here, with V symbols. Measured for `seconds` in a
    process set up as a run's (some 3 seconds more to start); call it from a thread. Raises TrainingError
    if that fails, as when memory runs out.
    """
    task = json.dumps([config.to_json(), vocabulary_size, threads, seconds])
    call = own_python("-c", "from rnnviz.training.speed import _measure; _measure()", task)
    try:
        done = subprocess.run(
            **call, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False
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
    """In the process of `measured`: print the characters a second of the recipe on the command line."""
    import torch

    from rnnviz.text import corpora

    values, size, threads, seconds = json.loads(sys.argv[1])
    config = replace(TrainConfig(**values), min_count=1, train_on="train+validation")
    if threads is not None:
        torch.set_num_threads(threads)
    tune_process()
    symbols = "".join(map(chr, range(0x10000, 0x10000 + size - 1)))  # all but <unk>
    length = 4 * config.batch * config.steps + 200
    text = corpora.from_text(symbols * (length // len(symbols) + 2))
    sys.stdout.write(json.dumps(_trial(config, text, seconds, "auto")[1]))

"""Memorising is not modelling: a network that knows its text by heart.

The textbook's recipe: the first 10,000 letters and spaces of *The Time Machine*, 512 hidden units on one-hot
inputs, 32 rows of 35 steps, 500 passes. Training perplexity goes to 1; perplexity of the next 10,000
characters first falls, then climbs far above |V|. `recorded` returns the shipped curves, made in some minutes
by `python -m rnnviz.lecture.memorising` with the text fetched beforehand; they hold none of the text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rnnviz.errors import CorpusError
from rnnviz.text.corpora import Split

RECORDING = Path(__file__).with_name("memorising.json")
CHARACTERS = 10_000
PASSES = 500


@dataclass(frozen=True)
class Curves:
    """Perplexity along a run, at each report.

    passes     how often the text had been read
    train      over the characters read since the last report
    held_out   over text never trained on
    uniform    |V|, of a uniform guess
    """

    passes: tuple[float, ...]
    train: tuple[float, ...]
    held_out: tuple[float, ...]
    uniform: int
    recipe: dict[str, Any]
    corpus: str
    characters: int
    held_out_characters: int
    seconds: float
    versions: dict[str, str]

    @property
    def best(self) -> int:
        """The index of the lowest held-out perplexity."""
        return min(range(len(self.held_out)), key=self.held_out.__getitem__)


@dataclass(frozen=True)
class _Halves:
    """A text to train on and one to measure on, as `rnnviz.training` wants them."""

    parts: Split

    def split(self) -> Split:
        return self.parts


def letters(text: str) -> str:
    """`text` in lower case, with everything between words replaced by one space.

    >>> letters("The Time-Traveller (for so…)")
    'the time traveller for so'
    """
    return re.sub("[^a-z]+", " ", text.lower()).strip()


def record(
    text: str,
    *,
    corpus: str = "",
    characters: int = CHARACTERS,
    passes: int = PASSES,
    hidden_size: int = 512,
    seed: int = 0,
) -> Curves:
    """Train on the first `characters` letters of `text`, measure on as many that follow, once a pass.

    Raises CorpusError if the text is too short for both.
    """
    from rnnviz.networks.config import TrainConfig
    from rnnviz.runs.card import versions
    from rnnviz.training.trainer import Trainer

    plain = letters(text)
    if len(plain) < 2 * characters:
        raise CorpusError(
            "the text has {count:,} letters and spaces; "
            "{needed:,} are needed, half to train on and half to measure on",
            count=len(plain),
            needed=2 * characters,
        )
    config = TrainConfig(
        cell="rnn",
        hidden_size=hidden_size,
        embedding_size=0,
        epochs=passes,
        batch=32,
        steps=35,
        learning_rate=1e-3,
        weight_decay=0.0,
        min_count=1,
        precision="float32",
        seed=seed,
    )
    halves = _Halves(Split(plain[:characters], plain[characters : 2 * characters], ""))
    trainer = Trainer(config, halves, device="cpu")
    reports = list(trainer.run(sample_length=0))
    return Curves(
        passes=tuple(report.epoch for report in reports),
        train=_rounded(report.train_perplexity for report in reports),
        held_out=_rounded(report.validation_perplexity for report in reports),
        uniform=trainer.model.vocabulary.size,
        recipe=config.to_json(),
        corpus=corpus,
        characters=characters,
        held_out_characters=characters,
        seconds=round(reports[-1].seconds, 1),
        versions=versions(),
    )


def _rounded(values: Iterable[float | None]) -> tuple[float, ...]:
    return tuple(float(f"{value:.5g}") for value in values)


@cache
def recorded() -> Curves:
    """The run that ships with the package.

    >>> recorded().passes[-1], recorded().uniform
    (500.0, 28)
    """
    fields = json.loads(RECORDING.read_text("utf-8"))
    values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
    return Curves(**values)


def write(curves: Curves, path: Path = RECORDING) -> None:
    """Write what `recorded` reads. Raises ValueError for a curve that holds no numbers."""
    if not all(map(math.isfinite, curves.train + curves.held_out)):
        raise ValueError("a perplexity is infinite: train with a lower learning rate")
    path.write_text(json.dumps(vars(curves), separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    from rnnviz.text import corpora

    write(record(corpora.read("timemachine").text, corpus="timemachine"))

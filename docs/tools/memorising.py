"""A network that knows its text by heart: makes `rnnviz/lecture/memorising.json`, for the step `heart`.

    python docs/tools/memorising.py [FILE]

The textbook's recipe: the first 10,000 letters and spaces of *The Time Machine*, an RNN of 512 units on
one-hot inputs, 32 rows of 35 steps, 500 passes. After each pass the perplexity of that pass, while the
weights changed, and of the next 10,000 characters. The file holds none of the text. Some seven minutes on one
core.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rnnviz import TrainConfig
from rnnviz.lab.fit.card import versions
from rnnviz.lab.fit.trainer import Trainer
from rnnviz.lecture.scene_5_word import book
from rnnviz.text.corpora import Split

RECORDING = Path(__file__).parents[2] / "rnnviz" / "lecture" / "memorising.json"


@dataclass(frozen=True)
class Halves:
    """A text cut where the recipe wants it: a `Corpus` cuts by shares, and holds a tenth out."""

    parts: Split

    def split(self) -> Split:
        """What is trained on, what is measured, and nothing else."""
        return self.parts


def record(*, characters: int = 10_000, passes: int = 500, hidden_size: int = 512) -> dict[str, Any]:
    """Train on the first `characters` of the book, measure on as many that follow, once a pass."""
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
    )
    text = book()
    trainer = Trainer(
        config, Halves(Split(text[:characters], text[characters:][:characters], "")), device="cpu"
    )
    reports = list(trainer.run(sample_length=0))
    return {
        "passes": [report.epoch for report in reports],
        "train": _rounded(report.train_perplexity for report in reports),
        "held_out": _rounded(report.validation_perplexity for report in reports),
        "uniform": trainer.model.vocabulary.size,
        "recipe": config.to_json(),
        "corpus": "timemachine",
        "characters": characters,
        "held_out_characters": characters,
        "seconds": round(reports[-1].seconds, 1),
        "versions": versions(),
    }


def _rounded(values: Iterable[float | None]) -> list[float | None]:
    return [value and float(f"{value:.5g}") for value in values]


if __name__ == "__main__":
    path = Path(sys.argv[1]) if sys.argv[1:] else RECORDING
    path.write_text(json.dumps(record(), separators=(",", ":"), allow_nan=False) + "\n", "utf-8")

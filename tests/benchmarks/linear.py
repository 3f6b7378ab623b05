"""How fast linear recurrences train and score beside a GRU: characters a second, in turns, so that a busy
machine slows all of them alike.

    python tests/benchmarks/linear.py [--threads N] [--seconds 2] [--rounds 3]

Training is the recipe's own step (batch 16 × 50, embedding 128, float32, dropout on embedding and output);
scoring is what `rnnviz.perplexity` does with a text of 100,000 characters. The weights are random. Columns:
parameters; medians over the rounds, and their ratios to the GRU of the same round.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

import torch

from rnnviz.networks.config import Cell, TrainConfig
from rnnviz.reading.scoring import perplexity
from rnnviz.text import corpora
from rnnviz.training.trainer import Trainer
from rnnviz.training.tuning import tune_process

SHAPES: tuple[tuple[Cell, int, int], ...] = (
    ("gru", 256, 1),
    ("mingru", 256, 1),
    ("mingru", 256, 2),
    ("mingru", 240, 3),
    ("minlstm", 256, 2),
    ("rglru", 256, 2),
)


def trained(trainer: Trainer, seconds: float) -> float:
    """Characters a second of training for about `seconds`."""
    began, before = time.perf_counter(), trainer.characters
    while time.perf_counter() - began < seconds:
        trainer.step()
        float(trainer.loss)
    return (trainer.characters - before) / (time.perf_counter() - began)


def scored(trainer: Trainer, text: str) -> float:
    """Characters a second of scoring `text`."""
    began = time.perf_counter()
    perplexity(trainer.model, text=text)
    return len(text) / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    tune_process()
    torch.set_num_threads(args.threads)
    text = ("It was a long while before anyone spoke, and then the traveller laughed. " * 1400)[:100_000]
    corpus = corpora.from_text(text)
    made = [
        Trainer(
            TrainConfig(
                cell=cell, hidden_size=hidden, layers=layers, batch=16, steps=50, epochs=10_000,
                dropout_embedding=0.1, dropout_output=0.4, precision="float32",
            ),
            corpus,
            device="cpu",
        )
        for cell, hidden, layers in SHAPES
    ]  # fmt: skip
    found: list[list[tuple[float, float]]] = [[] for _ in SHAPES]
    for _ in range(args.rounds):
        for row, trainer in zip(found, made, strict=True):
            trainer.step()
            row.append((trained(trainer, args.seconds), scored(trainer, text)))
    print(f"{args.threads} threads\n\ncell                  parameters   training  ÷ gru    scoring  ÷ gru")
    for (cell, hidden, layers), trainer, row in zip(SHAPES, made, found, strict=True):
        figures = []
        for k in range(2):
            ratio = median(one[k] / gru[k] for one, gru in zip(row, found[0], strict=True))
            figures.append(f"{median(one[k] for one in row):10,.0f} {ratio:6.2f}")
        print(f"{cell:8} {layers} × {hidden:4} {trainer.model.parameter_count:14,} {' '.join(figures)}")


if __name__ == "__main__":
    main()

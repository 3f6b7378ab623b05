"""How fast linear recurrences train and score beside the others, and what memory they take: in turns, so that
a busy machine slows all of them alike.

    python -m tests.benchmarks.linear [--threads N] [--seconds 2] [--rounds 3] [--record models/speeds.json]

The first rows have random weights and the recipe's own step (batch 16 × 50, embedding 128, dropout on
embedding and output); precision and backward pass are those that a run on so many threads chooses. Scoring
is what `rnnviz.perplexity` does with a text of 100,000 characters. Columns: parameters; medians over the
rounds, and their ratios to the first row in the same round. `--record` measures the shipped networks too,
each by the recipe on its card, and the memory of five training steps and of scoring, each in a process of
its own, all in float32 and without numba; it writes what `rnnviz.runs.comparison` reads.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from rnnviz.networks import checkpoint
from rnnviz.networks.config import Cell, TrainConfig
from rnnviz.reading.scoring import perplexity
from rnnviz.runs.card import versions
from rnnviz.text import corpora
from rnnviz.training.speed import fastest
from rnnviz.training.trainer import Trainer
from rnnviz.training.tuning import tune_process
from tests.benchmarks.figures import figure

SHAPES: tuple[tuple[Cell, int, int], ...] = (
    ("gru", 256, 1),
    ("mingru", 256, 1),
    ("mingru", 256, 2),
    ("mingru", 240, 3),
)
SHIPPED = (
    "timemachine-rnn", "timemachine-gru", "timemachine-lstm", "timemachine-mingru", "shakespeare-lstm",
    "shakespeare-mingru",
)  # fmt: skip
LENGTH = 100_000


def text_of(characters: str) -> str:
    """A text of `LENGTH` characters with all of these in it."""
    return "".join(np.random.default_rng(0).choice(list(characters), LENGTH))


def as_users_get(trainer: Trainer, threads: int) -> None:
    """With the precision and the backward pass that a run on so many threads chooses."""
    config = replace(trainer.config, precision="auto")
    pace = fastest(config, trainer.model.vocabulary.size, threads=threads, device="cpu")
    trainer.bfloat16, trainer.model.engine = pace.precision == "bfloat16", pace.engine


def by_shape(cell: Cell, hidden: int, layers: int) -> Trainer:
    """A trainer of random weights."""
    text = ("It was a long while before anyone spoke, and then the traveller laughed. " * 1400)[:LENGTH]
    config = TrainConfig(
        cell=cell, hidden_size=hidden, layers=layers, batch=16, steps=50, epochs=10_000,
        dropout_embedding=0.1, dropout_output=0.4, precision="float32",
    )  # fmt: skip
    return Trainer(config, corpora.from_text(text), device="cpu")


def by_card(name: str) -> Trainer:
    """A trainer by the recipe of a shipped model, for as many symbols; its weights are random."""
    info = checkpoint.read_info(checkpoint.find(name))
    characters = "".join(map(chr, range(0x4E00, 0x4E00 + info.vocabulary_size - 1)))
    recipe = {**info.card["recipe"], "epochs": 10_000, "min_count": 1, "precision": "float32"}
    trainer = Trainer(TrainConfig(**recipe), corpora.from_text(text_of(characters)), device="cpu", name=name)
    assert trainer.model.parameter_count == info.card["parameters"]
    return trainer


def trained(trainer: Trainer, seconds: float) -> float:
    """Characters a second of training for about `seconds`."""
    began, before = time.perf_counter(), trainer.characters
    while time.perf_counter() - began < seconds:
        trainer.step()
        float(trainer.loss)
    return (trainer.characters - before) / (time.perf_counter() - began)


def scored(trainer: Trainer) -> float:
    """Characters a second of scoring its text."""
    text = trainer.text[:LENGTH]
    began = time.perf_counter()
    perplexity(trainer.model, text=text)
    return len(text) / (time.perf_counter() - began)


def peak() -> int:
    """The most memory this process has had, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def remembered(what: str, name: str) -> None:
    """Print what training or scoring adds to the memory of a process that has torch, and has used it."""
    torch.set_num_threads(1)
    small = by_shape("gru", 8, 1)
    small.step()
    perplexity(small.model, text=small.text[:1000])
    before = peak()
    trainer = by_card(name)
    if what == "training":
        for _ in range(5):
            trainer.step()
    else:
        scored(trainer)
    print(peak() - before)


def memory(what: str, name: str) -> int:
    """`remembered` in a process of its own."""
    call = [sys.executable, "-m", "tests.benchmarks.linear", "--memory", what, name]
    return int(subprocess.run(call, check=True, capture_output=True, text=True).stdout)


def machine() -> str:
    """The processor's name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "unknown")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--memory", nargs=2, metavar=("WHAT", "NAME"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.memory:
        remembered(*args.memory)
        return
    tune_process()
    torch.set_num_threads(args.threads)
    there = {info.name for info in checkpoint.available()[0]} if args.record else set()
    names = [name for name in SHIPPED if name in there]
    load = os.getloadavg()[0]
    made = [by_shape(*shape) for shape in SHAPES] + [by_card(name) for name in names]
    for trainer in [] if args.record else made:
        as_users_get(trainer, args.threads)
    found: list[list[tuple[float, float]]] = [[] for _ in made]
    for _ in range(args.rounds):
        for row, trainer in zip(found, made, strict=True):
            trainer.step()
            row.append((trained(trainer, args.seconds), scored(trainer)))
    print(
        f"{args.threads} threads\n\nnetwork                  parameters   training  ÷ gru    scoring  ÷ gru"
    )
    rows: list[dict[str, Any]] = []
    for trainer, row in zip(made, found, strict=True):
        config = trainer.config
        speed, ratio = {}, {}
        for k, what in enumerate(("training", "scoring")):
            speed[what] = median(one[k] for one in row)
            ratio[what] = median(one[k] / gru[k] for one, gru in zip(row, found[0], strict=True))
        label = trainer.model.name or f"{config.cell} {config.layers} × {config.hidden_size}"
        figures = " ".join(f"{speed[what]:10,.0f} {ratio[what]:6.2f}" for what in speed)
        precision = "bfloat16" if trainer.bfloat16 else "float32"
        figures += f"   {precision} {trainer.model.backward_pass(bfloat16=trainer.bfloat16)}"
        if not trainer.model.name and row is not found[0]:
            for what, wanted in (("training", 2), ("scoring", 3)):
                figure(
                    f"{what}: {label} units ÷ gru, 256 units", ratio[what], "×",
                    at_least=wanted if config.layers == 1 else None,
                    beside=f"{speed[what]:,.0f} characters a second",
                )  # fmt: skip
        print(f"{label:18} {trainer.model.parameter_count:16,} {figures}")
        shape = {"cell": config.cell, "layers": config.layers, "hidden_size": config.hidden_size}
        rows.append({**shape, "parameters": trainer.model.parameter_count, **speed, "ratio": ratio})
    if args.record:
        networks = {}
        for name, one in zip(names, rows[len(SHAPES) :], strict=True):
            kept = {f"{what}_memory": memory(what, name) for what in ("training", "scoring")}
            networks[name] = {"training": one["training"], "scoring": one["scoring"], **kept}
        record = {"machine": machine(), "versions": versions(), "threads": args.threads, "load": load}
        record |= {"networks": networks, "layers": rows[: len(SHAPES)]}
        args.record.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

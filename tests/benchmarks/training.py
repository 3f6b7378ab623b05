"""Characters a second in training, beside the textbook's loop, in one run.

    python tests/benchmarks/training.py [--seconds 5] [--threads 2]

The textbook's loop: torch's layer on one-hot inputs, batch 32 × 35 steps, plain
gradient descent, float32, gradients clipped, state carried. Ours: what
`rnnviz.training.Trainer` does with the shipped models' recipe, dropout and all.
Both take turns, so that a busy machine slows both alike.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import torch
from torch import nn
from torch.nn import functional as F

from rnnviz import corpora
from rnnviz.cells import Cell
from rnnviz.cli_train import tune_process
from rnnviz.config import TrainConfig
from rnnviz.training import Trainer


def textbook(cell: str, hidden: int, ids: torch.Tensor, symbols: int) -> Callable[[], int]:
    """One step of the textbook's loop over `ids`; returns the characters read."""
    batch, steps = 32, 35
    layer = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[cell](symbols, hidden)
    readout = nn.Linear(hidden, symbols)
    parameters = [*layer.parameters(), *readout.parameters()]
    optimiser = torch.optim.SGD(parameters, lr=1.0)
    streams = ids[: len(ids) // batch * batch].view(batch, -1)
    position, state = 0, None

    def step() -> int:
        nonlocal position, state
        if position + steps + 1 > streams.shape[1]:
            position, state = 0, None
        inputs = streams[:, position : position + steps].T
        labels = streams[:, position + 1 : position + steps + 1].T
        if state is not None:
            state = tuple(s.detach() for s in state) if isinstance(state, tuple) else state.detach()
        out, state = layer(F.one_hot(inputs, symbols).float(), state)
        loss = F.cross_entropy(readout(out).flatten(0, 1), labels.flatten())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        position += steps
        return labels.numel()

    return step


def speed(step: Callable[[], int], seconds: float) -> float:
    """Characters a second over about `seconds`."""
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        count += step()
    return count / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="for each side and turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int)
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    corpus = corpora.read("python-docs")
    print(f"{torch.get_num_threads()} threads; characters a second, median of {args.turns} turns\n")
    print("cell  units  batch × steps   textbook     ours   ratio")
    cases: list[tuple[Cell, int, int, int]] = [
        ("rnn", 256, 16, 50),
        ("gru", 256, 16, 50),
        ("lstm", 256, 16, 50),
        ("gru", 512, 32, 64),
        ("lstm", 512, 32, 64),
    ]
    for cell, hidden, batch, steps in cases:
        config = TrainConfig(
            cell,
            hidden,
            batch=batch,
            steps=steps,
            dropout_embedding=0.1,
            dropout_weight=0.4,
            dropout_output=0.4,
        )
        trainer = Trainer(config, corpus, device="cpu")
        theirs = textbook(cell, hidden, trainer.streams.ids, trainer.model.vocabulary.size)
        rows: list[tuple[float, float]] = []
        for turn in range(args.turns + 1):
            row = speed(theirs, args.seconds), speed(lambda t=trainer: t.step()[2], args.seconds)
            if turn:  # the first warms up
                rows.append(row)
        a, b = median(r[0] for r in rows), median(r[1] for r in rows)
        ratio = median(y / x for x, y in rows)
        print(f"{cell:5} {hidden:5}  {batch:5} × {steps:<5} {a:10,.0f} {b:10,.0f} {ratio:7.2f}", flush=True)


if __name__ == "__main__":
    tune_process()
    main()

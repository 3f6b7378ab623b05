"""Characters a second in training, beside the textbook's loop, in one run.

    python tests/benchmarks/training.py [--seconds 5] [--threads 2]

    textbook  torch's layer on one-hot inputs, batch 32 × 35 steps, plain gradient descent, float32,
              gradients clipped, state carried, in a process as it comes
    plain     ours without dropout, at the batch and steps of the row
    recipe    ours as the shipped models are trained: dropout on embedding, W_hh and output

Ours runs as `python -m rnnviz train` does, with that command's settings of the
process. Each side has its own process, and they take turns, so that a busy
machine slows all of them alike.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from statistics import median

import torch
from torch import nn
from torch.nn import functional as F

from rnnviz import corpora
from rnnviz.cli_train import tune_process
from rnnviz.config import Cell, TrainConfig
from rnnviz.training import Trainer

SIDES = ("textbook", "plain", "recipe")


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


def serve(pipe: Connection, side: str, case: tuple[Cell, int, int, int], threads: int) -> None:
    """One side of one case: every number of seconds that arrives is answered with a speed."""
    torch.set_num_threads(threads)
    cell, hidden, batch, steps = case
    corpus = corpora.read("python-docs")
    if side != "textbook":
        tune_process()
    dropout = {"dropout_embedding": 0.1, "dropout_weight": 0.4, "dropout_output": 0.4}
    config = TrainConfig(cell, hidden, batch=batch, steps=steps, **(dropout if side == "recipe" else {}))
    trainer = Trainer(config, corpus, device="cpu")
    step = (
        textbook(cell, hidden, trainer.streams.ids, trainer.model.vocabulary.size)
        if side == "textbook"
        else lambda: trainer.step()[2]
    )
    while seconds := pipe.recv():
        pipe.send(speed(step, seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="for each side and turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    args = parser.parse_args()
    corpora.read("python-docs")
    print(f"{args.threads} threads; characters a second, median of {args.turns} turns\n")
    print("cell  units  batch × steps   textbook    plain   recipe   plain ÷ textbook   recipe ÷ textbook")
    cases: list[tuple[Cell, int, int, int]] = [
        ("rnn", 256, 32, 64),  # TrainConfig's batch and steps
        ("gru", 256, 32, 64),
        ("lstm", 256, 32, 64),
        ("gru", 512, 32, 64),
        ("lstm", 512, 32, 64),
        ("rnn", 256, 16, 50),  # the small book's: fewer streams read it better, and slower
        ("gru", 256, 16, 50),
        ("lstm", 256, 16, 50),
    ]
    spawn = multiprocessing.get_context("spawn")
    for case in cases:
        pipes, workers = [], []
        for side in SIDES:
            here, there = spawn.Pipe()
            workers.append(spawn.Process(target=serve, args=(there, side, case, args.threads), daemon=True))
            workers[-1].start()
            pipes.append(here)
        turns: list[list[float]] = []
        for turn in range(args.turns + 1):
            row = []
            for pipe in pipes:
                pipe.send(args.seconds if turn else 1.0)
                row.append(pipe.recv())
            if turn:  # the first warms up
                turns.append(row)
        for pipe, worker in zip(pipes, workers, strict=True):
            pipe.send(0)
            worker.join()
        cell, hidden, batch, steps = case
        speeds = "".join(f"{median(row[n] for row in turns):9,.0f}" for n in range(3))
        plain, recipe = (median(row[n] / row[0] for row in turns) for n in (1, 2))
        print(
            f"{cell:5} {hidden:5}  {batch:5} × {steps:<5}  {speeds}   {plain:16.2f}   {recipe:17.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()

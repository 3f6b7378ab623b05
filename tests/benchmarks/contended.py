"""Characters a second while other programs have some of the cores, beside an idle machine.

    python tests/benchmarks/contended.py [--loops 2] [--seconds 4] [--turns 3]   # 10 minutes
    python tests/benchmarks/contended.py --quick   # 3 minutes: networks of 256 units alone

    spinning  all cores, as torch comes: a thread that waits keeps its core
    brief     all cores, threads that wait sleep soon
    one       one thread
    chosen    what a run takes: as many threads as prove fastest, tried again as it goes on; runs of the app
              and its scoring take all cores but one at most

Training is steps of the presets' shapes with dropout, in float32; scoring reads a long text. Each side has
its own process, set up as `python -m rnnviz` is, and they take turns. The busy loops are this program's own.
Wanted: beside the loops, `chosen` at least half of `one`; without them, not more than 5 % below `spinning`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from statistics import median

from rnnviz.networks.config import Cell, TrainConfig
from rnnviz.networks.threads import Threads, cores, spin_briefly, worth_trying
from tests.benchmarks.figures import figure

SIDES = ("spinning", "brief", "one", "chosen")
CASES: tuple[tuple[str, Cell, int, int, int], ...] = (
    ("train", "gru", 256, 16, 32),
    ("train", "lstm", 256, 16, 32),
    ("train", "lstm", 512, 32, 32),
    ("score", "gru", 256, 0, 0),
    ("score", "lstm", 256, 0, 0),
)


def spin() -> None:
    while True:
        pass


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """So many other programs at work."""
    others = [multiprocessing.get_context("spawn").Process(target=spin, daemon=True) for _ in range(loops)]
    for other in others:
        other.start()
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.join()


def training(case: tuple[str, Cell, int, int, int], side: str) -> Callable[[], int]:
    """One step, as `Trainer.run` makes it; returns the characters read."""
    from rnnviz.text import corpora
    from rnnviz.training.trainer import Trainer
    from rnnviz.training.tuning import tune_process

    tune_process()
    _, cell, hidden, batch, steps = case
    config = TrainConfig(
        cell, hidden, batch=batch, steps=steps, precision="float32", characters=10**12,
        dropout_embedding=0.1, dropout_weight=0.4, dropout_output=0.4,
    )  # fmt: skip
    trainer = Trainer(config, corpora.read("python-docs"), device="cpu")
    if side == "chosen":
        trainer.threads = Threads(worth_trying())
    return trainer._paced_step


def scoring(case: tuple[str, Cell, int, int, int]) -> Callable[[], int]:
    """One long text; returns its length."""
    from rnnviz.networks.torch_model import untrained
    from rnnviz.text import corpora
    from rnnviz.text.vocabulary import Vocabulary

    text = corpora.read("python-docs").text[:200_000]
    vocabulary = Vocabulary.from_text(text)
    config = TrainConfig(case[1], case[2]).model_config(vocabulary.size)
    model, ids = untrained(config, vocabulary, seed=0).requires_grad_(False), vocabulary.encode(text)
    return lambda: len(model.scorer().advance(ids))


def serve(pipe: Connection, case: tuple[str, Cell, int, int, int], side: str) -> None:
    """One side of one case: every number of seconds that arrives is answered with a speed."""
    if side != "spinning":
        spin_briefly()
    import torch

    from rnnviz.networks import threads

    count = 1 if side == "one" else cores()
    torch.set_num_threads(count)
    if side != "chosen":
        threads.fix(count)
    work = training(case, side) if case[0] == "train" else scoring(case)
    while seconds := pipe.recv():
        began, done = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            done += work()
        pipe.send(done / (time.perf_counter() - began))


def measured(case: tuple[str, Cell, int, int, int], loops: int, seconds: float, turns: int) -> list[float]:
    """The median speed of each side."""
    spawn = multiprocessing.get_context("spawn")
    pipes, workers = [], []
    for side in SIDES:
        here, there = spawn.Pipe()
        workers.append(spawn.Process(target=serve, args=(there, case, side), daemon=True))
        workers[-1].start()
        pipes.append(here)
    speeds: list[list[float]] = []
    for pipe in pipes:  # the first turn warms up
        pipe.send(1.0)
        pipe.recv()
    with busy(loops):
        for _ in range(turns):
            speeds.append([])
            for pipe in pipes:
                pipe.send(seconds)
                speeds[-1].append(pipe.recv())
    for pipe, worker in zip(pipes, workers, strict=True):
        pipe.send(0)
        worker.join()
    return [median(column) for column in zip(*speeds, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loops", type=int, default=2, help="busy loops")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each side and turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument(
        "--quick", action="store_true", help="the networks of 256 units alone, two short turns"
    )
    args = parser.parse_args()
    cases = CASES
    if args.quick:
        args.seconds, args.turns = min(args.seconds, 3.0), min(args.turns, 2)
        cases = (*CASES[:2], CASES[3])
    print(f"{cores()} cores, load average {os.getloadavg()[0]:.1f}; characters a second")
    print(f"{'':24}loops {''.join(f'{side:>10}' for side in SIDES)}   chosen ÷ spinning   chosen ÷ one")
    for case in cases:
        for loops in (0, args.loops):
            speeds = measured(case, loops, args.seconds, args.turns)
            what = f"{case[0]} {case[1]} {case[2]}" + (f" {case[3]} × {case[4]}" if case[3] else "")
            print(
                f"{what:24}{loops:5} {''.join(f'{speed:10,.0f}' for speed in speeds)}"
                f"   {speeds[3] / speeds[0]:17.2f}   {speeds[3] / speeds[2]:12.2f}",
                flush=True,
            )
            if loops:
                beside = f"{what}, {loops} busy loops beside it: the threads chosen ÷ one thread"
                figure(beside, speeds[3] / speeds[2], "×", at_least=0.5)
            else:
                figure(f"{what}: the threads chosen ÷ all", speeds[3] / speeds[0], "×", at_least=0.95)


if __name__ == "__main__":
    main()

"""Characters a second in training, beside the textbook's loop, in one run.

    python -m tests.benchmarks.training [--seconds 3] [--threads 1 2 4] [--cases 3]

    book      the textbook's: torch's layer on one-hot inputs, batch 32 × 35 steps, plain gradient descent,
              float32, gradients clipped, state carried, on all cores, in a process as it comes
    plain     ours without dropout, as users get it
    users     ours as the presets train, with dropout on embedding, W_hh and output, as users get it:
              precision, backward pass and threads chosen by a trial, whose seconds are said; timed once
              numbers of threads have been tried a second time, as after ten seconds of every run
    f32, bf16   each candidate by itself: the recipe in either precision on so many threads, without numba
    numba, nb16   the same where numba is installed, with what it compiles (rnnviz.networks.compiled)
    ÷ best    users ÷ the best candidate, at least 0.95 is wanted; in each turn the best of the other turns,
              as of many that are equally good the luckiest would be above all of them

The figures add the share of the processor's fastest product, on all cores, that the recipe's own products
come to: six a weight and character, forward and back.

With --quality both sides of a question that speed alone doesn't answer are trained on The Time Machine
for the same number of characters: batch 16 × 32, 32 × 64, 128 × 64, each at the best of three rates.

Ours runs as `python -m rnnviz train` does, with that command's settings of the
process. Each side has its own process, and they take turns, so that a busy
machine slows all of them alike.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from statistics import median

import torch
from torch import nn
from torch.nn import functional as F

from rnnviz.networks import compiled
from rnnviz.networks.config import Cell, Engine, TrainConfig
from rnnviz.networks.threads import SOON, cores, fix, spin_briefly
from rnnviz.reading.scoring import perplexity
from rnnviz.text import corpora
from rnnviz.training.optimiser import has_bfloat16
from rnnviz.training.speed import fastest
from rnnviz.training.trainer import Trainer
from rnnviz.training.tuning import tune_process
from tests.benchmarks.figures import figure


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


def products(dtype: torch.dtype, threads: int, seconds: float = 0.5) -> float:
    """Multiplications and additions a second of square matrices, the best of several turns."""
    torch.set_num_threads(threads)
    a, b = (torch.randn(1024, 1024).to(dtype) for _ in range(2))
    best, began = 0.0, time.perf_counter()
    while time.perf_counter() - began < seconds or not best:
        start = time.perf_counter()
        a @ b
        best = max(best, 2 * 1024**3 / (time.perf_counter() - start))
    return best


def work(config: TrainConfig, symbols: int) -> int:
    """Multiplications and additions for a character, forward and back; the embedding is looked up."""
    shapes = config.model_config(symbols).shapes()
    weights = [s for name, s in shapes.items() if len(s) == 2 and not name.startswith("embedding")]
    return 6 * sum(rows * columns for rows, columns in weights)


def quality(characters: int, threads: int) -> None:
    """Validation perplexity of an lstm after so many characters, by batch and steps."""
    torch.set_num_threads(threads)
    tune_process()
    corpus = corpora.read("timemachine")
    print(f"\nlstm 256, The Time Machine, {characters:,} characters: validation perplexity")
    for batch, steps, rates in (
        (16, 32, (0.004, 0.006, 0.008)),
        (32, 64, (0.008, 0.012, 0.016)),
        (128, 64, (0.012, 0.016, 0.024)),
    ):
        found = {}
        for rate in rates:
            dropout = {"dropout_embedding": 0.05, "dropout_weight": 0.1, "dropout_output": 0.2}
            config = TrainConfig(
                "lstm", 256, batch=batch, steps=steps, learning_rate=rate, characters=characters, **dropout
            )
            trainer = Trainer(config, corpus, device="cpu")
            while not trainer.done:
                trainer.step()
            found[perplexity(trainer.model, text=trainer.validation).perplexity] = rate
        print(f"{batch:5} × {steps:<5} {min(found):7.3f}   at learning rate {found[min(found)]}", flush=True)


Case = tuple[Cell, int, int, int]
"""Cell, units, batch, time steps."""

CASES: list[Case] = [
    ("lstm", 256, 16, 32),  # small and frequent steps learn more from a character
    ("gru", 256, 16, 32),
    ("lstm", 256, 32, 32),  # the presets'
    ("rnn", 256, 32, 64),  # TrainConfig's batch and steps
    ("gru", 256, 32, 64),
    ("lstm", 256, 32, 64),
    ("gru", 512, 32, 64),
    ("lstm", 512, 32, 64),
    ("gru", 256, 128, 64),  # what a processor likes best
    ("lstm", 256, 128, 64),
    ("gru", 512, 128, 64),
    ("lstm", 512, 128, 64),
]


TRYING = ("plain", "users")
"""Sides that try what is fastest before they begin."""


def serve(pipe: Connection, side: str, case: Case) -> None:
    """One side of one case: says the seconds of its trial, then answers numbers of seconds with speeds."""
    cell, hidden, batch, steps = case
    corpus = corpora.read("python-docs")
    if side == "book":
        config = TrainConfig(cell, hidden, characters=1)
        trainer = Trainer(config, corpus, device="cpu")
        pipe.send(0.0)
        step = textbook(cell, hidden, trainer.streams.ids, trainer.model.vocabulary.size)
    else:
        tune_process()
        config = TrainConfig(cell, hidden, batch=batch, steps=steps, characters=10**12)
        if side != "plain":
            config = replace(config, dropout_embedding=0.1, dropout_weight=0.4, dropout_output=0.4)
        fixed: int | None = None
        engine: Engine = "auto"
        if side not in TRYING:
            precision, count = side.split()
            config = replace(config, precision="bfloat16" if "16" in precision else "float32")
            engine = "numba" if precision[0] == "n" else "torch" if cell == "lstm" else "rnnviz"
            fix(fixed := int(count))
        began = time.perf_counter()
        pace = fastest(config, len(set(corpus.text)) + 1, threads=fixed, device="cpu", engine=engine)
        pipe.send(time.perf_counter() - began)
        trainer = Trainer(replace(config, precision=pace.precision), corpus, device="cpu")
        trainer.threads, trainer.model.engine = pace.threads, pace.engine
        step = trainer._paced_step
    while seconds := pipe.recv():
        pipe.send(speed(step, seconds))


def measured(case: Case, sides: list[str], seconds: float, turns: int) -> tuple[float, list[list[float]]]:
    """The seconds of the users' trial, and each side's speeds by turn."""
    spawn = multiprocessing.get_context("spawn")
    pipes: dict[str, Connection] = {}
    workers, trials = [], {}
    for side in sorted(sides, key=TRYING.__contains__):
        pipes[side], there = spawn.Pipe()
        os.environ.pop("GOMP_SPINCOUNT", None)
        if side != "book":
            spin_briefly()  # heeded by the process that begins now
        if side in TRYING:  # by itself
            trials |= {other: pipe.recv() for other, pipe in pipes.items() if other not in {*trials, side}}
        workers.append(spawn.Process(target=serve, args=(there, side, case), daemon=True))
        workers[-1].start()
    trials |= {side: pipe.recv() for side, pipe in pipes.items() if side not in trials}
    found: list[list[float]] = []
    for turn in range(turns + 1):
        row = []
        for side in sides:
            pipes[side].send(seconds if turn else SOON + 2 if side == "users" else 1.0)
            row.append(pipes[side].recv())
        if turn:  # the first warms up
            found.append(row)
    for pipe in pipes.values():
        pipe.send(0)
    for worker in workers:
        worker.join()
    return trials["users"], found


def against_best(users: list[float], candidates: list[list[float]]) -> float:
    """The median over turns of users' speed over that of the candidate that is best in the other turns."""
    found = []
    for turn, speed in enumerate(users):
        others = [row for n, row in enumerate(candidates) if n != turn] or candidates
        medians = [median(column) for column in zip(*others, strict=True)]
        found.append(speed / candidates[turn][medians.index(max(medians))])
    return median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="for each side and turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, 2, cores()}))
    parser.add_argument("--cases", type=int, default=len(CASES), help="only the first so many rows")
    parser.add_argument("--quality", type=int, metavar="CHARACTERS", help="train on The Time Machine, too")
    args = parser.parse_args()
    kinds = ["f32", "bf16"] if has_bfloat16(torch.device("cpu")) else ["f32"]  # emulated, it takes minutes
    if compiled.ready():
        kinds += ["numba", "nb16"][: len(kinds)]
    sides = ["book", "plain", "users", *(f"{kind} {count}" for kind in kinds for count in args.threads)]
    symbols = len(set(corpora.read("python-docs").text)) + 1
    print(f"{cores()} cores; characters a second, median of {args.turns} turns\n")
    heads = "".join(f"{side:>9}" for side in sides)
    print(f"cell  units  batch × steps  {heads}   plain ÷ book   users ÷ book   ÷ best   trial")
    rates: dict[torch.dtype, float] = {}
    rows = []
    for case in CASES[: args.cases]:
        cell, hidden, batch, steps = case
        for dtype in (torch.float32, torch.bfloat16):  # again and again: other programs may have the cores
            rates[dtype] = max(products(dtype, cores()), rates.get(dtype, 0.0))
        trial, turns = measured(case, sides, args.seconds, args.turns)
        speeds = "".join(f"{median(row[n] for row in turns):9,.0f}" for n in range(len(sides)))
        plain, recipe = (median(row[n] / row[0] for row in turns) for n in (1, 2))
        best = against_best([row[2] for row in turns], [row[3:] for row in turns])
        print(
            f"{cell:5} {hidden:5}  {batch:5} × {steps:<5}  {speeds}"
            f"   {plain:12.2f}   {recipe:12.2f}   {best:6.2f}   {trial:4.1f} s",
            flush=True,
        )
        rows.append((case, median(row[2] for row in turns), recipe, best))
    peak = max(rates.values())
    print(", ".join(f"{str(dtype)[6:]} {rate / 1e9:,.0f} GFLOP/s" for dtype, rate in rates.items()))
    for (cell, hidden, batch, steps), pace, recipe, best in rows:
        share = pace * work(TrainConfig(cell, hidden), symbols) / peak
        what, wanted = f"training ({cell}, {hidden} units, {batch} × {steps})", 2.5 if hidden == 512 else 1.5
        figure(
            f"{what} ÷ the textbook's loop", recipe, "×", at_least=None if share >= 0.75 else wanted,
            beside=f"{pace:,.0f} characters a second, {share:.0%} of the fastest product", front=batch == 32,
        )  # fmt: skip
        figure(f"{what} ÷ the best candidate", best, "×", at_least=0.95)
    if args.quality:
        quality(args.quality, args.threads[-1])


if __name__ == "__main__":
    main()

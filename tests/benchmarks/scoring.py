"""How fast a long text is scored, beside torch's fused layer, a loop and an n-gram model; and its memory.

    python tests/benchmarks/scoring.py [--threads N] [--characters N] [--memory]

    sequence   embedding, torch's fused layer called on 1,024 characters with its state carried, readout and
               log-softmax, nothing else
    loop       the same called on one character at a time
    rnnviz     what `rnnviz.perplexity` uses: long texts as stretches side by side, every seam checked

The first two read the beginning of the text only; what is compared are characters a second, and the ratio
is above 1 where rnnviz is faster. The models are random: weights make no difference to the time as long as
the network forgets, and the last column says how much was read again because it did not.

`--memory` scores a small and a large file from the command line instead, and prints the peak of each.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch

import rnnviz
from rnnviz import CharModel, ModelConfig
from rnnviz.networks.config import Cell
from rnnviz.text.vocabulary import Vocabulary
from tests.benchmarks.figures import figure

SHAPES: tuple[tuple[Cell, int, int], ...] = (
    ("rnn", 256, 1),
    ("gru", 256, 1),
    ("gru", 512, 1),
    ("lstm", 256, 1),
    ("lstm", 512, 1),
)
CHUNK = 1024
ROUNDS = 3
BEGINNING = 20 * CHUNK  # what the sequence reads
LOOP = 2 * CHUNK
VOCABULARY = Vocabulary(tuple(map(chr, range(32, 127))))

Ids = npt.NDArray[np.int64]


def yardstick(model: CharModel, ids: Ids, chunk: int = CHUNK) -> float:
    """The summed log probability of `ids` by torch's layers alone, called on `chunk` characters."""
    layer, carried, total = model.recurrence, None, 0.0
    inputs = torch.from_numpy(np.concatenate(([model.vocabulary.start], ids[:-1])))
    targets = torch.from_numpy(ids)
    with torch.inference_mode():
        for begin in range(0, len(ids), chunk):
            x = model.embed(inputs[None, begin : begin + chunk])
            h, carried = layer(x, carried)
            log_probs = torch.log_softmax(model.readout(h[0]), dim=-1)
            total += float(log_probs.gather(1, targets[begin : begin + chunk, None]).sum())
    return total


def ours(model: CharModel, ids: Ids) -> float:
    """The same through the scorer that `rnnviz.perplexity` uses."""
    return float(model.scorer().advance(ids).sum())


def speed(score: Callable[[], object], characters: int) -> float:
    """Characters a second of one call."""
    began = time.perf_counter()
    score()
    return characters / (time.perf_counter() - began)


def peaks(model: str, sizes: tuple[int, int]) -> None:
    """The peak memory of the command line on files of these sizes, in bytes of UTF-8."""
    line = "It was a long while before anyone spoke, and then the traveller laughed and told them of it.\n"
    measured = (
        "import atexit, resource, runpy, sys\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "atexit.register(lambda: print(peak(), file=sys.stderr))\n"
        "runpy.run_module('rnnviz', run_name='__main__', alter_sys=True)"
    )
    for size in sizes:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write((line * (size // len(line) + 1))[:size])
            file.flush()
            command = [sys.executable, "-c", measured, "perplexity", file.name, "--model", model]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        print(f"{model}: {size:12,} bytes, peak {int(done.stderr.split()[-1]) / 1024:6.0f} MB", flush=True)


def main() -> None:
    """Print one line per model."""
    parser = argparse.ArgumentParser(description="Scoring speed beside torch's fused layer.")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--characters", type=int, default=1_000_000)
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    n, threads = arguments.characters, arguments.threads
    torch.set_num_threads(threads)
    if arguments.memory:
        for name in ("timemachine-6gram", "timemachine-rnn"):
            peaks(name, (50_000, n))
        return
    print(f"{n:,} characters, {threads} threads, characters a second, median of {ROUNDS}\n")
    print("model          rnnviz   sequence      loop   rnnviz ÷ sequence   rnnviz ÷ loop   read again")
    for cell, hidden, layers in SHAPES:
        torch.manual_seed(0)
        model = CharModel(ModelConfig(cell, VOCABULARY.size, hidden, layers), VOCABULARY)
        ids = np.random.default_rng(0).integers(1, VOCABULARY.size, n)
        head, start = ids[:BEGINNING], ids[:LOOP]
        error = abs(ours(model, head) - yardstick(model, head)) / len(head)
        assert error < 1e-5, f"the two differ by {error} nats a character"
        rounds = [
            (
                speed(lambda m=model, i=ids: ours(m, i), n),
                speed(lambda m=model, i=head: yardstick(m, i), len(head)),
                speed(lambda m=model, i=start: yardstick(m, i, 1), len(start)),
            )
            for _ in range(ROUNDS)
        ]
        mine, sequence, loop = (statistics.median(column) for column in zip(*rounds, strict=True))
        scorer = model.scorer()
        scorer.advance(ids)
        again = scorer._wide.read_again / n if scorer._wide else 0.0
        print(
            f"{cell}-{hidden} × {layers:<3} {mine:10,.0f} {sequence:10,.0f} {loop:9,.0f}   "
            f"{mine / sequence:17.2f}   {mine / loop:13.1f}   {again:10.1%}",
            flush=True,
        )
        figure(
            f"scoring a long text ({cell}, {hidden} units)", mine, "characters a second",
            beside=f"{mine / sequence:.1f} × torch's fused layer in sequence, {mine / loop:.0f} × a loop",
            front=(cell, hidden) in (("gru", 256), ("gru", 512), ("lstm", 512)),
        )  # fmt: skip
    counts = rnnviz.load("timemachine-6gram")
    ids = np.random.default_rng(0).integers(1, counts.vocabulary.size, n)
    print(f"6-gram       {speed(lambda: counts.scorer().advance(ids), n):10,.0f}")


if __name__ == "__main__":
    main()

"""How fast one text is scored, beside torch's own fused layer called on chunks of 1,024 characters.

    python tests/benchmarks/scoring.py [--threads N]

The yardstick is embedding, fused layer with its state carried, readout and
log-softmax, nothing else. Both score the same characters in turn, several times; the
ratio is of the medians, above 1 where rnnviz is faster. The models are random:
weights make no difference to the time.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch

from rnnviz import CharModel, ModelConfig
from rnnviz.config import Cell
from rnnviz.vocabulary import Vocabulary

SHAPES: tuple[tuple[Cell, int, int], ...] = (
    ("rnn", 256, 1),
    ("gru", 256, 1),
    ("gru", 256, 2),
    ("lstm", 256, 1),
    ("lstm", 512, 1),
)
CHUNK = 1024
ROUNDS = 7
VOCABULARY = Vocabulary(tuple(map(chr, range(32, 127))))

Ids = npt.NDArray[np.int64]


def yardstick(model: CharModel, ids: Ids) -> float:
    """The summed log probability of `ids` by torch's layers alone."""
    layer, carried, total = model.recurrence, None, 0.0
    inputs = torch.from_numpy(np.concatenate(([model.vocabulary.start], ids[:-1])))
    targets = torch.from_numpy(ids)
    with torch.inference_mode():
        for begin in range(0, len(ids), CHUNK):
            x = model.embed(inputs[None, begin : begin + CHUNK])
            h, carried = layer(x, carried)
            log_probs = torch.log_softmax(model.readout(h[0]), dim=-1)
            total += float(log_probs.gather(1, targets[begin : begin + CHUNK, None]).sum())
    return total


def ours(model: CharModel, ids: Ids) -> float:
    """The same through the scorer that `rnnviz.perplexity` uses."""
    return float(model.scorer().advance(ids).sum())


def seconds(score: Callable[[CharModel, Ids], float], model: CharModel, ids: Ids) -> float:
    """The time of one call."""
    begin = time.perf_counter()
    score(model, ids)
    return time.perf_counter() - begin


def main() -> None:
    """Print one line per model."""
    parser = argparse.ArgumentParser(description="Scoring speed beside torch's fused layer.")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--characters", type=int, default=4 * CHUNK)
    n, threads = (arguments := parser.parse_args()).characters, arguments.threads
    torch.set_num_threads(threads)
    print(f"{n:,} characters, {threads} threads, median of {ROUNDS}")
    for cell, hidden, layers in SHAPES:
        torch.manual_seed(0)
        model = CharModel(ModelConfig(cell, VOCABULARY.size, hidden, layers), VOCABULARY)
        ids = np.random.default_rng(0).integers(1, VOCABULARY.size, n)
        error = abs(ours(model, ids) - yardstick(model, ids)) / n
        assert error < 1e-5, f"the two differ by {error} nats a character"
        pairs = [(seconds(ours, model, ids), seconds(yardstick, model, ids)) for _ in range(ROUNDS)]
        mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(
            f"{cell}-{hidden} × {layers}: rnnviz {n / mine:9,.0f} characters a second, "
            f"torch's layer {n / theirs:9,.0f}, ratio {theirs / mine:.2f}"
        )


if __name__ == "__main__":
    main()

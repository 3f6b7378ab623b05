"""How often a piece's interval holds what comes next in the same text, and what else is held.

    python tests/benchmarks/coverage.py MODEL=FILE [MODEL=FILE …] [--pieces N] [--cache FOLDER]

    python tests/benchmarks/coverage.py timemachine-gru=tinyshakespeare.txt python-gru=programs.py

The model reads the whole file once; `--cache` keeps the costs. Of pieces drawn at random:

    none       the share that gets no interval: too short, drifting or uneven
    next       of the others, the share whose interval holds the perplexity of as many characters after them
    before     of as many characters before them
    whole      of the whole file, of which the interval does not speak
    ±          the median of √(high ÷ low)
    no gate    next, if drifting and uneven pieces had intervals too: what choosing among pieces costs
    blocks     what a moving-block bootstrap, blocks by Politis and White (2004), holds of next and of whole

A text whose beginning the model was trained on is two texts; take others.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rnnviz.networks import checkpoint
from rnnviz.reading.passages import OCTAVES, next_stretch
from rnnviz.reading.resampling import resample
from rnnviz.reading.scoring import pieces
from rnnviz.reports import interval as intervals

LENGTHS = (500, 2_000, 20_000, 100_000)
HEAD = ("none", "next", "before", "whole", "±", "no gate", "blocks: next", "whole")

Floats = npt.NDArray[np.float64]


def costs_of(model: str, file: Path, cache: Path | None) -> Floats:
    """Nats of each character, (n,)."""
    kept = None if cache is None else cache / f"{model}.{file.stem}.npy"
    if kept is not None and kept.is_file():
        return np.load(kept).astype(np.float64)
    text = file.read_text(encoding="utf-8")
    found = np.concatenate([piece.nll for piece in pieces(checkpoint.load(model), text=text)])
    if kept is not None:
        np.save(kept, found.astype(np.float32))
    return found


def row(costs: Floats, length: int, pieces: int) -> list[float]:
    """The figures of HEAD."""
    whole = costs.mean()
    held: list[list[float]] = []
    for start in np.random.default_rng(length).integers(length, len(costs) - 2 * length + 1, pieces).tolist():
        piece = costs[start : start + length]
        truths = np.array(
            [costs[start + length : start + 2 * length].mean(), costs[start - length : start].mean(), whole]
        )
        found = intervals.interval(piece)
        given = found.low is not None and found.high is not None
        low, high = (np.log(found.low), np.log(found.high)) if given else (np.nan, np.nan)
        sums = intervals.Sums()
        sums.add(piece)
        squares = [intervals._differences(sums, length >> j) for j in range(1, OCTAVES + 1)]
        half = next_stretch(squares, intervals.SLOPE).half_width(0.95)
        drawn = resample(piece)
        held.append(
            [
                given,
                *((low <= truths) & (truths <= high)),
                high - low,
                abs(truths[0] - piece.mean()) <= half,
                drawn.low <= truths[0] <= drawn.high,
                drawn.low <= whole <= drawn.high,
            ]
        )
    table = np.array(held, np.float64)
    shown = table[table[:, 0] == 1]
    nothing = np.full(3, np.nan)
    return [
        1 - table[:, 0].mean(),
        *(shown[:, 1:4].mean(axis=0) if len(shown) else nothing),
        float(np.exp(np.median(shown[:, 4]) / 2)) if len(shown) else np.nan,
        *table[:, 5:].mean(axis=0),
    ]


def main() -> None:
    """Print a row for each model, text and length."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", nargs="+", metavar="MODEL=FILE")
    parser.add_argument("--pieces", type=int, default=200)
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    print(f"{'model':18} {'text':18} {'piece':>9} " + " ".join(f"{name:>7}" for name in HEAD))
    for pair in options.pairs:
        name, _, file = pair.partition("=")
        costs = costs_of(name, Path(file), options.cache)
        for length in LENGTHS:
            if 3 * length >= len(costs):
                continue
            found = row(costs, length, options.pieces)
            shown = [f"{value:7.2f}" if n == 4 else f"{value:7.0%}" for n, value in enumerate(found)]
            print(f"{name:18} {Path(file).name[:18]:18} {length:9,} " + " ".join(shown))
            sys.stdout.flush()


if __name__ == "__main__":
    main()

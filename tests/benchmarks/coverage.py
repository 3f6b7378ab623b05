"""How often the interval of a piece of a book holds the whole book's perplexity.

    python tests/benchmarks/coverage.py MODEL=FILE [MODEL=FILE …] [--pieces N]

    python tests/benchmarks/coverage.py timemachine-gru=tinyshakespeare.txt chinese-gru=xiyouji.txt

The model reads the whole file once; pieces of it, drawn at random, are each given the interval that
`rnnviz.reports.interval` makes of them, and the truth is the perplexity of the whole. Of intervals at 95 %
it should be held by 95 in 100: what is missing, a piece can't tell of the book it is from. A book whose
beginning the model was trained on is two books, and its pieces tell even less. `width` is the median of
high ÷ low, `none` the share of pieces that get no interval.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

from rnnviz.networks import checkpoint
from rnnviz.reports.interval import Interval, interval
from rnnviz.reports.record import Record
from tests.reports.recorded import recorded, told

LENGTHS = (500, 2_000, 20_000, 100_000)


def intervals(book: Record, length: int, pieces: int, folder: Path) -> list[Interval]:
    """The intervals of so many pieces of a scored text, as its page would have shown them."""
    costs, found = book.read("nll"), []
    for start in np.random.default_rng(length).integers(0, len(book) - length + 1, pieces).tolist():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            piece = told(Path(place), book.text(start, start + length), costs[start : start + length])
            found.append(interval(piece, samples=500))
    return found


def main() -> None:
    """Print a row for each model, text and length."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", nargs="+", metavar="MODEL=FILE")
    parser.add_argument("--pieces", type=int, default=200)
    options = parser.parse_args()
    print(f"{'model':18} {'text':18} {'piece':>9} {'held':>6} {'width':>6} {'none':>5}")
    with tempfile.TemporaryDirectory() as folder:
        for pair in options.pairs:
            name, _, file = pair.partition("=")
            text = Path(file).read_text(encoding="utf-8")
            book = recorded(Path(folder), checkpoint.load(name), text)
            for length in LENGTHS:
                if 2 * length > len(book):
                    continue
                found = intervals(book, length, options.pieces, Path(folder))
                shown = [(i.low, i.high) for i in found if i.low is not None and i.high is not None]
                held = sum(low <= book.report.perplexity <= high for low, high in shown)
                width = statistics.median(high / low for low, high in shown) if shown else float("nan")
                print(
                    f"{name:18} {Path(file).name[:18]:18} {length:9,} {held / max(1, len(shown)):6.0%} "
                    f"{width:6.2f} {1 - len(shown) / len(found):5.0%}"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()

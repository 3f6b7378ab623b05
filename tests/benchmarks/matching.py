"""How long a corpus takes to index, what it takes on disk, and how long a search in it takes.

    python tests/benchmarks/matching.py [--model timemachine-gru] [--corpus tinyshakespeare]
        [--characters 1000000] [--queries 50]

The queries are passages of 3 to 12 characters from all over the corpus, at a threshold of 0.5 (an LSTM's
0.3); `cold` are the same after the system was asked to drop the index from its memory. A row for the search
alone, and one for what a page shows of its 20 matches: contexts, the next characters, and the units along
the context.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import rnnviz
from rnnviz import units
from rnnviz.networks.checkpoint import load_numpy
from rnnviz.text import corpora
from rnnviz.units.matching import column, shares
from tests.benchmarks.figures import figure

BEFORE, AFTER = 48, 24


def drop(folder: Path) -> None:
    """Ask the system to forget what it holds of these files."""
    for file in folder.iterdir():
        with open(file, "rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def timed(act: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    act()
    return 1000 * (time.perf_counter() - began)


def shown(index: units.Index, model: object, found: units.Matches) -> None:
    """What a page shows of each match."""
    columns = [column(unit, index.units) for unit in found.pattern.units]
    for match in found.found:
        start, stop = max(0, match.start - BEFORE), min(len(index), match.stop + AFTER)
        index.text(start, stop)
        index.next(model, match.stop - 1)  # type: ignore[arg-type]
        shares(index.values(start, stop, columns), found.pattern)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="timemachine-gru")
    parser.add_argument("--corpus", default="tinyshakespeare")
    parser.add_argument("--characters", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=50)
    options = parser.parse_args()
    model = load_numpy(options.model)
    text = corpora.open_corpus(options.corpus).text[: options.characters]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "index")
        began = time.perf_counter()
        index = units.run(units.index(model, text, path))
        seconds = time.perf_counter() - began
        size = sum(file.stat().st_size for file in path.iterdir())
        each = (path / "values.npy").stat().st_size / (len(index) * index.layers * index.units)
        print(f"{index}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(
            f"indexed in {seconds:.1f} s; {size / 1e6:,.0f} MB on disk, {each:.3f} bytes a unit and character"
        )
        patterns = drawn(model, text, options.queries)
        sizes = [len(pattern) for pattern in patterns]
        print(f"{len(patterns)} passages; {statistics.median(sizes)} units, at most {max(sizes)}")
        for name in ("warm", "cold"):
            searches, rows = [], []
            for pattern in patterns:
                if name == "cold":
                    del index  # what is mapped stays in memory
                    drop(path)
                    index = units.open_index(path)
                searches.append(timed(partial(index.match, pattern)))
                found = index.match(pattern)
                rows.append(timed(partial(shown, index, model, found)))
            for what, times in (("search", searches), ("rows", rows)):
                middle, slowest = statistics.median(times), max(times)
                print(f"{name} {what:6}  median {middle:6.1f} ms   slowest {slowest:6.1f} ms")
                shown_as = "a search" if what == "search" else "what a page shows of its matches"
                beside = f"slowest {slowest:.0f} ms; the index's files {name}"
                figure(f"{shown_as} in {len(text):,} characters, {name}", middle, "ms", beside=beside)


def drawn(model: object, text: str, count: int) -> list[units.Pattern]:
    """Patterns of passages from all over the text, each read with the 500 characters before it."""
    generator = np.random.default_rng(0)
    threshold = 0.3 if model.config.cell == "lstm" else 0.5  # type: ignore[attr-defined]
    found: list[units.Pattern] = []
    while len(found) < count:
        at, length = int(generator.integers(500, len(text) - 20)), int(generator.integers(3, 13))
        trace = rnnviz.trace(model, text[at - 500 : at + length])  # type: ignore[arg-type]
        pattern = units.pattern(trace, 500, 500 + length, threshold=threshold)
        if len(pattern):
            found.append(pattern)
    return found


if __name__ == "__main__":
    main()

"""Whether what is said of a network's memory depends on how long the text is.

    python tests/benchmarks/memory.py [--model NAME ...] [--lengths N ...]

For each length, from the beginning of what was held out of the model's corpus: the half-life by a line
through the median gradient (at most 1,000 characters), beside how many of the last characters hold half of
the gradient, the share of it more than 10, 20 and 50 characters back, and the median of the gates' time
constants, each with its interval over passages of 95 %, where the text is long enough for one.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import rnnviz
from rnnviz import gradients, units
from rnnviz.networks.checkpoint import load_numpy
from rnnviz.networks.config import CELLS
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.reading.resampling import Resampled
from rnnviz.text import corpora

CORPORA = {"timemachine": "timemachine", "python": "python-docs", "shakespeare": "tinyshakespeare"}


def said(found: Resampled, at: int | None = None) -> str:
    """An estimate with its interval."""
    value, low, high = (x if at is None else x[at] for x in (found.estimate, found.low, found.high))
    return f"{value:7.3f} [{low:.3f}, {high:.3f}]" if found.enough else f"{value:7.3f}" + 16 * " "


def main() -> None:
    """Print one line a model and length."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", action="append", metavar="NAME")
    parser.add_argument("--lengths", type=int, nargs="*", default=[200, 500, 1_000, 2_000, 5_000])
    options = parser.parse_args()
    for name in options.model or ["timemachine-gru", "timemachine-lstm"]:
        model = load_numpy(name)
        assert isinstance(model, NumpyModel)
        text = corpora.read(CORPORA[name.split("-")[0]]).split().held_out
        print(f"{name}: characters, line's half-life, half within, beyond 10, 20, 50, gates' median, seconds")
        for length in options.lengths:
            begin = time.perf_counter()
            found = units.run(gradients.reach(model, text[:length]))
            took = time.perf_counter() - begin
            line = np.nan if length > 1_000 else gradients.connectivity(model, text[:length]).half_life()
            gates = ""
            if CELLS[model.config.cell].keeps:
                gates = said(units.gates(rnnviz.trace(model, text[:length])).median)
            shares = "  ".join(said(found.beyond, lag) for lag in (10, 20, 50))
            print(f"{length:6,} {line:6.1f} {said(found.half)}  {shares}  {gates}  {took:.1f}", flush=True)


if __name__ == "__main__":
    main()

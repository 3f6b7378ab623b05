"""How often Inside and `rnnviz units` say something of units that isn't so.

    python tests/benchmarks/claims.py --file BOOK [--model NAME …] [--trials N] [--only finds|memory]

**Finds.** Random telegraph targets, on and off for `dwell` characters on average, have nothing to do with the
text, so whatever is found for them is false. `first` is the share of searches in which the unit that ranked
first is above chance, which is what counts as found; `another` that in which it is not and another unit is:
such a unit would be chosen by the half that measures it. At most 5 % may be false.

**Memory.** On the beginning of the book, for every target, the verdict on the network itself and on untrained
networks of its shape, beside three other untrained copies. None of those remembers anything it was taught,
so none may be said to remember.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

import rnnviz
from rnnviz import units
from rnnviz.networks import untrained
from rnnviz.networks.checkpoint import load_numpy
from rnnviz.networks.numpy_model import NumpyModel

LENGTHS = (500, 2_000, 20_000)
DWELLS = (5, 20, 100)
FIRST_SEED = 100  # of the untrained networks that are judged: the controls have 0, 1 and 2


def telegraph(length: int, dwell: int, seed: int) -> units.Target:
    """On and off in turn, each time for `dwell` characters on average."""
    drawn = np.random.default_rng([length, dwell, seed]).random(length)
    return units.Target("telegraph", np.cumsum(drawn < 1 / dwell) % 2 == 1)


def finds(model: NumpyModel, text: str, trials: int) -> None:
    """Print the false finds at each length and dwell time."""
    for length in LENGTHS:
        searcher = units.Searcher(rnnviz.trace(model, text[:length]))
        for dwell in DWELLS:
            targets = (telegraph(length, dwell, seed) for seed in range(trials))
            searches = [searcher.search(one) for one in targets if one.varies]
            searches = [one for one in searches if one.held_out]
            first = [one.best.score > one.chance for one in searches]
            another = [bool(s.above_chance) and not f for s, f in zip(searches, first, strict=True)]
            print(
                f"{model.name:18} {length:10,} {dwell:6} {len(searches):8} "
                f"{np.mean(first):7.1%} {np.mean(another):8.1%} {np.mean(first) + np.mean(another):8.1%}",
                flush=True,
            )


def memory(model: NumpyModel, text: str, copies: int) -> None:
    """Print the verdicts on the network and on `copies` untrained ones."""
    targets = [one for name in units.KINDS if (one := units.target(name, text)).varies]
    controls = units.run(units.control(model, text, targets))
    judged = [("itself", model)]
    judged += [(f"untrained {n}", untrained.untrained(model, FIRST_SEED + n)) for n in range(copies)]
    for what, network in judged:
        searcher, said = units.Searcher(rnnviz.trace(network, text)), Counter[str]()
        named = []
        for target, scores in zip(targets, controls, strict=True):
            found = replace(searcher.search(target), untrained=scores)
            said[found.verdict] += 1
            if found.verdict == "remembers":
                named.append(f"{target.name} {found.best.score:.3f} > {max(scores):.3f}")
        others = ", ".join(f"{n} {v}" for v, n in said.items() if v != "remembers")
        print(
            f"{model.name:18} {what:12} remembers {len(named)}: {'; '.join(named) or '–'}; {others}",
            flush=True,
        )


def main() -> None:
    """Print both tables for each model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--file", required=True, help="a text of 40,000 characters or more")
    parser.add_argument(
        "--model", action="append", help="again for more (default: timemachine-gru, -rnn, -mlp)"
    )
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--copies", type=int, default=5)
    parser.add_argument("--only", choices=("finds", "memory"))
    options = parser.parse_args()
    text = Path(options.file).read_text(encoding="utf-8")[:40_000]
    models = [
        load_numpy(n) for n in options.model or ("timemachine-gru", "timemachine-rnn", "timemachine-mlp")
    ]
    if options.only != "memory":
        head = f"{'characters':>10} {'dwell':>6} {'searches':>8} {'first':>7} {'another':>8} {'both':>8}"
        print(f"{'model':18} {head}")
    for model in models:
        assert isinstance(model, NumpyModel), f"{model.name} has no units"
        if options.only != "memory":
            finds(model, text, options.trials)
    for model in models:
        if options.only != "finds":
            memory(model, text, options.copies)


if __name__ == "__main__":
    main()

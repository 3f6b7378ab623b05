"""Whether what is said of causes holds up: rankings by loss, and changes beside random ones.

    python tests/benchmarks/causes.py ranking [--model NAME ...] [--characters N]
    python tests/benchmarks/causes.py random [--model NAME ...] [--characters N] [--trials N]

`ranking`: reads N characters of the model's corpus, what was held out first, without each unit, and prints
for the first 2,000, 4,000, … of them the rank correlation of the losses between their two halves, and with
the next stretch of equal length, the length that is said to be needed, the unit that is missed most, which
place it has in the next stretch, and the seconds it took in proportion.

`random`: takes random units, and random directions, and counts how often it is said of one that it matters
more than 95 % of random changes do, and that it matters more inside quotations: there is nothing special to
any, so that should be at most 5 in 100.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from rnnviz import units
from rnnviz.networks.checkpoint import load_numpy
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.text import corpora
from rnnviz.text.normalising import normalise
from rnnviz.units import directions
from rnnviz.units.ablated import Ablation
from rnnviz.units.ranking import correlation, ranks

CORPORA = {"timemachine": "timemachine", "python": "python-source", "shakespeare": "tinyshakespeare"}


def opened(name: str, characters: int, file: str | None) -> tuple[NumpyModel, str]:
    """A network and the text it is measured on: `file`, or the corpus that it was trained on."""
    model = load_numpy(name)
    assert isinstance(model, NumpyModel)
    corpus = corpora.from_file(file) if file else corpora.read(CORPORA[name.split("-")[0]])
    split = corpus.split()
    return model, normalise(split.held_out + split.validation + split.train, model.normaliser)[:characters]


def stretch(found: Ablation, begin: int, end: int) -> Ablation:
    """The result of the passages between two characters alone."""
    assert found.passages is not None
    assert found.counts is not None
    first, last = np.searchsorted(np.cumsum(found.counts), [begin, end], side="right").tolist()
    sums, counts = found.passages[first:last], found.counts[first:last]
    n, nothing = int(counts.sum()), np.full(len(found.units), np.nan)
    return Ablation(found.layer, found.units, sums.sum(axis=0) / n, nothing, np.nan, nothing, n, sums, counts)


def ranking(name: str, characters: int, file: str | None) -> None:
    """Print how well the ranking replicates on ever longer texts."""
    model, text = opened(name, characters, file)
    begin = time.perf_counter()
    found = units.run(units.ablate(model, text, to="mean"))
    took = time.perf_counter() - begin
    print(f"{name}, {len(found.units)} units")
    print("characters  halves  next stretch  needed       first  in the next  seconds")
    length = 2_000
    while length <= len(text):
        part = stretch(found, 0, length)
        beside, place = np.nan, "–"
        if 2 * length <= len(text):
            after = stretch(found, length, 2 * length)
            beside = float(correlation(ranks(part.loss[:, None]), ranks(after.loss))[0])
            place = str(1 + after.order.tolist().index(part.order[0]))
        print(
            f"{length:10,}  {part.replication:6.2f}  {beside:12.2f}  {part.needed:11,.0f}  "
            f"{part.order[0]:5}  {place:>11}  {took * length / len(text):7.0f}",
            flush=True,
        )
        length *= 2


def random(name: str, characters: int, trials: int, file: str | None) -> None:
    """Print how often something is said of what was drawn at random."""
    model, text = opened(name, characters, file)
    H = model.config.hidden_size
    target = units.target("quotes", text, unclosed="line" if name.startswith("python") else "paragraph")
    drawn = np.random.default_rng(1).permutation(H)[:trials].tolist()
    kinds = {
        "units": [units.Intervention((unit,), layer=0) for unit in drawn],
        "directions": [units.Intervention(directions.random(H, 10_000 + n)) for n in range(trials)],
    }
    for kind, changes in kinds.items():
        more, there, none = 0, 0, 0
        for seed, change in enumerate(changes):
            found = units.run(units.effect(model, text, change, target=target, seed=seed))
            apart = found.conditional
            assert apart is not None
            none += not found.lead.enough
            more += bool(found.lead.estimate > 0 and found.lead.excludes())
            there += bool(apart.estimate > 0 and apart.excludes())
        print(
            f"{name}, {len(changes)} random {kind} set to 0, {characters:,} characters: matters {more}, "
            f"matters inside quotations {there}, no interval {none}",
            flush=True,
        )


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("ranking", "random"))
    parser.add_argument("--model", action="append", metavar="NAME")
    parser.add_argument("--file", metavar="TEXT", help="its last tenth is read first (default: its corpus)")
    parser.add_argument("--characters", type=int, metavar="N")
    parser.add_argument("--trials", type=int, default=40, metavar="N")
    options = parser.parse_args()
    for name in options.model or ["timemachine-gru"]:
        if options.what == "ranking":
            ranking(name, options.characters or 64_000, options.file)
        else:
            random(name, options.characters or 5_000, options.trials, options.file)


if __name__ == "__main__":
    main()

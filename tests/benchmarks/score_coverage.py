"""How often the interval of a unit's score, and of its lead, holds what the whole of a long text gives.

    python tests/benchmarks/score_coverage.py MODEL=FILE [MODEL=FILE …] [--quantity cell] [--pieces N]

    python tests/benchmarks/score_coverage.py timemachine-gru=tinyshakespeare.txt python-gru=programs.py

The model reads the file once, and an untrained copy does. In pieces drawn at random each target is searched
for; the unit that ranks first is scored on the third part, with its lead over the untrained unit that tells
most of the whole text. Of those pieces:

    none     the share where there is no interval: the target starts and stops too few times
    score    of the others, the share whose interval holds the unit's score on the whole file
    ±        the median of half its width
    lead, ±  the same of the lead
    blocks   the share that a moving-block bootstrap, blocks by Politis and White (2004), holds of both
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

import rnnviz
from rnnviz import units
from rnnviz.networks import checkpoint, untrained
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.reading.resampling import resample
from rnnviz.text.normalising import normalise
from rnnviz.units import ranking
from rnnviz.units.scores import Scores
from tests.benchmarks.claims import telegraph

LENGTHS = (20_000, 50_000, 150_000)
MOST = 600_000  # characters of a file
PATTERNS = (
    r"\bthe\b",
    r"\bself\b[^\n]*",
    r"\breturn\b[^\n]*",
    r"\bI\b[^.]*",
    r"\n[A-Z ]+:",
    r", and [^.]*",
    "道",
)

Floats = npt.NDArray[np.floating]
Doubles = npt.NDArray[np.float64]


def asked(text: str, python: bool) -> list[units.Target]:
    """The targets by name, patterns, and two that have nothing to do with the text."""
    unclosed = "line" if python else "paragraph"
    targets = [units.target(name, text, unclosed=unclosed) for name in units.kinds(text)]
    targets += [units.pattern_target(pattern, text, timeout=60) for pattern in PATTERNS]
    targets += [telegraph(len(text), dwell, 0) for dwell in (40, 200)]
    return [target for target in targets if target.varies and np.mean(target.values > 0) > 5e-4]


def whole(states: Floats, targets: list[units.Target]) -> Doubles:
    """The score (targets, U) of each unit on the whole text, in the direction up."""
    graded = [ranking.ranks(target.values) if target.graded else None for target in targets]
    found = np.empty((len(targets), states.shape[1]))
    for u in range(states.shape[1]):
        ranked = ranking.ranks(states[:, u].astype(np.float32))[:, None]
        for row, (target, ranks) in enumerate(zip(targets, graded, strict=True)):
            score = (
                ranking.auc(ranked, target.values) if ranks is None else ranking.correlation(ranked, ranks)
            )
            found[row, u] = score[0]
    return found


def signed(score: float, graded: bool, direction: int) -> float:
    """A score in a direction."""
    return score if direction > 0 else -score if graded else 1 - score


def states(model: NumpyModel, text: str, quantity: str) -> list[Floats]:
    """The states (T, U) of the first layer, and those of an untrained copy."""
    return [
        units.activations(rnnviz.trace(network, text), layer=0, quantity=quantity).astype(np.float16)
        for network in (model, untrained.untrained(model, 0))
    ]


def rows(name: str, text: str, both: list[Floats], pieces: int) -> None:
    """Print a row for each length."""
    targets = asked(text, name.startswith("python"))
    truths = [whole(each, targets) for each in both]
    for length in LENGTHS:
        if 3 * length > len(text):
            continue
        held: list[list[float]] = []
        count = 0
        for start in np.random.default_rng(length).integers(0, len(text) - length, pieces).tolist():
            here = slice(start, start + length)
            searcher = units.Searcher(both[0][here].astype(np.float32))
            for target, *truth in zip(targets, *truths, strict=True):
                piece = units.Target(target.name, target.values[here])
                if not piece.varies or not searcher.split(piece).blocks:
                    continue
                count += 1
                held += [row] if (row := one(searcher, piece, both[1][here], truth)) else []
        table = np.array(held)
        shares = table.mean(axis=0)
        print(
            f"{name:16} {length:9,} {1 - len(held) / count:5.0%} {shares[0]:6.1%} "
            f"{np.median(table[:, 1]):6.3f} {shares[2]:6.1%} {np.median(table[:, 3]):6.3f} "
            f"{shares[4]:7.1%} {shares[5]:6.1%}",
            flush=True,
        )


def one(
    searcher: units.Searcher, target: units.Target, copy: Floats, truth: list[Doubles]
) -> list[float] | None:
    """What is held of one target on one piece; None where there is no interval."""
    best = searcher.search(target, shifts=0).best
    split = searcher.split(target)
    part = split.second if split.third is None else split.third
    middle = 0.0 if target.graded else 0.5
    their = int(np.argmax(np.abs(truth[1] - middle)))
    turned = 1 if truth[1][their] > middle else -1
    own = searcher.values[part, best.unit.unit] * best.direction
    scores = Scores.of(
        np.column_stack([own, copy[part, their].astype(np.float32) * turned]), target.values[part]
    )
    if not scores.sure:
        return None
    score = signed(float(truth[0][best.unit.unit]), target.graded, best.direction)
    lead = score - signed(float(truth[1][their]), target.graded, turned)
    (low, high), rival = scores.interval(), scores.rival(1, "untrained", 0)
    assert rival.low is not None
    assert rival.high is not None
    blocks = resample(np.column_stack([scores.parts[:, 0], scores.parts[:, 0] - scores.parts[:, 1]]))
    beside = np.array([score - scores.values[0], lead - (scores.values[0] - scores.values[1])])
    return [
        low <= score <= high,
        (high - low) / 2,
        rival.low <= lead <= rival.high,
        (rival.high - rival.low) / 2,
        *((blocks.low <= beside) & (beside <= blocks.high)),
    ]


def main() -> None:
    """Print a row for each model and length."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", nargs="+", metavar="MODEL=FILE")
    parser.add_argument("--quantity", default="hidden")
    parser.add_argument("--pieces", type=int, default=30)
    options = parser.parse_args()
    head = "   none  score      ±   lead      ±  blocks: score  lead"
    print(f"{'model':16} {'piece':>9}{head}")
    for pair in options.pairs:
        name, _, file = pair.partition("=")
        model = checkpoint.load_numpy(name)
        assert isinstance(model, NumpyModel), f"{name} has no units"
        text = normalise(Path(file).read_text(encoding="utf-8"), model.normaliser)[:MOST]
        rows(name, text, states(model, text, options.quantity), options.pieces)
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""How often Inside and `rnnviz units` say what isn't so, and how often intervals hold what they should.

    python tests/benchmarks/claims.py [finds] [--file BOOK] [--model NAME …] [--trials N]
    python tests/benchmarks/claims.py passages scores --pairs MODEL=FILE … [--pieces N]

finds     Targets that have nothing to do with the text, in which whatever is found is false: telegraphs, on
          and off for a number of characters on average; spans, as rare and uneven as quotations; and what is
          in the text, shifted around its end. For the network and for an untrained one: the share of
          searches in which the unit that ranked first is above chance, with its 95 % interval, and of
          families of 11 searches with a find by Holm's levels. At most 5 % may be false. Where a target
          changes too seldom for a verdict, none counts.
passages  How often the interval of a piece's perplexity holds what comes next in the same text, which the
          model reads once. Of pieces drawn at random: the share without an interval (too short, drifting or
          uneven); of the others, the share that holds as many characters after them, and before them; half
          the interval's width, as a factor; what a moving-block bootstrap holds of what comes next (blocks by
          Politis and White 2004). A text whose beginning the model was trained on is two texts; take others.
scores    The same of a unit's score, and of its lead over an untrained unit, beside those on the whole text:
          of each target the unit that ranks first in a piece, scored on the third part.
"""

import math
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import binomtest
from sitting import figure, options_of

import rnnviz
from rnnviz import units
from rnnviz.arrays import Doubles
from rnnviz.lab.analysis import evidence, ranking
from rnnviz.lab.analysis.bootstrap import resample
from rnnviz.lab.analysis.search_result import Search, holm
from rnnviz.lab.analysis.searching import Searcher
from rnnviz.lab.analysis.targets import KINDS, Target, pattern_target
from rnnviz.lab.engines import untrained
from rnnviz.networks.checkpoint import load_numpy
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.scoring.interval import interval
from rnnviz.text import corpora

BOOK = (20_000, 40_000)  # characters of the text, for finds
LENGTHS = (20_000, 50_000, 150_000)  # of pieces, for scores
PIECES = (2_000, 20_000, 100_000)  # for passages
MAX_CHARS = 600_000  # characters of a file, for scores
DWELLS = (5, 20, 100, 300)
SHIFTED = ("capital", "word-start", "line-position")
FAMILY = 11
UNTRAINED_SEED = 100  # of the untrained network that is judged: the controls have 0, 1 and 2


def telegraph(length: int, dwell: int, seed: int) -> Target:
    """On and off in turn, each time for `dwell` characters on average."""
    numbers = np.random.default_rng([length, dwell, seed]).random(length)
    return Target("telegraph", np.cumsum(numbers < 1 / dwell) % 2 == 1)


def spans(length: int, seed: int) -> Target:
    """Spans of about 75 characters, some of them far longer, about 400 apart."""
    random, mask, at = np.random.default_rng([length, seed]), np.zeros(length, np.bool_), 0
    while (at := at + 1 + int(random.exponential(400))) < length:
        stop = at + 1 + int(random.lognormal(4, 0.8))
        mask[at:stop] = True
        at = stop
    return Target("spans", mask)


def shifted(target: Target, seed: int) -> Target:
    """`target` shifted around the end, by a twentieth of the text or more."""
    n = len(target)
    by = int(np.random.default_rng([n, seed]).integers(n // 20, n - n // 20))
    return Target(f"{target.name} shifted", np.roll(target.values, by))


def without_cause(real: list[Target], seed: int) -> list[Target]:
    """A target of each kind that has nothing to do with the text, of which `real` ones are."""
    length = len(real[0])
    return [
        *(Target(f"dwell {d}", telegraph(length, d, seed).values) for d in DWELLS),
        spans(length, seed),
        *(shifted(target, seed) for target in real),
    ]


def finds(model: NumpyModel, text: str, lengths: list[int], trials: int) -> None:
    """Print the false finds at each length, of each kind of target."""
    worst = 0.0
    for (reader, network), length in product(
        (("itself", model), ("untrained", untrained.untrained(model, UNTRAINED_SEED))), lengths
    ):
        searcher = Searcher(rnnviz.trace(network, text[:length]))
        real = [units.target(name, text[:length]) for name in SHIFTED]
        real.append(pattern_target(r"[^.!?]*\?", text[:length], timeout=60))
        searches_by_kind: dict[str, list[tuple[Search, bool]]] = {}
        for seed in range(trials):
            for target in without_cause(real, seed):
                judged = (
                    evidence.count_runs(target.values[searcher.split(target).second]) >= evidence.MIN_RUNS
                )
                searches_by_kind.setdefault(target.name, []).append((searcher.search(target), judged))
        false = {
            kind: [judged and search.best.score > search.chance for search, judged in searches]
            for kind, searches in searches_by_kind.items()
        }
        every = [search for searches in searches_by_kind.values() for search in searches]
        np.random.default_rng(0).shuffle(every)  # type: ignore[arg-type]
        families = [every[n : n + FAMILY] for n in range(0, len(every) - FAMILY + 1, FAMILY)]
        false[f"families of {FAMILY}"] = [
            any(
                judged and search.best.p <= search.levels[0]
                for search, (_, judged) in zip(holm(search for search, _ in family), family, strict=True)
            )
            for family in families
        ]
        for kind, results in false.items():
            low, high = binomtest(sum(results), len(results)).proportion_ci(method="wilson")
            share, cells = np.mean(results), f"{model.name:18} {reader:10} {length:10,} {kind:24}"
            print(f"{cells} {share:6.1%}  {low:.1%}–{high:.1%}", flush=True)
            if kind in searches_by_kind:
                worst = max(worst, float(share))
    title = f"searches for a target without a cause that find one ({model.name}), the worst of its kinds"
    figure(title, 100 * worst, "%", most=5)


PATTERNS = (
    r"\bthe\b", r"ing\b", r"\bsaid\b", r"[aeiou]{2}", r"[^aeiou\W]{3}", r"\b[A-Z][a-z]+", r"[,;:]", r"\.",
    r"\b\w{7,}\b", r"\b\w{1,3}\b", r"\n.{20}", r".{10}\n", r"[^.!?]*\?", r"[^.!?]{200,}", r"\bI\b[^.]*",
    r", and [^.]*", r"\bof the \w+",
)  # fmt: skip


def choose_targets(text: str) -> list[Target]:
    """30 targets: those by name, patterns, and as many telegraphs as it takes."""
    targets = [units.target(name, text) for name in KINDS]
    targets += [pattern_target(pattern, text, timeout=60) for pattern in PATTERNS]
    targets = [target for target in targets if target.varies]
    return targets + [telegraph(len(text), 40, seed) for seed in range(30 - len(targets))]


def drawn_at(length: int, first: int, last: int, count: int) -> list[int]:
    """Where pieces of this length begin: `count` places between two, the same every time."""
    return [int(at) for at in np.random.default_rng(length).integers(first, last, count)]


def print_coverage(title: str, length: int, none: float, shares: dict[str, float], width: float) -> None:
    """A line: the share of pieces without an interval, of the others those that hold; half the width."""
    cells = "  ".join(f"{name} {share:4.0%}" for name, share in shares.items())
    print(f"{title:44} {length:8,}  none {none:4.0%}  {cells}  ± {width:.3f}", flush=True)
    name, share = next(iter(shares.items()))
    figure(f"{title}: intervals of {length:,} characters that hold, {name}", 100 * share, "%")


def passages(name: str, file: Path, pieces: int) -> None:
    """Print a line for each length of a piece."""
    read: list[Doubles] = []
    rnnviz.perplexity(rnnviz.load(name), file.read_text("utf-8"), costs=read.append)
    costs = np.concatenate(read)
    for length in (length for length in PIECES if 3 * length < len(costs)):
        rows: list[tuple[float, ...]] = []
        for start in drawn_at(length, length, len(costs) - 2 * length + 1, pieces):
            piece = costs[start : start + length]
            after, before = (costs[at : at + length].mean() for at in (start + length, start - length))
            score_interval, blocks = interval(piece), resample(piece)
            if score_interval.low is not None and score_interval.high is not None:
                low, high = math.log(score_interval.low), math.log(score_interval.high)
                inside = (low <= after <= high, low <= before <= high, blocks.low <= after <= blocks.high)
                rows.append((*inside, math.exp((high - low) / 2)))
        if rows:
            shares = dict(zip(("next", "before", "next by blocks"), np.mean(rows, axis=0), strict=False))
            none, width = 1 - len(rows) / pieces, float(np.median(rows, axis=0)[3])
            print_coverage(f"perplexity, {name}, {file.name}", length, none, shares, width)


def of_whole(states: np.ndarray, target: Target) -> np.ndarray:
    """The score of each unit on the whole text, in the direction up."""
    values = ranking.ranks(target.values) if target.graded else target.values
    score = ranking.correlation if target.graded else ranking.auc
    ranked = (ranking.ranks(column.astype(np.float32))[:, None] for column in states.T)
    return np.array([score(column, values)[0] for column in ranked])


def signed(score: float, graded: bool, direction: int) -> float:
    """A score in a direction."""
    return score if direction > 0 else -score if graded else 1 - score


def intervals_hold(
    searcher: Searcher, target: Target, copy: np.ndarray, truth: list[np.ndarray]
) -> tuple[float, ...] | None:
    """Whether score, lead and the bootstrap of both hold on one piece, and the width; None without one."""
    best, split = searcher.search(target, shifts=0).best, searcher.split(target)
    part = split.second if split.third is None else split.third
    middle = 0.0 if target.graded else 0.5
    their = int(np.argmax(np.abs(truth[1] - middle)))
    turned = 1 if truth[1][their] > middle else -1
    unit_values = searcher.values[part, best.unit.unit] * best.direction
    both = np.column_stack([unit_values, copy[part, their].astype(np.float32) * turned])
    parts = evidence.SeriesScores.from_series(both, target.values[part])
    if not parts.has_intervals:
        return None
    score = signed(float(truth[0][best.unit.unit]), target.graded, best.direction)
    lead = score - signed(float(truth[1][their]), target.graded, turned)
    (low, high), rival = parts.interval(), parts.rival(1, "untrained", 0)
    blocks = resample(np.column_stack([parts.parts[:, 0], parts.parts[:, 0] - parts.parts[:, 1]]))
    beside = np.array([score - parts.values[0], lead - (parts.values[0] - parts.values[1])])
    inside = (blocks.low <= beside) & (beside <= blocks.high)
    return low <= score <= high, rival.low <= lead <= rival.high, *inside, (high - low) / 2


def of_scores(name: str, file: Path, pieces: int) -> None:
    """Print a row for each length of a piece."""
    model = load_numpy(name)
    assert isinstance(model, NumpyModel), f"{name} has no units"
    text = file.read_text("utf-8")[:MAX_CHARS]
    both = [
        units.activations(rnnviz.trace(network, text), layer=0).astype(np.float16)
        for network in (model, untrained.untrained(model, 0))
    ]
    targets = [target for target in choose_targets(text) if np.mean(target.values > 0) > 5e-4]
    truths = [[of_whole(states, target) for states in both] for target in targets]
    for length in (length for length in LENGTHS if 3 * length <= len(text)):
        rows: list[tuple[float, ...] | None] = []
        for start in drawn_at(length, 0, len(text) - length, pieces):
            piece_slice = slice(start, start + length)
            searcher = Searcher(both[0][piece_slice].astype(np.float32))
            for target, truth in zip(targets, truths, strict=True):
                piece = Target(target.name, target.values[piece_slice])
                if piece.varies and searcher.split(piece).blocks:
                    rows.append(intervals_hold(searcher, piece, both[1][piece_slice], truth))
        if table := [row for row in rows if row is not None]:
            names = ("score", "lead", "score by blocks", "lead by blocks")
            shares = dict(zip(names, np.mean(table, axis=0), strict=False))
            none, width = 1 - len(table) / len(rows), float(np.median(table, axis=0)[4])
            print_coverage(f"score of a unit, {name}, {file.name}", length, none, shares, width)


def main() -> None:
    """Print a table for each part."""
    parser = options_of(__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="(default: finds)")
    parser.add_argument("--file", help="a text of 40,000 characters or more (default: Tiny Shakespeare)")
    names = ("timemachine-gru", "timemachine-rnn", "timemachine-mlp")
    parser.add_argument("--model", nargs="+", default=names, help=f"(default: {' '.join(names)})")
    parser.add_argument("--lengths", type=int, nargs="+", default=BOOK, help="of the text, for finds")
    parser.add_argument("--trials", type=int, default=1_000)
    parser.add_argument("--pairs", nargs="+", default=[], metavar="MODEL=FILE")
    parser.add_argument("--pieces", type=int, default=200)
    options = parser.parse_args()
    parts = options.parts or ["finds"]
    for name, _, file in (pair.partition("=") for pair in options.pairs):
        for part, measure in (("passages", passages), ("scores", of_scores)):
            if part in parts:
                measure(name, Path(file), options.pieces)
    if "finds" not in parts:
        return
    book = Path(options.file).read_text("utf-8") if options.file else corpora.read("tinyshakespeare").text
    for name in options.model:
        model, text = load_numpy(name), book[: max(options.lengths)]
        assert isinstance(model, NumpyModel), f"{name} has no units"
        finds(model, text, options.lengths, options.trials)


if __name__ == "__main__":
    main()

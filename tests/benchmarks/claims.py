"""How often Inside and `rnnviz units` say what isn't so, and how often intervals hold what they should.

    python tests/benchmarks/claims.py [finds] [memory] [planted] [--file BOOK] [--model NAME …] [--trials N]
    python tests/benchmarks/claims.py passages scores --pairs MODEL=FILE … [--pieces N]

finds     Targets that have nothing to do with the text, in which whatever is found is false: telegraphs, on
          and off for a number of characters on average; spans, as rare and uneven as quotations; and what is
          in the text, shifted around its end. For the network and for an untrained one: the share of
          searches in which the unit that ranked first is above chance, with its 95 % interval, and of
          families of 11 searches with a find by Holm's levels. At most 5 % may be false. Where a target
          changes too seldom for a verdict, none counts.
memory    For 30 targets the verdict on the network itself and on untrained networks of its shape, beside
          three other untrained copies. None of those remembers anything it was taught, and an mlp remembers
          nothing at all, so none may be said to remember; without a correction for the family.
planted   Into a trained GRU a unit is set by hand: a latch that one character opens and another closes. It
          must rank first, and be said to remember, for each of 20 pairs of characters.
passages  How often the interval of a piece's perplexity holds what comes next in the same text, which the
          model reads once. Of pieces drawn at random: the share without an interval (too short, drifting or
          uneven); of the others, the share that holds as many characters after them, and before them; half
          the interval's width, as a factor; what a moving-block bootstrap holds of what comes next (blocks by
          Politis and White 2004). A text whose beginning the model was trained on is two texts; take others.
scores    The same of a unit's score, and of its lead over an untrained unit, beside those on the whole text:
          of each target the unit that ranks first in a piece, scored on the third part.
"""

import hashlib
import math
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import binomtest
from sitting import figure, options_of

import rnnviz
from rnnviz import units
from rnnviz.arrays import Doubles
from rnnviz.lab.analysis import controls, evidence, ranking
from rnnviz.lab.analysis.bootstrap import resample
from rnnviz.lab.analysis.evidence import weigh
from rnnviz.lab.analysis.search_result import Search, holm
from rnnviz.lab.analysis.searching import Searcher
from rnnviz.lab.analysis.targets import KINDS, Target, pattern_target
from rnnviz.lab.engines import untrained
from rnnviz.networks.checkpoint import find, load_numpy
from rnnviz.networks.modelfile import read_tensors
from rnnviz.networks.numpy_engine import weights_from
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.scoring.interval import interval
from rnnviz.text import corpora

BOOK = (20_000, 40_000)  # characters of the text, for finds
LENGTHS = (20_000, 50_000, 150_000)  # of pieces, for scores
PIECES = (2_000, 20_000, 100_000)  # for passages
MOST = 600_000  # characters of a file, for scores
DWELLS = (5, 20, 100, 300)
SHIFTED = ("capital", "word-start", "line-position")
FAMILY = 11
FIRST_SEED = 100  # of the untrained networks that are judged: the controls have 0, 1 and 2


def telegraph(length: int, dwell: int, seed: int) -> Target:
    """On and off in turn, each time for `dwell` characters on average."""
    drawn = np.random.default_rng([length, dwell, seed]).random(length)
    return Target("telegraph", np.cumsum(drawn < 1 / dwell) % 2 == 1)


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
    for (what, network), length in product(
        (("itself", model), ("untrained", untrained.untrained(model, FIRST_SEED))), lengths
    ):
        searcher = Searcher(rnnviz.trace(network, text[:length]))
        real = [units.target(name, text[:length]) for name in SHIFTED]
        real.append(pattern_target(r"[^.!?]*\?", text[:length], timeout=60))
        made: dict[str, list[tuple[Search, bool]]] = {}
        for seed in range(trials):
            for target in without_cause(real, seed):
                sure = evidence.count_runs(target.values[searcher.split(target).second]) >= evidence.MIN_RUNS
                made.setdefault(target.name, []).append((searcher.search(target), sure))
        false = {
            kind: [sure and one.best.score > one.chance for one, sure in searches]
            for kind, searches in made.items()
        }
        every = [one for searches in made.values() for one in searches]
        np.random.default_rng(0).shuffle(every)  # type: ignore[arg-type]
        families = [every[n : n + FAMILY] for n in range(0, len(every) - FAMILY + 1, FAMILY)]
        false[f"families of {FAMILY}"] = [
            any(
                sure and one.best.p <= one.levels[0]
                for one, (_, sure) in zip(holm(each for each, _ in family), family, strict=True)
            )
            for family in families
        ]
        for kind, found in false.items():
            low, high = binomtest(sum(found), len(found)).proportion_ci(method="wilson")
            share, cells = np.mean(found), f"{model.name:18} {what:10} {length:10,} {kind:24}"
            print(f"{cells} {share:6.1%}  {low:.1%}–{high:.1%}", flush=True)
            if kind in made:
                worst = max(worst, float(share))
    what = f"searches for a target without a cause that find one ({model.name}), the worst of its kinds"
    figure(what, 100 * worst, "%", most=5)


PATTERNS = (
    r"\bthe\b", r"ing\b", r"\bsaid\b", r"[aeiou]{2}", r"[^aeiou\W]{3}", r"\b[A-Z][a-z]+", r"[,;:]", r"\.",
    r"\b\w{7,}\b", r"\b\w{1,3}\b", r"\n.{20}", r".{10}\n", r"[^.!?]*\?", r"[^.!?]{200,}", r"\bI\b[^.]*",
    r", and [^.]*", r"\bof the \w+",
)  # fmt: skip


def asked(text: str) -> list[Target]:
    """30 targets: those by name, patterns, and as many telegraphs as it takes."""
    targets = [units.target(name, text) for name in KINDS]
    targets += [pattern_target(pattern, text, timeout=60) for pattern in PATTERNS]
    targets = [target for target in targets if target.varies]
    return targets + [telegraph(len(text), 40, seed) for seed in range(30 - len(targets))]


def memory(model: NumpyModel, text: str, copies: int) -> None:
    """Print the verdicts on the network and on `copies` untrained ones."""
    targets = asked(text)
    copied = controls.echoes(model, text, targets)
    judged = [("itself", model)]
    judged += [(f"untrained {n}", untrained.untrained(model, FIRST_SEED + n)) for n in range(copies)]
    for what, network in judged:
        searcher, said = Searcher(rnnviz.trace(network, text)), Counter[str]()
        named = []
        for target, columns in zip(targets, copied, strict=True):
            found = weigh(searcher, searcher.search(target), target, columns)
            said[found.verdict] += 1
            if found.verdict == "remembers" and found.evidence is not None:
                best = max(rival.score for rival in found.evidence.rivals)
                named.append(f"{target.name} {found.best.score:.3f} > {best:.3f}")
        others = ", ".join(f"{n} {v}" for v, n in said.items() if v != "remembers")
        print(
            f"{model.name:18} {what:12} remembers {len(named)}: {'; '.join(named) or '–'}; {others}",
            flush=True,
        )


def fitted_once(known: dict[bytes, np.ndarray]) -> None:
    """What the last few characters tell is the same beside every network: let it be fitted once."""
    predicted = evidence.predicted

    def kept(ids: np.ndarray, values: np.ndarray, k: int, learn: np.ndarray) -> np.ndarray:
        key = hashlib.sha256(b"%d" % k + ids.tobytes() + values.tobytes() + learn.tobytes()).digest()
        if key not in known:
            known[key] = predicted(ids, values, k, learn)
        return known[key].copy()

    evidence.predicted = kept


def latch(model: NumpyModel, unit: int, opens: str, closes: str) -> NumpyModel:
    """`model`, a GRU of one layer, whose `unit` is 1 from `opens` on and -1 from `closes` on. No other unit
    and no prediction depends on it."""
    tensors = {name: values.astype(np.float64) for name, values in read_tensors(find(model.name)).items()}
    H = model.config.hidden_size
    start, first, last = model.vocabulary.start, *model.vocabulary.encode(opens + closes).tolist()
    update, candidate = (
        np.full(len(tensors["embedding.weight"]), 12.0),
        np.zeros(len(tensors["embedding.weight"])),
    )
    update[[start, first, last]] = -12.0
    candidate[[start, first, last]] = -6.0, 6.0, -6.0
    pseudo = np.linalg.pinv(tensors["embedding.weight"])  # characters are fewer than its columns
    for gate, wanted in enumerate((np.zeros_like(update), update, candidate)):
        row = gate * H + unit
        tensors["recurrence.weight_ih_l0"][row] = pseudo @ wanted
        for name in ("weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
            tensors[f"recurrence.{name}"][row] = 0
    tensors["recurrence.weight_hh_l0"][:, unit] = 0
    tensors["readout.weight"][:, unit] = 0
    weights = weights_from(model.config, {k: v.astype(np.float32) for k, v in tensors.items()})
    return NumpyModel(model.config, model.vocabulary, weights, name=model.name, normaliser=model.normaliser)


def latched(text: str, opens: str, closes: str) -> Target:
    """Where the last of the two characters was `opens`."""
    last = np.array([{opens: 1, closes: -1}.get(c, 0) for c in text])
    seen = np.maximum.accumulate(np.where(last != 0, np.arange(len(text)), 0))
    return Target(f"{opens!r} to {closes!r}", last[seen] == 1)


def planted(model: NumpyModel, text: str, pairs: int = 20) -> None:
    """Print what is found of latches that are set by hand."""
    random = np.random.default_rng(0)
    common = [c for c, n in Counter(text).items() if 400 <= n <= 1500 and c in model.vocabulary.characters]
    first, remembered = 0, 0
    drawn = [random.choice(sorted(common), 2, replace=False).tolist() for _ in range(pairs)]
    targets = [latched(text, opens, closes) for opens, closes in drawn]
    echoes = controls.echoes(model, text, targets)
    for (opens, closes), target, columns in zip(drawn, targets, echoes, strict=True):
        unit = int(random.integers(model.config.hidden_size))
        network = latch(model, unit, opens, closes)
        searcher = Searcher(rnnviz.trace(network, text))
        found = weigh(searcher, searcher.search(target), target, columns)
        first += found.best.unit.unit == unit
        remembered += found.best.unit.unit == unit and found.verdict == "remembers"
        rival = max(found.evidence.rivals, key=lambda one: one.score)
        print(
            f"{target.name:12} unit {unit:3}: ranked first {found.best.unit.unit:3}, {found.best.score:.3f}, "
            f"{found.verdict}; {rival.kind} {rival.number} {rival.score:.3f}",
            flush=True,
        )
    print(f"{model.name}: ranked first {first} of {pairs}, said to remember {remembered}", flush=True)


def drawn_at(length: int, first: int, last: int, count: int) -> list[int]:
    """Where pieces of this length begin: `count` places between two, the same every time."""
    return [int(at) for at in np.random.default_rng(length).integers(first, last, count)]


def say(what: str, length: int, none: float, shares: dict[str, float], width: float) -> None:
    """A line: the share of pieces without an interval, of the others those that hold; half the width."""
    cells = "  ".join(f"{name} {share:4.0%}" for name, share in shares.items())
    print(f"{what:44} {length:8,}  none {none:4.0%}  {cells}  ± {width:.3f}", flush=True)
    name, share = next(iter(shares.items()))
    figure(f"{what}: intervals of {length:,} characters that hold, {name}", 100 * share, "%")


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
            found, blocks = interval(piece), resample(piece)
            if found.low is not None and found.high is not None:
                low, high = math.log(found.low), math.log(found.high)
                inside = (low <= after <= high, low <= before <= high, blocks.low <= after <= blocks.high)
                rows.append((*inside, math.exp((high - low) / 2)))
        if rows:
            shares = dict(zip(("next", "before", "next by blocks"), np.mean(rows, axis=0), strict=False))
            none, width = 1 - len(rows) / pieces, float(np.median(rows, axis=0)[3])
            say(f"perplexity, {name}, {file.name}", length, none, shares, width)


def of_whole(states: np.ndarray, target: Target) -> np.ndarray:
    """The score of each unit on the whole text, in the direction up."""
    values = ranking.ranks(target.values) if target.graded else target.values
    score = ranking.correlation if target.graded else ranking.auc
    ranked = (ranking.ranks(column.astype(np.float32))[:, None] for column in states.T)
    return np.array([score(column, values)[0] for column in ranked])


def signed(score: float, graded: bool, direction: int) -> float:
    """A score in a direction."""
    return score if direction > 0 else -score if graded else 1 - score


def held(
    searcher: Searcher, target: Target, copy: np.ndarray, truth: list[np.ndarray]
) -> tuple[float, ...] | None:
    """Whether score, lead and the bootstrap of both hold on one piece, and the width; None without one."""
    best, split = searcher.search(target, shifts=0).best, searcher.split(target)
    part = split.second if split.third is None else split.third
    middle = 0.0 if target.graded else 0.5
    their = int(np.argmax(np.abs(truth[1] - middle)))
    turned = 1 if truth[1][their] > middle else -1
    own = searcher.values[part, best.unit.unit] * best.direction
    both = np.column_stack([own, copy[part, their].astype(np.float32) * turned])
    found = evidence.SeriesScores.from_series(both, target.values[part])
    if not found.has_intervals:
        return None
    score = signed(float(truth[0][best.unit.unit]), target.graded, best.direction)
    lead = score - signed(float(truth[1][their]), target.graded, turned)
    (low, high), rival = found.interval(), found.rival(1, "untrained", 0)
    blocks = resample(np.column_stack([found.parts[:, 0], found.parts[:, 0] - found.parts[:, 1]]))
    beside = np.array([score - found.values[0], lead - (found.values[0] - found.values[1])])
    inside = (blocks.low <= beside) & (beside <= blocks.high)
    return low <= score <= high, rival.low <= lead <= rival.high, *inside, (high - low) / 2


def of_scores(name: str, file: Path, pieces: int) -> None:
    """Print a row for each length of a piece."""
    model = load_numpy(name)
    assert isinstance(model, NumpyModel), f"{name} has no units"
    text = file.read_text("utf-8")[:MOST]
    both = [
        units.activations(rnnviz.trace(network, text), layer=0).astype(np.float16)
        for network in (model, untrained.untrained(model, 0))
    ]
    targets = [target for target in asked(text) if np.mean(target.values > 0) > 5e-4]
    truths = [[of_whole(states, target) for states in both] for target in targets]
    for length in (length for length in LENGTHS if 3 * length <= len(text)):
        rows: list[tuple[float, ...] | None] = []
        for start in drawn_at(length, 0, len(text) - length, pieces):
            here = slice(start, start + length)
            searcher = Searcher(both[0][here].astype(np.float32))
            for target, truth in zip(targets, truths, strict=True):
                piece = Target(target.name, target.values[here])
                if piece.varies and searcher.split(piece).blocks:
                    rows.append(held(searcher, piece, both[1][here], truth))
        if table := [row for row in rows if row is not None]:
            names = ("score", "lead", "score by blocks", "lead by blocks")
            shares = dict(zip(names, np.mean(table, axis=0), strict=False))
            none, width = 1 - len(table) / len(rows), float(np.median(table, axis=0)[4])
            say(f"score of a unit, {name}, {file.name}", length, none, shares, width)


def main() -> None:
    """Print a table for each part."""
    parser = options_of(__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="(default: finds memory planted)")
    parser.add_argument("--file", help="a text of 40,000 characters or more (default: Tiny Shakespeare)")
    names = ("timemachine-gru", "timemachine-rnn", "timemachine-mlp")
    parser.add_argument("--model", nargs="+", default=names, help=f"(default: {' '.join(names)})")
    parser.add_argument("--lengths", type=int, nargs="+", default=BOOK, help="of the text, for finds")
    parser.add_argument("--trials", type=int, default=1_000)
    parser.add_argument("--copies", type=int, default=5)
    parser.add_argument("--pairs", nargs="+", default=[], metavar="MODEL=FILE")
    parser.add_argument("--pieces", type=int, default=200)
    options = parser.parse_args()
    parts = options.parts or ["finds", "memory", "planted"]
    for name, _, file in (pair.partition("=") for pair in options.pairs):
        for part, measure in (("passages", passages), ("scores", of_scores)):
            if part in parts:
                measure(name, Path(file), options.pieces)
    if not {"finds", "memory", "planted"} & set(parts):
        return
    book = Path(options.file).read_text("utf-8") if options.file else corpora.read("tinyshakespeare").text
    fitted_once({})
    for name in options.model:
        model, text = load_numpy(name), book[: max(options.lengths)]
        assert isinstance(model, NumpyModel), f"{name} has no units"
        if "finds" in parts:
            finds(model, text, options.lengths, options.trials)
        if "memory" in parts:
            memory(model, text, options.copies)
        if "planted" in parts and model.config.cell == "gru":
            planted(model, text)


if __name__ == "__main__":
    main()

"""How often Inside and `rnnviz units` say something of units that isn't so, and how often they miss what is.

    python tests/benchmarks/claims.py [--file BOOK] [--model NAME …] [--trials N] [--only WHAT]

**Finds.** Targets that have nothing to do with the text, in which whatever is found is false: telegraphs, on
and off for a number of characters on average; spans, as rare and uneven as quotations; and what is in the
text, shifted around its end. For the network and for an untrained one: the share of searches in which the
unit that ranked first is above chance, with its 95 % interval (Wilson 1927), and of families of 11 searches
with a find by Holm's levels. At most 5 % may be false. Where a target changes too seldom for a
verdict, none counts.

**Power.** Among the network's units stands one that wanders and is higher where such a target holds, so that
its AUC is known: how often it is found, and how often it is surely ahead of the best unit of an untrained
copy; and, where it is, by how much its AUC is missed on average by the part of the text that confirmed it and
by the one that reports.

**Memory.** On the beginning of the book, for 30 targets, the verdict on the network itself and on untrained
networks of its shape, beside three other untrained copies. None of those remembers anything it was taught,
and an mlp remembers nothing at all, so none may be said to remember; without a correction for the family.

**Planted.** Into a trained GRU a unit is set by hand: a latch that one character opens and another closes. It
must rank first, and be said to remember, for each of 20 pairs of characters.
"""

from __future__ import annotations

import argparse
import hashlib
import math
from collections import Counter
from itertools import product
from pathlib import Path
from statistics import NormalDist

import numpy as np
from scipy.signal import lfilter

import rnnviz
from rnnviz import units
from rnnviz.networks import untrained
from rnnviz.networks.checkpoint import find, load_numpy
from rnnviz.networks.modelfile import read_tensors
from rnnviz.networks.numpy_model import NumpyModel, weights_from
from rnnviz.text import corpora
from rnnviz.units import contexts, scores
from tests.benchmarks.figures import figure

LENGTHS = (20_000, 40_000)
DWELLS = (5, 20, 100, 300)
SHIFTED = ("capital", "word-start", "line-position")
FAMILY = 11
FIRST_SEED = 100  # of the untrained networks that are judged: the controls have 0, 1 and 2


def telegraph(length: int, dwell: int, seed: int) -> units.Target:
    """On and off in turn, each time for `dwell` characters on average."""
    drawn = np.random.default_rng([length, dwell, seed]).random(length)
    return units.Target("telegraph", np.cumsum(drawn < 1 / dwell) % 2 == 1)


def spans(length: int, seed: int) -> units.Target:
    """Spans of about 75 characters, some of them far longer, about 400 apart."""
    random, mask, at = np.random.default_rng([length, seed]), np.zeros(length, np.bool_), 0
    while (at := at + 1 + int(random.exponential(400))) < length:
        stop = at + 1 + int(random.lognormal(4, 0.8))
        mask[at:stop] = True
        at = stop
    return units.Target("spans", mask)


def shifted(target: units.Target, seed: int) -> units.Target:
    """`target` shifted around the end, by a twentieth of the text or more."""
    n = len(target)
    by = int(np.random.default_rng([n, seed]).integers(n // 20, n - n // 20))
    return units.Target(f"{target.name} shifted", np.roll(target.values, by))


def without_cause(real: list[units.Target], seed: int) -> list[units.Target]:
    """A target of each kind that has nothing to do with the text, of which `real` ones are."""
    length = len(real[0])
    return [
        *(units.Target(f"dwell {d}", telegraph(length, d, seed).values) for d in DWELLS),
        spans(length, seed),
        *(shifted(target, seed) for target in real),
    ]


def wilson(count: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    z, p = NormalDist().inv_cdf(0.975), count / of
    middle, half = p + z * z / (2 * of), z * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return (middle - half) / (1 + z * z / of), (middle + half) / (1 + z * z / of)


def finds(model: NumpyModel, text: str, trials: int) -> None:
    """Print the false finds at each length, of each kind of target."""
    worst, at = 0.0, (0.0, 0.0)
    for (what, network), length in product(
        (("itself", model), ("untrained", untrained.untrained(model, FIRST_SEED))), LENGTHS
    ):
        searcher = units.Searcher(rnnviz.trace(network, text[:length]))
        real = [units.target(name, text[:length]) for name in SHIFTED]
        real.append(units.pattern_target(r"[^.!?]*\?", text[:length], timeout=60))
        made: dict[str, list[tuple[units.Search, bool]]] = {}
        for seed in range(trials):
            for target in without_cause(real, seed):
                sure = scores.runs(target.values[searcher.split(target).second]) >= scores.FEWEST
                made.setdefault(target.name, []).append((searcher.search(target), sure))
        for kind, searches in made.items():
            false = [sure and one.best.score > one.chance for one, sure in searches]
            low, high = wilson(sum(false), trials)
            print(
                f"{model.name:18} {what:10} {length:10,} {kind:24} {np.mean(false):6.1%}  "
                f"{low:.1%}–{high:.1%}",
                flush=True,
            )
            worst, at = max((worst, at), (float(np.mean(false)), (low, high)))
        every = [one for searches in made.values() for one in searches]
        np.random.default_rng(0).shuffle(every)  # type: ignore[arg-type]
        families = [every[n : n + FAMILY] for n in range(0, len(every) - FAMILY + 1, FAMILY)]
        false = [
            any(
                sure and one.best.p <= one.levels[0]
                for one, (_, sure) in zip(units.holm(each for each, _ in family), family, strict=True)
            )
            for family in families
        ]
        low, high = wilson(sum(false), len(false))
        print(
            f"{model.name:18} {what:10} {length:10,} {'families of 11':24} {np.mean(false):6.1%}  "
            f"{low:.1%}–{high:.1%}",
            flush=True,
        )
    figure(
        f"searches for a target without a cause that find one ({model.name}), the worst of its kinds",
        100 * worst, "%", at_most=5, beside=f"{trials} of each kind, {at[0]:.1%} to {at[1]:.1%}",
    )  # fmt: skip


def power(model: NumpyModel, text: str, trials: int) -> None:
    """Print how often a unit of known AUC is found, at each length and dwell time."""
    copy = untrained.untrained(model, 0)
    print(f"{'model':18} {'characters':>10} {'dwell':>6} {'AUC':>5}  found   sure  confirmed  reported")
    for length in (20_000, 40_000):
        states, theirs = (
            units.activations(rnnviz.trace(network, text[:length])) for network in (model, copy)
        )
        simpler = units.Searcher(theirs)
        for dwell, auc in product((20, 100), (0.55, 0.58, 0.6, 0.65, 0.7)):
            found, missed = [], []
            for seed in range(trials):
                random, target = np.random.default_rng([seed, dwell]), telegraph(length, dwell, seed)
                unit = int(random.integers(states.shape[1]))
                wander = lfilter([math.sqrt(1 - 0.9**2)], [1, -0.9], random.normal(size=length))
                higher = math.sqrt(2) * NormalDist().inv_cdf(auc)
                planted = states.copy()
                planted[:, unit] = wander + higher * target.values
                searcher = units.Searcher(planted)
                searched = searcher.search(target)
                beside = [simpler.best_column(target)]
                search = units.run(units.weigh(searcher, searched, target, beside, resamples=1))
                first = search.best.unit.unit == unit and search.best.score > search.chance
                kept = search.evidence
                sure = first and kept is not None and bool(kept.rivals[0].low and kept.rivals[0].low > 0)
                found.append((first, sure))
                if sure and kept is not None and kept.report is not None:
                    missed.append((search.best.score - auc, kept.report.score - auc))
            of, by = np.mean(found, axis=0), np.mean(missed, axis=0) if missed else (np.nan, np.nan)
            print(
                f"{model.name:18} {length:10,} {dwell:6} {auc:5} {of[0]:6.0%} {of[1]:6.0%} {by[0]:+10.3f} "
                f"{by[1]:+9.3f}",
                flush=True,
            )


PATTERNS = (
    r"\bthe\b", r"ing\b", r"\bsaid\b", r"[aeiou]{2}", r"[^aeiou\W]{3}", r"\b[A-Z][a-z]+", r"[,;:]", r"\.",
    r"\b\w{7,}\b", r"\b\w{1,3}\b", r"\n.{20}", r".{10}\n", r"[^.!?]*\?", r"[^.!?]{200,}", r"\bI\b[^.]*",
    r", and [^.]*", r"\bof the \w+",
)  # fmt: skip


def asked(text: str) -> list[units.Target]:
    """30 targets: those by name, patterns, and as many telegraphs as it takes."""
    targets = [units.target(name, text) for name in units.KINDS]
    targets += [units.pattern_target(pattern, text, timeout=60) for pattern in PATTERNS]
    targets = [target for target in targets if target.varies]
    return targets + [telegraph(len(text), 40, seed) for seed in range(30 - len(targets))]


def memory(model: NumpyModel, text: str, copies: int) -> None:
    """Print the verdicts on the network and on `copies` untrained ones."""
    targets = asked(text)
    controls = units.run(units.echoes(model, text, targets))
    judged = [("itself", model)]
    judged += [(f"untrained {n}", untrained.untrained(model, FIRST_SEED + n)) for n in range(copies)]
    for what, network in judged:
        searcher, said = units.Searcher(rnnviz.trace(network, text)), Counter[str]()
        named = []
        for target, columns in zip(targets, controls, strict=True):
            found = units.run(units.weigh(searcher, searcher.search(target), target, columns))
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
    predicted = contexts.predicted

    def kept(ids: np.ndarray, values: np.ndarray, k: int, learn: np.ndarray) -> np.ndarray:
        key = hashlib.sha256(b"%d" % k + ids.tobytes() + values.tobytes() + learn.tobytes()).digest()
        if key not in known:
            known[key] = predicted(ids, values, k, learn)
        return known[key].copy()

    contexts.predicted = kept


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


def latched(text: str, opens: str, closes: str) -> units.Target:
    """Where the last of the two characters was `opens`."""
    last = np.array([{opens: 1, closes: -1}.get(c, 0) for c in text])
    seen = np.maximum.accumulate(np.where(last != 0, np.arange(len(text)), 0))
    return units.Target(f"{opens!r} to {closes!r}", last[seen] == 1)


def planted(model: NumpyModel, text: str, pairs: int = 20) -> None:
    """Print what is found of latches that are set by hand."""
    random = np.random.default_rng(0)
    common = [c for c, n in Counter(text).items() if 400 <= n <= 1500 and c in model.vocabulary.characters]
    first, remembered = 0, 0
    drawn = [random.choice(sorted(common), 2, replace=False).tolist() for _ in range(pairs)]
    targets = [latched(text, opens, closes) for opens, closes in drawn]
    echoes = units.run(units.echoes(model, text, targets))
    for (opens, closes), target, columns in zip(drawn, targets, echoes, strict=True):
        unit = int(random.integers(model.config.hidden_size))
        network = latch(model, unit, opens, closes)
        searcher = units.Searcher(rnnviz.trace(network, text))
        found = units.run(units.weigh(searcher, searcher.search(target), target, columns))
        first += found.best.unit.unit == unit
        remembered += found.best.unit.unit == unit and found.verdict == "remembers"
        assert found.evidence is not None
        rival = max(found.evidence.rivals, key=lambda one: one.score)
        print(
            f"{target.name:12} unit {unit:3}: ranked first {found.best.unit.unit:3}, {found.best.score:.3f}, "
            f"{found.verdict}; {rival.kind} {rival.number} {rival.score:.3f}",
            flush=True,
        )
    print(f"{model.name}: ranked first {first} of {pairs}, said to remember {remembered}", flush=True)


def main() -> None:
    """Print both tables for each model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--file", help="a text of 40,000 characters or more (default: Tiny Shakespeare)")
    parser.add_argument(
        "--model", action="append", help="again for more (default: timemachine-gru, -rnn, -mlp)"
    )
    parser.add_argument("--trials", type=int, default=1_000)
    parser.add_argument("--copies", type=int, default=5)
    parser.add_argument("--only", choices=("finds", "power", "memory", "planted"))
    options = parser.parse_args()
    book = Path(options.file).read_text("utf-8") if options.file else corpora.read("tinyshakespeare").text
    text = book[:40_000]
    fitted_once({})
    names = options.model or ("timemachine-gru", "timemachine-rnn", "timemachine-mlp")
    models = [load_numpy(name) for name in names]
    if options.only in (None, "finds"):
        print(f"{'model':18} {'':10} {'characters':>10} {'target':24} {'found':>6}  95 % interval")
    for model in models:
        assert isinstance(model, NumpyModel), f"{model.name} has no units"
        if options.only in (None, "finds"):
            finds(model, text, options.trials)
    for model in models:
        assert isinstance(model, NumpyModel)
        if options.only in (None, "power"):
            power(model, text, max(1, options.trials // 20))
        if options.only in (None, "memory"):
            memory(model, text, options.copies)
        if options.only in (None, "planted") and model.config.cell == "gru":
            planted(model, text)


if __name__ == "__main__":
    main()

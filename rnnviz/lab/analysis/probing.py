"""Probes: a linear model of all units beside the best unit, and the number of units that suffice.

    probe      a weight for every unit, fitted on one part of the text and scored on the part that confirms
               units: logistic regression, or for a graded target ridge regression on its ranks (Alain &
               Bengio
               2017, arXiv:1610.01644); the penalty is chosen within the fitted part
    few        the same on 1, 2, 4 and 8 units: the best-ranked unit, then at each step the unit that adds
               most
               (Rao's score test), chosen on the fitted part
    control    the same probe for random labels in runs as long as the target's. The score less the control's
               is the selectivity (Hewitt & Liang 2019, arXiv:1909.03368). Their control gives each word a
               label; any state reveals its own character, so here runs are drawn instead
    untrained  the same probe on untrained copies: random weights echo the last characters, and a probe reads
               the echo
    context    a linear model of the last 2, 4 and 8 characters, see `rnnviz.lab.analysis.evidence`: its score
               needs no state that lasts longer

A probe shows what a line could read from a state, not what the network reads.

Shape letters: T time steps, n of them in a part, L layers, H units of a layer, U probed units, k chosen
units.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rnnviz.arrays import Array, Doubles, Floats, Integers, Mask
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.findings import Json, Reported
from rnnviz.lab.analysis import evidence, ranking, targets
from rnnviz.lab.analysis.activations import Unit
from rnnviz.lab.analysis.directions import Direction
from rnnviz.lab.analysis.evidence import SeriesScores
from rnnviz.lab.analysis.search_result import Found
from rnnviz.lab.analysis.searching import Searcher, varies
from rnnviz.lab.analysis.targets import Target
from rnnviz.networks.model_card import WeightedSum
from rnnviz.networks.progress import Progress, Reporter
from rnnviz.networks.verdicts import MIN_LEAD, MIN_VERDICT_CHARS, Measure, Rival
from rnnviz.reprs import Pictured
from rnnviz.scoring.trace import Trace

STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1)
"""Inverse penalties to choose from where all units are weighted; a few units need no choice."""

SUBSET_STRENGTH = 10.0
"""The inverse penalty of a few units."""

REACH_PERCENTILE = 98
"""The percentile of a weighted sum's amount that becomes 1."""

Interval = tuple[float, float]

SUBSET_SIZES = (1, 2, 4, 8)
"""Numbers of units whose probes stand beside the probe of all units."""

HOLDING_SHARE = 0.95
"""Units hold a target if they reach this share of the whole probe's score above chance."""

DEFAULT_CONTROLS = 5
"""Draws of the control task."""

Verdict = Literal[
    "short", "same text", "nothing", "character", "context", "untrained", "learned", "remembers"
]
"""A probe's verdict, by margins of `rnnviz.networks.verdicts.MIN_LEAD`.

short      fewer than `rnnviz.networks.verdicts.MIN_VERDICT_CHARS` characters, or too few for an interval: no
           verdict
same text  fitted and scored on one text: no verdict
nothing    no better than a probe for random labels, or its interval includes chance
character  no better than the character just read
context    no better than the last few characters, or its interval includes them
untrained  no better than the same probe on an untrained copy, or its interval includes it
learned    better than all of these, as far as measured
remembers  better than all of these, all measured, and the interval of the lead over the last few characters
           excludes zero
"""

Concentration = Literal["one", "few", "spread"]
"""Whether one unit holds the target, at most the largest of FEW do, or more."""


@dataclass(frozen=True)
class Few:
    """The chosen units, best first, and the score of a probe on these alone."""

    units: tuple[Unit, ...]
    score: float


@dataclass(frozen=True, eq=False)
class Probe(Pictured, Reported):
    """A linear probe of all units, and its rivals. Scores are AUC (0.5: chance) or correlation (0: chance),
    on a part of the text that the probe was not fitted on.

    score       the probe's on all units
    few         the scores of FEW units; the first is the unit that `rnnviz.units.find` ranks best
    control     the score of each draw of the control task
    untrained   the probe's score on each untrained copy; () without copies
    character   the score of the character just read alone; None without a text
    held_out    False where the target isn't in all parts: fitted and scored on one text
    characters  T; `inside` of them within the target, None if it is graded
    interval    95 % interval of the score, see `rnnviz.lab.analysis.evidence`; None for too short a text
    lead        95 % interval of the score's lead over the closest untrained copy; None without copies or for
                too short a text
    context     the closest of the last few characters' models, with the interval of the probe's lead; None
                without a text, or with one part only
    weights     (L', H) the probe's weights, for unscaled states, of each of `layers`
    """

    REPORT = "rnnviz.lab.reports.probing"

    target: str
    measure: Measure
    quantity: str
    layers: tuple[int, ...]
    score: float
    few: tuple[Few, ...]
    control: tuple[float, ...]
    untrained: tuple[float, ...]
    character: float | None
    held_out: bool
    characters: int
    inside: int | None
    weights: Doubles
    interval: tuple[float, float] | None = None
    lead: tuple[float, float] | None = None
    context: Rival | None = None

    def __repr__(self) -> str:
        best = self.few[0]
        return (
            f"<Probe of {self.weights.size} units for {self.target}: {self.measure} {self.score:.3f}, "
            f"best unit {best.units[0].layer}:{best.units[0].unit} {best.score:.3f}>"
        )

    @property
    def floor(self) -> float:
        """The score of a random guess."""
        return 0.5 if self.measure == "AUC" else 0.0

    @property
    def selectivity(self) -> float:
        """The score less the control task's mean; nan without a control."""
        return self.score - float(np.mean(self.control)) if self.control else float("nan")

    @property
    def shares(self) -> tuple[float, ...]:
        """The score above chance of each of `few`, as a share of the whole probe's; nan where the probe is at
        chance.
        """
        above = self.score - self.floor
        return tuple(
            (subset.score - self.floor) / above if above > 0 else float("nan") for subset in self.few
        )

    @property
    def held(self) -> Concentration | None:
        """Whether one unit holds the target, a few do, or it is spread; None where the probe shows
        nothing.
        """
        if self.verdict in ("short", "same text", "nothing"):
            return None
        enough = [
            len(subset.units)
            for subset, share in zip(self.few, self.shares, strict=True)
            if share >= HOLDING_SHARE
        ]
        return "spread" if not enough else "one" if enough[0] == 1 else "few"

    @property
    def verdict(self) -> Verdict:
        """The verdict; see `Verdict`."""
        below = self.score - MIN_LEAD
        if self.characters < MIN_VERDICT_CHARS:
            return "short"
        if not self.held_out:
            return "same text"
        if self.interval is None:
            return "short"
        if below <= max(self.control, default=self.floor) or self.interval[0] <= self.floor:
            return "nothing"
        if self.character is not None and below <= self.character:
            return "character"
        context = self.context
        if context is not None and (below <= context.score or (context.low is not None and context.low <= 0)):
            return "context"
        if self.untrained and (below <= max(self.untrained) or (self.lead and self.lead[0] <= 0)):
            return "untrained"
        measured = self.control and self.lead and self.character is not None
        return "remembers" if measured and context and context.beaten_by(self.score) else "learned"

    def facts(self) -> Json:
        """The values that --json prints; the weights are left out."""
        context = self.context
        return {
            "target": self.target,
            "measure": self.measure,
            "quantity": self.quantity,
            "layers": list(self.layers),
            "characters": self.characters,
            "inside": self.inside,
            "held_out": self.held_out,
            "score": self.score,
            "interval": None if self.interval is None else list(self.interval),
            "few": [
                {
                    "units": [[unit.layer, unit.unit] for unit in subset.units],
                    "score": subset.score,
                    "share": share,
                }
                for subset, share in zip(self.few, self.shares, strict=True)
            ],
            "control": list(self.control),
            "selectivity": self.selectivity,
            "character": self.character,
            "context": context
            and {
                "characters": context.number,
                "score": context.score,
                "lead": None if context.low is None else [context.low, context.high],
                "p": context.p,
            },
            "untrained": list(self.untrained),
            "lead": None if self.lead is None else list(self.lead),
            "held": self.held,
            "verdict": self.verdict,
        }

    def direction(self, layer: int | None = None) -> Direction:
        """The probe's weights in one layer as a Direction; `layer` may be left out where one was probed.

        The direction reads the target. The network's own encoding of the target is rather the difference of
        mean states (Haufe et al. 2014, NeuroImage 87). Raises ConfigError for a layer that was not probed.
        """
        if (layer is None and len(self.layers) > 1) or (layer is not None and layer not in self.layers):
            raise ConfigError(
                "the probe reads layers {layers}; say which one; received {layer!r}",
                layers=", ".join(map(str, self.layers)),
                layer=layer,
            )
        chosen = self.layers[0] if layer is None else layer
        vector = self.weights[self.layers.index(chosen)]
        origin = f"linear probe fitted on {self.characters:,} characters"
        return Direction(f"probe for {self.target}", vector, chosen, self.quantity, origin)


@checked
def probe(
    source: Trace | Array,
    target: str | Target | Array,
    *,
    layer: int | None = None,
    quantity: str = "hidden",
    untrained: Iterable[Trace | Array] = (),
    controls: int = DEFAULT_CONTROLS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Probe:
    """Fit a linear probe of all units on one part of the text, and score it on another.

    source     a Trace, of which `layer` (None: all) and `quantity` are read, or a table (T, U) of one layer
    target     a name or a regular expression, see `rnnviz.units.target`; or a mask (T,), which a table needs
    untrained  traces of the same text by untrained copies, see `rnnviz.units.untrained`, or tables
    controls   probes for random labels, drawn by `seed`
    progress   called with the share done

    The Probe has its `score` (AUC or correlation), `few` (the same for its best 1, 2, 4 … units), `held`:
    "one" unit, a "few", "spread" over many, or None where nothing may be said; and a `verdict` as that of
    `rnnviz.units.find`, or "learned" where it leads all that was measured, which was not everything.

    50,000 characters of 384 units with three copies take about ten seconds. Follows Alain & Bengio 2017,
    arXiv:1610.01644; Hewitt & Liang 2019, arXiv:1909.03368. Raises ConfigError for an unfit `target`, a
    target that is constant over the text, and numbers out of range.

    >>> import numpy as np
    >>> from rnnviz import units
    >>> random = np.random.default_rng(0)
    >>> mask = np.arange(30_000) % 70 < 30
    >>> states = random.normal(size=(30_000, 64))
    >>> states += 0.4 * mask[:, None]
    >>> found = units.probe(states, mask)
    >>> found.held, found.verdict, round(found.few[0].score, 1), round(found.score, 2)
    ('spread', 'learned', 0.6, 0.99)
    """
    searcher = Searcher(source, layer=layer, quantity=quantity)
    if isinstance(target, str) and not isinstance(source, Trace):
        raise ConfigError(
            "a table has no text with {what!r} in it; give a Trace, or a mask (T,)", what=target
        )
    target = targets.target(target, source.text if isinstance(source, Trace) else "")
    copies = (Searcher(copy, layer=layer, quantity=quantity) for copy in untrained)
    copy_count = len(untrained) if isinstance(untrained, Sized) else 0
    return probe_units(
        searcher, target, untrained=copies, controls=controls, seed=seed, copies=copy_count, progress=progress
    )


def probe_units(
    searcher: Searcher,
    target: Target,
    *,
    untrained: Iterable[Searcher] = (),
    controls: int = DEFAULT_CONTROLS,
    seed: int = 0,
    copies: int = 0,
    progress: Progress | None = None,
) -> Probe:
    """`probe` on units that a Searcher has ranked. `copies` counts `untrained`, for the progress."""
    if not 0 <= controls <= 1000 or seed < 0:
        raise ConfigError(
            "controls is a number from 0 to 1,000 and seed at least 0; received {controls} and {seed}",
            controls=controls,
            seed=seed,
        )
    evidence.needs_fits()
    report = Reporter(progress)
    before = 4 + SUBSET_SIZES[-1] + controls  # steps before the contexts
    total = 1 + before + len(evidence.CONTEXT_LENGTHS) + 2 * copies
    search = searcher.search(target, shifts=0)
    report(1 / total)
    values = target.values
    split = searcher.split(target)
    first, second = split.fitting, split.second
    parts = Parts(searcher.values, first, second)
    line = parts.line(values)
    report(3 / total)
    subsets = []
    for subset in _probe_subsets(searcher, search.best, parts, values):
        subsets.append(subset)
        report((3 + len(subset.units)) / total)
    control = []
    for number in range(controls):
        control += _control(parts, values, np.random.default_rng((seed, number)))
        report((4 + SUBSET_SIZES[-1] + number) / total)
    around: list[Doubles] = []
    for k in evidence.CONTEXT_LENGTHS if split.blocks else ():
        report((before + len(around)) / total)
        if searcher.ids is not None:
            around.append(evidence.predicted(searcher.ids, values, k, first)[second])
    columns = [parts.measured(line), *around]
    for number, copy in enumerate(untrained):
        report((before + len(evidence.CONTEXT_LENGTHS) + 2 * number) / total)
        theirs = Parts(copy.values, first, second)
        columns.append(theirs.measured(theirs.line(values)))
    report(1 - 2 / total)
    scores = SeriesScores.from_series(np.column_stack(columns), values[second])
    scores = scores if split.blocks else replace(scores, has_intervals=False)
    context, untrained_scores, lead = _closest_rivals(scores, len(around))
    report.end()
    layers = tuple(sorted({unit.layer for unit in searcher.units}))
    return Probe(
        target=target.name,
        measure=search.measure,
        quantity=searcher.quantity,
        layers=layers,
        score=parts.score(line, values),
        few=tuple(subsets),
        control=tuple(control),
        untrained=untrained_scores,
        character=search.character,
        held_out=bool(split.blocks),
        characters=len(target),
        inside=search.inside,
        weights=parts.raw(line).reshape(len(layers), -1),
        interval=scores.interval() if scores.has_intervals else None,
        lead=lead,
        context=context,
    )


def _probe_subsets(searcher: Searcher, best: Found, parts: Parts, values: Array) -> Iterator[Few]:
    """The scores of FEW units, beginning with the `best`, as far as there are units."""
    units = searcher.units
    chosen = [units.index(best.unit)]
    line = parts.fit_subset(values, chosen)
    for count in range(1, min(SUBSET_SIZES[-1], len(units)) + 1):
        if count > 1:
            chosen.append(parts.next(values, line))
            line = parts.fit_subset(values, chosen)
        if count in SUBSET_SIZES:
            score = best.score if count == 1 else parts.score(line, values)
            yield Few(tuple(units[u] for u in chosen), score)


def _closest_rivals(scores: SeriesScores, k: int) -> tuple[Rival | None, tuple[float, ...], Interval | None]:
    """The closest rival of the `k` contexts that follow the probe; the scores of the untrained copies after
    these; and the interval of the lead over the closest copy.
    """
    contexted = [scores.rival(n, "context", evidence.CONTEXT_LENGTHS[n - 1]) for n in range(1, 1 + k)]
    copies = [scores.rival(n, "untrained", n - 1 - k) for n in range(1 + k, len(scores.values))]
    context, copy = (
        min(rivals, key=lambda rival: (rival.low or 0.0, -rival.score), default=None)
        for rivals in (contexted, copies)
    )
    ends = None if copy is None or copy.low is None or copy.high is None else (copy.low, copy.high)
    return context, tuple(rival.score for rival in copies), ends


def _control(parts: Parts, values: Array, random: np.random.Generator) -> list[float]:
    """The score of a probe for random labels; [] where they are constant over a part."""
    for _attempt in range(10):
        labels = random_labels(values, random)
        if all(varies(labels[mask]) for mask in (parts.first, parts.second)):
            return [parts.score(parts.line(labels), labels)]
    return []


@dataclass(frozen=True, eq=False)
class Line:
    """Weights (k,) of the `columns` (k,) scaled to variance 1, and the bias."""

    columns: Integers
    weights: Doubles
    bias: float

    def values(self, table: Floats) -> Doubles:
        """The line's value (n,) at each row of `table` (n, U)."""
        rows = table if len(self.columns) == table.shape[1] else table[:, self.columns]
        return np.asarray(rows @ self.weights.astype(np.float32) + self.bias, np.float64)


def weighted_sums(states: Floats, target: Array, layer: int) -> list[WeightedSum]:
    """A weighted sum of a layer's `states` (n, H) for each of STRENGTHS, fitted to tell `target` (n,)."""
    from sklearn.preprocessing import StandardScaler

    finite = np.nan_to_num(states, nan=0, posinf=0, neginf=0)
    scaler = StandardScaler().fit(finite)
    scaled, columns = scaler.transform(finite).astype(np.float32, copy=False), np.arange(states.shape[1])
    sums = []
    for strength in STRENGTHS:
        line = _fit(scaled, target, columns, strength)
        # A strong penalty leaves the bias to decide: along the line alone, 0 is put where it should be.
        along = line.values(scaled)[:, np.newaxis].astype(np.float32)
        spread = max(float(along.std()), 1e-9)
        slope = _fit(along / spread, target, np.zeros(1, np.int64), SUBSET_STRENGTH)
        steepness = float(slope.weights[0]) / spread
        weights = line.weights * steepness / scaler.scale_
        bias = slope.bias + line.bias * steepness - float(weights @ scaler.mean_)
        # In float16, as a card holds them: what is measured is then what is shown.
        reach = float(np.percentile(np.abs(finite @ weights.astype(np.float32) + bias), REACH_PERCENTILE))
        scale = 1 / max(reach, 1e-9)
        sums.append(WeightedSum(layer, (weights * scale).astype(np.float16), bias * scale))
    return sums


class Parts:
    """Values (T, U) on two parts of a text, each column scaled to mean 0 and variance 1 on the first."""

    def __init__(self, values: Array, first: Mask, second: Mask) -> None:
        from sklearn.preprocessing import StandardScaler

        # An exploded network's infinite states carry nothing, and would fail the fit.
        finite = np.nan_to_num(values, nan=0, posinf=0, neginf=0).astype(np.float32, copy=False)
        scaler = StandardScaler().fit(finite[first])
        self.first, self.second = first, second
        self._fitted: Floats = scaler.transform(finite[first]).astype(np.float32, copy=False)
        self._measured: Floats = scaler.transform(finite[second]).astype(np.float32, copy=False)
        self._scale: Doubles = scaler.scale_

    def line(self, target: Array) -> Line:
        """A Line of all units for a `target` (T,). The chosen penalty predicts the last quarter of the first
        part best from the rest of it.
        """
        labels = target[self.first]
        columns = np.arange(self._fitted.shape[1])
        cut = 3 * len(labels) // 4
        # The weakest penalty, where the target is absent from either piece and nothing can be compared.
        strength = STRENGTHS[-1]
        if varies(labels[:cut]) and varies(labels[cut:]):
            tried = [_fit(self._fitted[:cut], labels[:cut], columns, s) for s in STRENGTHS]
            scores = [
                ranking.score(candidate.values(self._fitted[cut:]), labels[cut:]) for candidate in tried
            ]
            strength = STRENGTHS[int(np.argmax(scores))]
        return _fit(self._fitted, labels, columns, strength)

    def score(self, line: Line, target: Array) -> float:
        """The score of a Line for a `target` (T,) on the second part: AUC or correlation."""
        return ranking.score(self.measured(line), target[self.second])

    def measured(self, line: Line) -> Doubles:
        """The line's values on the second part, (n,)."""
        return line.values(self._measured)

    def fit_subset(self, target: Array, chosen: list[int]) -> Line:
        """A Line of the `chosen` units alone."""
        return _fit(self._fitted, target[self.first], np.array(chosen), SUBSET_STRENGTH)

    def next(self, target: Array, line: Line) -> int:
        """The unit that adds most to a Line for `target`, by the largest score statistic (Rao 1948): the
        squared slope of the log-likelihood in the unit's weight, over the slope's variance given the units
        of the Line.
        """
        values, labels = line.values(self._fitted), target[self.first]
        if labels.dtype == np.bool_:
            p = 1 / (1 + np.exp(-np.clip(values, -30, 30)))
            rest, weight = labels - p, p * (1 - p)
        else:
            rest, weight = _relative_ranks(labels) - values, np.ones(len(values))
        X, w = self._fitted, weight.astype(np.float32)
        inside = np.column_stack([X[:, line.columns], np.ones(len(X), np.float32)])  # (n, k + 1)
        slope = (rest.astype(np.float32) @ X).astype(np.float64)
        shared = ((inside * w[:, None]).T @ X).astype(np.float64)  # (k + 1, U)
        within = ((inside * w[:, None]).T @ inside).astype(np.float64)
        alone = np.einsum("nu,nu,n->u", X, X, w).astype(np.float64)
        # A Schur complement: the slope's variance once the weights of the Line's units have been refitted.
        variance = alone - (shared * np.linalg.lstsq(within, shared, rcond=None)[0]).sum(axis=0)
        # A unit that the Line's units determine almost fully has a variance of rounding alone: no gain.
        gain = slope**2 / np.where(variance > 1e-4 * alone, variance, np.inf)
        # Below any gain, which is 0 or more: a unit is not chosen twice.
        gain[line.columns] = -1
        return int(np.argmax(gain))

    def raw(self, line: Line) -> Doubles:
        """The weights (U,) of a Line of all units, for unscaled values."""
        return np.asarray(line.weights / self._scale)


def random_labels(target: Array, random: np.random.Generator) -> Array:
    """Random labels (T,): a mask's runs, inside and outside, in random order, then rotated by at least a
    twentieth of the text. A graded target is only rotated.
    """
    n = len(target)
    nearest = max(1, n // 20)
    shift = int(random.integers(nearest, max(nearest + 1, n - nearest)))
    if target.dtype != np.bool_:
        return np.roll(target, shift)
    ends = np.flatnonzero(target[1:] != target[:-1]) + 1
    lengths = np.diff(np.concatenate(([0], ends, [n])))
    # Every second run is inside, so the two kinds are shuffled apart and as much of the text stays inside.
    lengths[::2], lengths[1::2] = random.permutation(lengths[::2]), random.permutation(lengths[1::2])
    holds = np.arange(len(lengths)) % 2 == (0 if target[0] else 1)
    # Few runs have few orders, so a shuffled target may be the target itself: the shift moves it away.
    return np.roll(np.repeat(holds, lengths), shift)


def _fit(table: Floats, labels: Array, columns: Integers, strength: float) -> Line:
    rows = table if len(columns) == table.shape[1] else table[:, columns]
    if labels.dtype == np.bool_:
        from sklearn.linear_model import LogisticRegression

        with np.errstate(invalid="ignore"):  # some processors flag finite float32 products
            logistic = LogisticRegression(C=strength, max_iter=2000).fit(rows, labels)
        return Line(columns, logistic.coef_[0].astype(np.float64), float(logistic.intercept_[0]))
    from sklearn.linear_model import Ridge

    ridge = Ridge(alpha=1 / strength).fit(rows, _relative_ranks(labels).astype(np.float32))
    return Line(columns, np.asarray(ridge.coef_, np.float64), float(ridge.intercept_))


def _relative_ranks(labels: Doubles) -> Doubles:
    return ranking.ranks(labels) / max(1, len(labels))

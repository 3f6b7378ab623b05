"""Evidence for a search's first unit, and for simpler rivals, on text that did not rank the units.

    score                     ├──●──┤           its interval
    the character just read        ●   ├─┤      each rival's score, and the interval of the unit's lead
    the last 2, 4, 8 characters    ●   ├─┤      over it
    untrained copies' units        ●   ├─┤
    stability                 how often the unit ranks first in resampled texts of the part that ranked

The second part of the text decides the verdict. A third part, if there is one, repeats the measurement after
the verdict.

Every unit that seems to remember has a rival: a linear model of the last few characters. It reads the last k
characters one by one and the n-grams of up to k that end there, hashed (Weinberger et al. 2009). It is a
logistic regression for a mask, and a ridge regression on the ranks for a graded target. It predicts one part
of a text, fitted on all the rest.

Scores vary with the sample of text:

    AUC          through its placement values (DeLong, DeLong & Clarke-Pearson 1988): a character inside
                 counts with the share of the others that are lower, one outside with the share of those
                 inside that are higher
    correlation  through each character's part in the mean product of ranks (Hájek's projection)

Both are, to first order, means of one contribution a character. So a lead is a mean too, and intervals follow
from the spread of passage means (`rnnviz.scoring.interval`). The table gives the coverage on pieces of real
texts: the share of 95 % intervals that held the whole text's score, and its lead over an untrained unit. The
third number is the coverage of the score by a moving-block bootstrap, blocks by Politis and White (2004)
(`scores` of `tests/benchmarks/claims.py`):

    characters             20,000           50,000          150,000
    plays            98, 97; 82 %     96, 96; 82 %     98, 97; 75 %
    programs         90, 91; 63 %     95, 96; 67 %     98, 98; 72 %
    a novel          94, 99           98, 96           96, 99

Shape letters: T characters of a text, n of a part, S series, V symbols, k characters of context, C distinct
contexts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rnnviz.arrays import Array, Doubles, Ids, Mask
from rnnviz.errors import ConfigError, install
from rnnviz.lab.analysis import ranking
from rnnviz.lab.analysis.bootstrap import block_length, draw_starts, resampled_means
from rnnviz.lab.analysis.search_result import Search
from rnnviz.lab.analysis.searching import DEFAULT_SHIFTS, Searcher, TextSplit
from rnnviz.lab.analysis.targets import Target
from rnnviz.networks.progress import Progress, Reporter
from rnnviz.networks.threads import worth_trying_alone
from rnnviz.networks.verdicts import Evidence, Report, Rival, Simpler
from rnnviz.scoring.interval import OCTAVE_COUNT, all_text_spread
from rnnviz.scoring.trace import Trace

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

STABILITY_UNITS = 32
"""Units resampled for the stability: no other is likely to rank first."""

STABILITY_SAMPLES = 200
"""Resampled texts in which the units are ranked again."""

SCORE_SPREAD, LEAD_SPREAD = (-0.6, 0.2), (-0.7, 0.2)
"""Mean and standard deviation of s (see `rnnviz.scoring.interval`) over real texts, for scores and for leads.
In a lead, the text's effect on both scores cancels.
"""

MIN_RUNS = 20
"""Runs of a target, inside and outside, below which a text is too short for an interval."""

CONTEXT_LENGTHS = (2, 4, 8)
"""The context lengths k of the linear rival; `ranking.predict_by_symbol` counts the case of one
character.
"""

HASH_BITS = 18
"""Hashed n-grams share 2^HASH_BITS weights."""


def needs_fits() -> None:
    """Raise ConfigError without scikit-learn, which fits probes and the linear rival."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise ConfigError(
            "analysing units needs scikit-learn, which isn't installed: {command} installs it",
            command=install("lab"),
        ) from None


def add_evidence(
    searcher: Searcher,
    search: Search,
    target: Target,
    untrained: Sequence[Array] = (),
    *,
    edges: int = 0,
    fitted: tuple[Ids, Array] | None = None,
    resamples: int = STABILITY_SAMPLES,
    progress: Progress | None = None,
) -> Search:
    """`search`, which `searcher` found for `target`, with its evidence.

    untrained  the values (T,) of each untrained copy's best unit, `Searcher.best_column`
    edges      as in the search
    fitted     characters and a target's values over another text, to which weighted sums were fitted: simpler
               rivals are fitted to it too
    resamples  resampled texts for the stability

    The linear rival needs the characters of a Trace. Evidence stays empty where the target is absent from a
    part of the text. Raises the errors of `Searcher.search`.

    >>> import numpy as np
    >>> mask = Target("planted", np.arange(20_000) % 70 < 30)
    >>> states = np.random.default_rng(0).normal(size=(20_000, 4))
    >>> states[:, 2] += mask.values
    >>> searcher = Searcher(states)
    >>> found = add_evidence(searcher, searcher.search(mask), mask)
    >>> found.evidence.stability, [round(end, 1) for end in found.evidence.report.interval]
    (1.0, [0.7, 0.8])
    """
    needs_fits()
    report = Reporter(progress)
    split = searcher.split(target, edges)
    series = [searcher.columns(search, 1)[:, 0]]
    if not split.blocks:
        untrained_scores = [_scores([column], target, split, split.second).values[0] for column in untrained]
        return replace(search, untrained=tuple(map(float, untrained_scores)))
    rival_names: list[tuple[Simpler, int]] = []
    parts = [part for part in (split.second, split.third) if part is not None]
    if searcher.ids is not None:
        rival_names += [("character", 1), *(("context", k) for k in CONTEXT_LENGTHS)]
        texts = [(searcher.ids, target.values), *([fitted] if fitted else [])]
        ids, values = (np.concatenate(arrays) for arrays in zip(*texts, strict=True))
        fitted_mask = np.ones(len(ids) - len(searcher), np.bool_)
        predictors = [partial(ranking.predict_by_symbol, ids, values)]
        predictors += [partial(predicted, ids, values, k) for k in CONTEXT_LENGTHS]
        with ThreadPoolExecutor(worth_trying_alone()[-1]) as pool:  # scipy's products release the GIL
            fits = [
                [pool.submit(predict, np.append(~part, fitted_mask)) for part in parts]
                for predict in predictors
            ]
            for number, part_fits in enumerate(fits):
                report(number / (len(CONTEXT_LENGTHS) + 2))
                series.append(part_fits[0].result()[: len(searcher)])
                for part, fit in zip(parts[1:], part_fits[1:], strict=True):
                    series[-1][part] = fit.result()[: len(searcher)][
                        part
                    ]  # each part is predicted by a fit on the rest
    report(1 - 1 / (len(CONTEXT_LENGTHS) + 2))
    rival_names += [("untrained", seed) for seed in range(len(untrained))]
    series += untrained
    scores = [_scores(series, target, split, part) for part in parts]
    top_scores = _scores(list(searcher.columns(search, STABILITY_UNITS).T), target, split, split.first)
    evidence = _evidence(scores, top_scores, rival_names, resamples)
    if searcher.sums:  # they differ by their penalty alone: which ranks first means nothing
        evidence = replace(evidence, stability=None)
    return replace(
        search,
        evidence=evidence,
        untrained=tuple(
            float(value)
            for value, (kind, _n) in zip(scores[0].values[1:], rival_names, strict=True)
            if kind == "untrained"
        ),
    )


def search(
    source: Trace | Array,
    target: Target,
    *,
    layer: int | None = None,
    quantity: str = "hidden",
    edges: int = 0,
    shifts: int = DEFAULT_SHIFTS,
    seed: int = 0,
    untrained: Iterable[Trace] = (),
) -> Search:
    """One search; arguments and errors as in `Searcher` and `Searcher.search`. `untrained` are traces of the
    same text by untrained copies, see `rnnviz.units.untrained`: they add the evidence.

    >>> import numpy as np
    >>> from rnnviz.lab.analysis.targets import span_target
    >>> mask = span_target([(t, t + 9) for t in range(0, 500, 50)], "machine " * 70)
    >>> noise = np.random.default_rng(0).normal(size=(560, 3))
    >>> search(np.column_stack([noise, mask.values]), mask).best.unit
    Unit(layer=0, unit=3)
    """
    searcher = Searcher(source, layer=layer, quantity=quantity, seed=seed)
    result = searcher.search(target, edges=edges, shifts=shifts)
    copies = [Searcher(copy, layer=layer, quantity=quantity) for copy in untrained]
    if not copies:
        return result
    columns = [copy.best_column(target, edges) for copy in copies]
    return add_evidence(searcher, result, target, columns, edges=edges)


def _scores(series: Sequence[Array], target: Target, split: TextSplit, part: Mask) -> SeriesScores:
    """The scores of `series`, (T,) each, on one part of the text."""
    near = None if split.near is None else split.near[part]
    return SeriesScores.from_series(
        np.column_stack([values[part] for values in series]), target.values[part], near
    )


def _evidence(
    scores: Sequence[SeriesScores],
    top_scores: SeriesScores,
    rival_names: Sequence[tuple[Simpler, int]],
    resamples: int,
) -> Evidence:
    """The evidence from the `scores` of the unit and its rivals, in each part that measures, and the
    `top_scores` of the best-ranked units, in the part that ranks.
    """
    rivals = [tuple(part.rival(n, *name) for n, name in enumerate(rival_names, 1)) for part in scores]
    if not all(part.has_intervals for part in (top_scores, *scores)):
        return Evidence(rivals[0], None, None, 0)
    reports = [
        Report(float(part.values[0]), part.interval(), part_rivals)
        for part, part_rivals in zip(scores, rivals, strict=True)
    ]
    return Evidence(rivals[0], reports[0].interval, *top_scores.stability(resamples), *reports[1:])


@dataclass(frozen=True, eq=False)
class SeriesScores:
    """How well each of S series separates a target in n characters.

    values         (S,) AUCs, or correlations with a graded target
    parts          (n, S) each character's contribution, of mean 0. To first order, the mean over a passage
                   is how much the passage's score differs
    has_intervals  whether the target changes often enough for intervals
    lowest         the lowest possible score
    """

    values: Doubles
    parts: Doubles
    has_intervals: bool
    lowest: float

    @classmethod
    def from_series(cls, series: Array, target: Array, near: Mask | None = None) -> SeriesScores:
        """The scores of `series` (n, S) for a target's values (n,). With `near` (n,), the smaller of two
        AUCs: against all other characters, and against the near ones alone.

        >>> mask = np.arange(5_000) % 50 < 20
        >>> noise = np.random.default_rng(0).normal(size=(5_000, 2)) + [1, 0] * mask[:, None]
        >>> scores = SeriesScores.from_series(noise, mask)
        >>> scores.values.round(2).tolist(), [round(end, 1) for end in scores.interval(0)]
        ([0.75, 0.51], [0.7, 0.8])
        """
        graded = target.dtype != np.bool_
        if graded:
            values, parts = _correlations(series, target)
        else:
            values, parts = _aucs(series, target)
            if near is not None:
                nearby = target | near
                fewer, inside = _aucs(series[nearby], target[nearby])
                spread = np.zeros_like(parts)
                spread[nearby] = inside * len(target) / nearby.sum()
                # The smaller AUC of the two counts, so its contributions do too: 0 for characters that are
                # not near, the others scaled up so that the mean over all n stays the same.
                parts = np.where(fewer < values, spread, parts)
                values = np.minimum(fewer, values)
        has_intervals = count_runs(target) >= MIN_RUNS and len(target) >= 2 << OCTAVE_COUNT
        return cls(values, parts, has_intervals, -1.0 if graded else 0.0)

    def interval(self, column: int = 0) -> tuple[float, float]:
        """The 95 % interval of a score over all text of the same kind."""
        half = all_text_spread(self.parts[:, column], SCORE_SPREAD).half_width()
        value = float(self.values[column])
        return max(self.lowest, value - half), min(1.0, value + half)

    def rival(self, column: int, kind: Simpler, number: int) -> Rival:
        """A series as a rival of the first, with the interval of the first's lead if it `has_intervals`."""
        value = float(self.values[column])
        if not self.has_intervals:
            return Rival(kind, number, value, None, None, 1.0)
        lead = float(self.values[0] - value)
        # The difference character by character: what the text does to both scores cancels, so a lead's
        # interval is narrower than the two scores' together.
        spread = all_text_spread(self.parts[:, 0] - self.parts[:, column], LEAD_SPREAD)
        half = spread.half_width()
        return Rival(
            kind, number, value, lead - half, lead + half, spread.tail_probability(lead) if lead > 0 else 1.0
        )

    def stability(self, resamples: int, seed: int = 0) -> tuple[float, int]:
        """The share of block-resampled texts in which the first series scores best; and the characters of a
        block.
        """
        block = block_length(self.parts[:, 0])
        resampled = self.values + resampled_means(
            self.parts, block, draw_starts(len(self.parts), block, resamples, seed)
        )
        return float((resampled.argmax(axis=1) == 0).mean()), block


def count_runs(target: Array) -> int:
    """The runs of a target (n,), inside and outside; a graded target is split at its median, which of a mask
    is the mask itself.
    """
    mask = target > np.median(target)
    if not mask.any():  # the median is the maximum: split above the minimum instead
        mask = target > target.min()
    return 1 + int(np.count_nonzero(mask[1:] != mask[:-1]))


def _aucs(series: Array, mask: Mask) -> tuple[Doubles, Doubles]:
    n, ones = len(mask), int(mask.sum())
    zeros = n - ones
    # Placement values: a rank among all, less the rank within one kind, counts the lower ones of the other.
    place = ranking.ranks(series) + (n - 1) / 2
    place[mask] -= ranking.ranks(series[mask]) + (ones - 1) / 2
    place[~mask] -= ranking.ranks(series[~mask]) + (zeros - 1) / 2
    place[mask] /= zeros
    place[~mask] = 1 - place[~mask] / ones
    values = place[mask].mean(axis=0)
    return values, (place - values) * np.where(mask, n / ones, n / zeros)[:, None]


def _correlations(series: Array, target: Array) -> tuple[Doubles, Doubles]:
    n = len(target)
    ranked, graded = ranking.ranks(series) / n, ranking.ranks(target)[:, None] / n
    together, of_series, of_target = (
        _products(ranked, graded),
        _products(ranked, ranked),
        _products(graded, graded),
    )
    scale = np.sqrt(of_series.mean(axis=0) * of_target.mean(axis=0))
    scale = np.where(scale > 0, scale, np.inf)
    values = together.mean(axis=0) / scale
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (of_series / of_series.mean(axis=0) - 1) + (of_target / of_target.mean(axis=0) - 1)
    return values, together / scale - values - values / 2 * np.nan_to_num(spread)


def _products(first: Doubles, second: Doubles) -> Doubles:
    """Each character's part in the mean product of centred ranks (n, S) and (n, S) or (n, 1). The parts' mean
    is that product; each is a character's own product plus its effect on the others' ranks.
    """
    product = first * second
    raised = _weights_above(first, second) + _weights_above(second, first)
    return np.asarray(product + raised - 2 * product.mean(axis=0))


def _weights_above(ranked: Doubles, weights: Doubles) -> Doubles:
    """The sum of `weights` over the characters of higher rank, ties by half, divided by n."""
    n, S = len(ranked), max(ranked.shape[1], weights.shape[1])
    out = np.empty((n, S))
    for column in range(S):
        _, ranks = np.unique(ranked[:, column % ranked.shape[1]], return_inverse=True)
        sums = np.bincount(ranks, weights[:, column % weights.shape[1]])
        out[:, column] = (sums[::-1].cumsum()[::-1] - sums / 2)[ranks] / n
    return out


def predicted(ids: Ids, values: Array, k: int, learn: Mask) -> Doubles:
    """Predict `values` (T,), a mask or graded, from the last `k` characters: (T,), higher for more.

    `ids` (T,) are the characters, `learn` (T,) selects those to fit on, where `values` must vary. Only the
    rest is a fair measure. Raises ConfigError for k < 1.

    >>> import numpy as np
    >>> ids = np.random.default_rng(0).integers(0, 5, 400)
    >>> after_a_two = np.concatenate(([False], ids[:-1] == 2))
    >>> half = np.arange(400) < 200
    >>> [bool(predicted(ids, after_a_two, k, half)[200:][after_a_two[200:]].min() > 0) for k in (1, 2)]
    [False, True]
    """
    if k < 1:
        raise ConfigError("a context has 1 character or more; received {k}", k=k)
    # A text of T characters has far fewer different contexts, C: the features are of these.
    table, context = _features(ids, k)
    # Repeated contexts become one weighted row: the same fit in far less time.
    if values.dtype != np.bool_:
        from sklearn.linear_model import Ridge

        ranked = ranking.ranks(values[learn]) / max(1, int(learn.sum()))
        contexts, rows, weight = np.unique(context[learn], return_inverse=True, return_counts=True)
        ridge = Ridge(alpha=16, solver="lsqr", tol=1e-3)
        ridge.fit(table[contexts], np.bincount(rows, ranked) / weight, sample_weight=weight)
        return np.asarray(ridge.predict(table)[context], np.float64)
    from sklearn.linear_model import LogisticRegression

    # A context with its label as one number: 2 c + 1 where the target holds.
    pairs, weight = np.unique(2 * context[learn] + values[learn], return_counts=True)
    # As exact as liblinear to a thousandth of an AUC, in a fiftieth of its time.
    logistic = LogisticRegression(solver="newton-cg", tol=1e-4)
    logistic.fit(table[pairs // 2], pairs % 2 == 1, sample_weight=weight)
    return np.asarray(logistic.decision_function(table)[context], np.float64)


def _features(ids: Ids, k: int) -> tuple[csr_matrix, Ids]:
    """Features of each of C distinct contexts, ones in at most k (V + 1) + 2^HASH_BITS columns: the character
    at each of k places, and the hashed n-grams of 2 to k characters that end there. And each character's
    context, (T,).
    """
    from scipy.sparse import csr_matrix

    T, beyond = len(ids), int(ids.max()) + 1  # an extra symbol stands before the text
    # Before the text stands a symbol that it never has, so that the first characters have contexts too.
    padded = np.concatenate([np.full(k - 1, beyond), ids])
    columns, gram = [], np.zeros(T, np.uint64)
    for lag in range(k):
        symbols = padded[k - 1 - lag :][:T]
        columns.append(lag * (beyond + 1) + symbols)
        # Fibonacci hashing: 2^64 divided by the golden ratio, then a shift that mixes the high bits down.
        gram = (gram ^ (symbols.astype(np.uint64) + np.uint64(1))) * np.uint64(0x9E3779B97F4A7C15)
        gram ^= gram >> np.uint64(29)
        if lag:
            columns.append(k * (beyond + 1) + (gram >> np.uint64(64 - HASH_BITS)).astype(np.int64))
    _, first, context = np.unique(gram, return_index=True, return_inverse=True)
    places = np.stack([column[first] for column in columns], axis=1)
    per_context = places.shape[1]
    ones, ends = np.ones(places.size, np.float32), np.arange(0, places.size + 1, per_context)
    return csr_matrix((ones, places.ravel(), ends)), context

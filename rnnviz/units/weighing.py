"""How sure a search's first unit is, and whether something simpler tells as much, on text that did not rank
it.

    score                     ├──●──┤           its interval
    the character just read        ●   ├─┤      each rival's score, and the interval of the unit's lead
    the last 2, 4, 8 characters    ●   ├─┤      over it
    untrained copies' units        ●   ├─┤
    stability                 how often the unit ranks first in texts drawn anew from the part that ranked

This decides, on the second part of the text; of three, the third says the same again, once it is decided.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from rnnviz.arrays import Array, Doubles, Mask
from rnnviz.networks.progress import Share, run
from rnnviz.reading.trace import Trace
from rnnviz.units import contexts, ranking
from rnnviz.units.claims import Evidence, Report, Search, Simpler
from rnnviz.units.scores import Scores
from rnnviz.units.searching import SHIFTS, Searcher, Split
from rnnviz.units.targets import Target

CANDIDATES = 32
"""Units of which one is ever likely to rank first."""

STABILITY = 200
"""Texts drawn anew to see which unit ranks first."""


def weigh(
    searcher: Searcher,
    search: Search,
    target: Target,
    untrained: Sequence[Array] = (),
    *,
    edges: int = 0,
    resamples: int = STABILITY,
) -> Generator[Share, None, Search]:
    """`search`, which `searcher` found for `target`, with its evidence.

    `untrained` holds the values (T,) of each untrained copy's best unit, `Searcher.best_column`. Contexts are
    read only of a trace. `resamples` are drawn for the stability. Nothing is measured where the target isn't
    in all parts. Raises what `Searcher.search` raises.

    >>> import numpy as np
    >>> from rnnviz.units import run
    >>> mask = Target("planted", np.arange(20_000) % 70 < 30)
    >>> states = np.random.default_rng(0).normal(size=(20_000, 4))
    >>> states[:, 2] += mask.values
    >>> searcher = Searcher(states)
    >>> found = run(weigh(searcher, searcher.search(mask), mask))
    >>> found.evidence.stability, [round(end, 1) for end in found.evidence.report.interval]
    (1.0, [0.7, 0.8])
    """
    split = searcher.split(target, edges)
    series = [searcher.columns(search, 1)[:, 0]]
    if not split.blocks:
        reached = [_scores([column], target, split, split.second).values[0] for column in untrained]
        return replace(search, untrained=tuple(map(float, reached)))
    named: list[tuple[Simpler, int]] = []
    if searcher.ids is not None:
        named.append(("character", 1))
        series.append(_unseen(partial(ranking.by_symbol, searcher.ids, target.values), split))
        for place, k in enumerate(contexts.LENGTHS):
            yield Share(place / (len(contexts.LENGTHS) + 1))
            named.append(("context", k))
            series.append(_unseen(partial(contexts.predicted, searcher.ids, target.values, k), split))
    yield Share(1 - 1 / (len(contexts.LENGTHS) + 1))
    for seed, column in enumerate(untrained):
        named.append(("untrained", seed))
        series.append(np.asarray(column, np.float64))
    parts = [half for half in (split.second, split.third) if half is not None]
    scores = [_scores(series, target, split, part) for part in parts]
    leading = _scores(list(searcher.columns(search, CANDIDATES).T), target, split, split.first)
    return replace(
        search,
        evidence=_evidence(scores, leading, named, resamples),
        untrained=tuple(
            float(value)
            for value, (kind, _n) in zip(scores[0].values[1:], named, strict=True)
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
    shifts: int = SHIFTS,
    seed: int = 0,
    untrained: Iterable[Trace] = (),
) -> Search:
    """One search; arguments and errors as for `Searcher` and `Searcher.search`. `untrained` are traces of the
    same text by networks before training, see `rnnviz.units.untrained`: with them the search is weighed.

    >>> import numpy as np
    >>> from rnnviz.units import span_target
    >>> mask = span_target([(t, t + 9) for t in range(0, 500, 50)], "machine " * 70)
    >>> noise = np.random.default_rng(0).normal(size=(560, 3))
    >>> search(np.column_stack([noise, mask.values]), mask).best.unit
    Unit(layer=0, unit=3)
    """
    searcher = Searcher(source, layer=layer, quantity=quantity, seed=seed)
    found = searcher.search(target, edges=edges, shifts=shifts)
    copies = [Searcher(copy, layer=layer, quantity=quantity) for copy in untrained]
    if not copies:
        return found
    columns = [copy.best_column(target, edges) for copy in copies]
    return run(weigh(searcher, found, target, columns, edges=edges))


def _unseen(predicted: Callable[[Mask], Doubles], split: Split) -> Doubles:
    """What something tells (T,) of the parts that measure, each time fitted on all the rest."""
    out = predicted(~split.second)
    if split.third is not None:
        out[split.third] = predicted(~split.third)[split.third]
    return out


def _scores(series: Sequence[Array], target: Target, split: Split, part: Mask) -> Scores:
    """Of `series`, (T,) each, on a part of the text."""
    near = None if split.near is None else split.near[part]
    return Scores.of(np.column_stack([each[part] for each in series]), target.values[part], near)


def _evidence(
    scores: Sequence[Scores], leading: Scores, named: Sequence[tuple[Simpler, int]], resamples: int
) -> Evidence:
    """Of the scores of the unit and what is `named` on the parts that measure, and of the `leading` units on
    the one that ranks."""
    rivals = [tuple(one.rival(n, *who) for n, who in enumerate(named, 1)) for one in scores]
    if not all(one.sure for one in (leading, *scores)):
        return Evidence(rivals[0], None, None, 0)
    reports = [Report(float(one.values[0]), one.interval(), r) for one, r in zip(scores, rivals, strict=True)]
    return Evidence(
        rivals[0], reports[0].interval, *leading.stability(resamples), *(one for one in reports[1:])
    )

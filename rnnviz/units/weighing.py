"""How sure a search's first unit is, and whether something simpler tells as much, on the half of the text
that did not rank it.

    score                     ├──●──┤           its interval, by a moving-block bootstrap
    the character just read        ●   ├─┤      each rival's score, and the interval of the unit's lead
    the last 2, 4, 8 characters    ●   ├─┤      over it, in the same texts drawn anew
    untrained copies' units        ●   ├─┤
    stability                 how often the unit ranks first in texts drawn anew from the other half
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.networks.progress import Share, run
from rnnviz.reading.resampling import from_long_runs
from rnnviz.reading.trace import Trace
from rnnviz.units import contexts, ranking, resampling
from rnnviz.units.claims import Evidence, Rival, Search, Simpler
from rnnviz.units.searching import Searcher, Split
from rnnviz.units.targets import Target

Doubles = npt.NDArray[np.float64]

CANDIDATES = 32
"""Units of which one is ever likely to rank first."""

STABILITY = 200
"""Texts drawn anew to see which unit ranks first."""


class WeighProgress(Share):
    """The share of the work that is done, 0 to 1."""


def weigh(
    searcher: Searcher,
    search: Search,
    target: Target,
    untrained: Sequence[npt.NDArray[Any]] = (),
    *,
    edges: int = 0,
    resamples: int = resampling.RESAMPLES,
) -> Generator[WeighProgress, None, Search]:
    """`search`, which `searcher` found for `target`, with its evidence, after Künsch (1989).

    `untrained` holds the values (T,) of each untrained copy's best unit, `Searcher.best_column`. Contexts are
    read only of a trace. Nothing is measured where the target isn't in both halves. Raises what
    `Searcher.search` raises.

    >>> import numpy as np
    >>> from rnnviz.units import run
    >>> mask = Target("planted", np.arange(20_000) % 70 < 30)
    >>> states = np.random.default_rng(0).normal(size=(20_000, 4))
    >>> states[:, 2] += mask.values
    >>> searcher = Searcher(states)
    >>> found = run(weigh(searcher, searcher.search(mask), mask))
    >>> found.evidence.stability, [round(end, 2) for end in found.evidence.interval]
    (1.0, [0.74, 0.76])
    """
    split = searcher.split(target, edges)
    if not split.blocks:
        return replace(search, untrained=tuple(_score(column, target, split) for column in untrained))
    named: list[tuple[Simpler, int, Doubles]] = []
    if searcher.ids is not None:
        named.append(("character", 1, ranking.by_symbol(searcher.ids, target.values, split.first)))
        for place, k in enumerate(contexts.LENGTHS):
            yield WeighProgress(place / (len(contexts.LENGTHS) + 1))
            named.append(("context", k, contexts.predicted(searcher.ids, target.values, k, split.first)))
    yield WeighProgress(1 - 1 / (len(contexts.LENGTHS) + 1))
    named += [("untrained", seed, np.asarray(column, np.float64)) for seed, column in enumerate(untrained)]
    scores = [_score(column, target, split) for _kind, _number, column in named]
    evidence = _evidence(searcher, search, target, split, named, scores, resamples)
    reached = tuple(s for s, (kind, *_) in zip(scores, named, strict=True) if kind == "untrained")
    return replace(search, evidence=evidence, untrained=reached)


def search(
    source: Trace | npt.NDArray[Any],
    target: Target,
    *,
    layer: int | None = None,
    quantity: str = "hidden",
    edges: int = 0,
    shifts: int = 200,
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


def _evidence(
    searcher: Searcher,
    search: Search,
    target: Target,
    split: Split,
    named: Sequence[tuple[Simpler, int, Doubles]],
    scores: Sequence[float],
    resamples: int,
) -> Evidence:
    first, second = split.first, split.second
    lengths = from_long_runs(target.values[first]), from_long_runs(target.values[second])
    if None in lengths:
        rivals = [Rival(kind, n, s, None, None, 1.0) for (kind, n, _), s in zip(named, scores, strict=True)]
        return Evidence(tuple(rivals), None, None, 0)
    block = max(length for length in lengths if length)
    series = np.column_stack([searcher.columns(search, 1), *(column for *_, column in named)])[second]
    drawn = resampling.resampled(
        series, target.values[second], block, near=_half(split, second), resamples=resamples
    )
    rivals = []
    for (kind, number, _), score, theirs in zip(named, scores, drawn.T[1:], strict=True):
        lead = drawn[:, 0] - theirs
        rivals.append(Rival(kind, number, score, *resampling.interval(lead), resampling.not_above(lead)))
    return Evidence(
        tuple(rivals),
        resampling.interval(drawn[:, 0]),
        _stability(searcher, search, target, split, block),
        block,
    )


def _stability(searcher: Searcher, search: Search, target: Target, split: Split, block: int) -> float:
    """The share of texts drawn anew from the ranked half in which the first of CANDIDATES stays first."""
    half = split.first
    columns = searcher.columns(search, CANDIDATES)[half]
    drawn = resampling.resampled(
        columns, target.values[half], block, near=_half(split, half), resamples=STABILITY
    )
    return float((drawn.argmax(axis=1) == 0).mean())


def _score(column: npt.NDArray[Any], target: Target, split: Split) -> float:
    values, half = target.values[split.second], column[split.second]
    score = ranking.score(half, values)
    near = _half(split, split.second)
    if near is None:
        return score
    here = np.asarray(values | near)
    return min(score, ranking.score(half[here], values[here]))


def _half(split: Split, half: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_] | None:
    return None if split.near is None else split.near[half]

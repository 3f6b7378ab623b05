"""The control of a search: the same search on the same network untrained.

untrained(model)            copies of a network before any training
control(model, text, …)     what their best units reach, one copy in memory at a time
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial

from rnnviz.networks import untrained as networks
from rnnviz.networks.numpy_model import Network, NumpyModel
from rnnviz.networks.progress import mapped
from rnnviz.reading.trace import Tracer
from rnnviz.units.searching import Searcher
from rnnviz.units.targets import Target

COPIES = 3
"""Untrained copies: what is said of a unit is that it beats the best of them."""

PIECE = 1_000
"""Characters between two steps of progress."""


@dataclass(frozen=True)
class ControlProgress:
    """The share of the work that is done, 0 to 1."""

    fraction: float


def untrained(model: Network, copies: int = COPIES) -> list[NumpyModel]:
    """So many networks of the shape of `model` with random weights, always the same ones.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> model = rnnviz.load("timemachine-gru")
    >>> trace = rnnviz.trace(model, "The Time Traveller smiled at us. " * 9)
    >>> copies = [rnnviz.trace(copy, trace.text) for copy in units.untrained(model)]
    >>> found = units.search(trace, units.target("word-start", trace.text), untrained=copies)
    >>> found.verdict, len(found.untrained)
    ('short', 3)
    """
    return [networks.untrained(model, seed) for seed in range(copies)]


def control(
    model: Network,
    text: str,
    targets: Sequence[Target],
    *,
    layer: int | None = None,
    quantity: str = "hidden",
    edges: int = 0,
    copies: int = COPIES,
) -> Generator[ControlProgress, None, list[tuple[float, ...]]]:
    """For each of `targets` over `text` the score of the best-ranked unit of each untrained copy of `model`.

    `text` is normalised and as long as the targets, as `Trace.text` is; `edges` don't count for graded
    targets. Raises what `Searcher.search` raises.
    """
    found = []
    for number, copy in enumerate(untrained(model, copies)):
        steps = _scores(copy, text, targets, layer, quantity, edges)
        found.append((yield from mapped(steps, partial(_of_all, number, copies))))
    return list(zip(*found, strict=True)) if found else [() for _ in targets]


def _of_all(number: int, copies: int, share: float) -> ControlProgress:
    return ControlProgress((number + share) / copies)


def _scores(
    copy: NumpyModel,
    text: str,
    targets: Sequence[Target],
    layer: int | None,
    quantity: str,
    edges: int,
) -> Generator[float, None, list[float]]:
    """One copy's; yields the share done, a search counted as PIECE characters."""
    total = len(text) + PIECE * len(targets)
    tracer = Tracer(copy)
    traced = tracer.extend("")
    for end in range(PIECE, len(text) + PIECE, PIECE):
        traced = tracer.extend(text[:end])
        yield len(traced) / total
    searcher = Searcher(traced, layer=layer, quantity=quantity)
    scores = []
    for target in targets:
        scores.append(searcher.best_score(target, 0 if target.graded else edges))
        yield (len(traced) + PIECE * len(scores)) / total
    return scores

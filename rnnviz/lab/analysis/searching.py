"""Searches: units ranked for a target on one part of a text, confirmed on another beside chance, reported on
a third.

    text      |  0  |  1  |  2  |  3  |  4  |  5  | …    contiguous blocks, by turns
    ranked on    ▒▒▒               ▒▒▒                   each unit's score, and its direction
    confirmed on       ▒▒▒               ▒▒▒             its score there, in the same direction
    chance             ▒▒▒               ▒▒▒             its score, in either direction, for shifted targets
    reported on              ▒▒▒               ▒▒▒       its score, and its leads: `add_evidence`

A text shorter than MIN_VERDICT_CHARS, which gets no verdict, has the first two parts only.

Among many units one always seems to respond, so the part that confirms is not the part that chose. There a
unit is compared only with its own scores for shifted targets. A shift, unlike shuffling, keeps the target's
rhythm: the honest null for two series that both change slowly. The null counts both directions: a slow target
has few independent shifts, and a quantile from a few is too low. For a target without a unit the first-ranked
unit passes its chance level in at most 5 of 100 searches (measured by `finds` of
`tests/benchmarks/claims.py`). A search finds a correlation; `rnnviz.units.ablate` tests causes.

Shape letters: T time steps, L layers, H units of a layer, U searched units, S shifts.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rnnviz.arrays import Array, Doubles, Integers, Mask
from rnnviz.checks import received
from rnnviz.errors import ConfigError
from rnnviz.lab.analysis import ranking
from rnnviz.lab.analysis.activations import Unit, activations, unit_at_column
from rnnviz.lab.analysis.search_result import Found, Search
from rnnviz.lab.analysis.targets import Target
from rnnviz.networks.model_card import WeightedSum
from rnnviz.networks.verdicts import MIN_VERDICT_CHARS, SIGNIFICANCE_LEVEL
from rnnviz.scoring.trace import Trace

DEFAULT_SHIFTS = 1_000
"""The default number of shifts: enough for a family of 50 searches, and a small share of the time."""

MIN_PART_BLOCKS = 5
"""Blocks of each part of the text, doubled until the target varies in every part."""

MIN_BLOCK_CHARS = 8
"""Characters of a block, at least; finer parts would share words."""


class TextSplit(NamedTuple):
    """A text in `blocks`: the part `first` (T,) ranks, `second` (T,) confirms, `third` (T,) reports, or is
    None. `blocks` 0: the text can't be cut, and the first two parts are the whole. `near` (T,) are the
    characters beside the spans, with edges.
    """

    blocks: int
    first: Mask
    second: Mask
    third: Mask | None
    near: Mask | None

    @property
    def fitting(self) -> Mask:
        """(T,) the characters on which rivals are fitted before `second` measures them."""
        return ~self.second if self.blocks else self.first


class Searcher:
    """The units of a trace, ranked once for any number of searches. `source` is a Trace, of which `layer`
    (None: all) and `quantity` are searched, or a table (T, U) of one `layer`. `seed` chooses the shifts. With
    `sums` a Trace's weighted sums are searched in place of its units, numbered from H on. Raises ConfigError
    for an unfit layer, quantity, shape or seed.

    values    (T, U) the searched values
    units     (U,) the unit of each column
    ids       (T,) the characters as integers; None for a table
    quantity  that of the values
    """

    def __init__(
        self,
        source: Trace | Array,
        *,
        layer: int | None = None,
        quantity: str = "hidden",
        seed: int = 0,
        sums: Sequence[WeightedSum] = (),
    ) -> None:
        self.ids = source.ids if isinstance(source, Trace) else None
        self.sums = tuple(sums)
        if isinstance(source, Trace) and sums:
            planes = [activations(source, layer=weighted.layer, quantity=quantity) for weighted in sums]
            alongs = [weighted.along(plane) for weighted, plane in zip(sums, planes, strict=True)]
            values: Array = np.stack(alongs, axis=1)
        elif isinstance(source, Trace):
            values = activations(source, layer=layer, quantity=quantity)
        else:
            values = np.asarray(source)
        if values.dtype.kind not in "fiub":
            raise ConfigError(
                "a search takes a Trace, or activations (T, U); received {received}",
                received=received(source),
            )
        if values.ndim != 2 or not values.shape[1]:
            raise ConfigError("activations are (T, U); received shape {shape}", shape=values.shape)
        # NaN states of an exploded network can't be ranked: as 0 they are ties.
        self.values: Array = np.nan_to_num(values, posinf=np.inf, neginf=-np.inf)
        H = source.hidden.shape[2] if isinstance(source, Trace) else values.shape[1]
        self.units = [unit_at_column(u, H, layer) for u in range(values.shape[1])]
        if sums:
            self.units = [Unit(weighted.layer, H + n) for n, weighted in enumerate(sums)]
        self.quantity, self._seed = quantity, seed
        self._ranked: dict[tuple[int, int], Doubles] = {}

    def __len__(self) -> int:
        return len(self.values)

    def search(self, target: Target, *, edges: int = 0, shifts: int = DEFAULT_SHIFTS) -> Search:
        """Rank all units by how well they separate `target` (T,), or follow a graded one.

        With `edges` k > 0 a unit must also be off within k characters before and after each span. Its score
        is the smaller of two AUCs: against all other characters, as the chance level is, and against these
        alone. `shifts` is S; fewer than 19 can't reach the significance level, and a family takes more, see
        `holm`. Raises ConfigError for a target of another length or a constant one, and numbers out of range.
        """
        self._check(target, edges, shifts)
        split = self.split(target, edges)
        first, second, near = split.first, split.second, split.near
        ranked, measured = self._ranks(split, 0), self._ranks(split, 1)
        ranked_by, direction = self._score(ranked, target, first, near)
        score, _ = self._score(measured, target, second, near, direction)
        shifted_scores = self._shifted_scores(measured, target.values[second], shifts)
        # The target itself counts as one of the shifts, so p is never 0 and the test keeps its level.
        p = (1 + (shifted_scores >= score).sum(axis=0)) / (len(shifted_scores) + 1)
        order = np.argsort(-ranked_by, kind="stable")
        first_unit_shifted = np.sort(shifted_scores[:, order[0]])
        ranked_units = [self.units[u] for u in order.tolist()]
        numbers = (column[order].tolist() for column in (score, ranked_by, direction, p))
        return Search(
            found=tuple(map(Found, ranked_units, *numbers)),
            target=target.name,
            measure="correlation" if target.graded else "AUC",
            quantity=self.quantity,
            chance=_quantile(first_unit_shifted),
            shifts=first_unit_shifted,
            character=None
            if self.ids is None
            else ranking.score(
                ranking.predict_by_symbol(self.ids, target.values, split.fitting)[second],
                target.values[second],
            ),
            held_out=bool(split.blocks),
            characters=len(self),
            inside=None if target.graded else int(target.values.sum()),
            parsed=target.parsed,
            weighted=self.sums[order[0]] if self.sums else None,
        )

    def best_column(self, target: Target, edges: int = 0) -> Doubles:
        """The values (T,) of the best-ranked unit, signed: higher where the target holds."""
        split = self.split(target, edges)
        ranked_by, direction = self._score(self._ranks(split, 0), target, split.first, split.near)
        best = int(np.argmax(ranked_by))
        return np.asarray(self.values[:, best] * direction[best])

    def columns(self, search: Search, count: int) -> Doubles:
        """The values (T, count) of the units that ranked first in `search`, signed likewise."""
        chosen = search.found[:count]
        at = [self.units.index(candidate.unit) for candidate in chosen]
        return np.asarray(self.values[:, at] * [candidate.direction for candidate in chosen])

    def split(self, target: Target, edges: int = 0) -> TextSplit:
        """The parts of the text for `target`. Raises the errors of `search`."""
        self._check(target, edges, 0)
        near = _near(target, edges) if edges else None
        # Three parts where the text allows them: the third measures once more what the second has decided.
        for parts in (3, 2) if len(self) >= MIN_VERDICT_CHARS else (2,):
            blocks = MIN_PART_BLOCKS * parts
            while len(self) // blocks >= MIN_BLOCK_CHARS:
                # Blocks by turns and not one half each: a text changes from its beginning to its end, and
                # the parts should be alike. A target that is rare needs finer blocks to be in each part.
                dealt = np.arange(len(self)) * blocks // len(self) % parts  # by turns
                masks = [dealt == part for part in range(parts)]
                if all(varies(target.values[m]) and (near is None or near[m].any()) for m in masks):
                    return TextSplit(blocks, masks[0], masks[1], masks[2] if parts == 3 else None, near)
                blocks *= 2
        whole = np.ones(len(self), np.bool_)
        return TextSplit(0, whole, whole, None, near)

    def _check(self, target: Target, edges: int, shifts: int) -> None:
        name = target.name
        if edges < 0:
            raise ConfigError("edges counts characters, from 0 on; received {edges}", edges=edges)
        if edges and target.graded:
            raise ConfigError("{name} is a matter of degree and has no edges; leave edges out", name=name)
        if not 0 <= shifts <= 10_000:
            raise ConfigError("shifts is a number from 0 to 10,000; received {shifts}", shifts=shifts)
        target.check(len(self))

    def _ranks(self, split: TextSplit, part: int) -> Doubles:
        """The ranks (n, U) within the part that ranks (0) or confirms (1); either may be the whole text."""
        # Sorting is most of a search's time, and targets with the same split share its ranks.
        key = split.blocks, part if split.blocks else 0  # so many blocks are of two parts, or of three
        if key not in self._ranked:
            self._ranked[key] = ranking.ranks(self.values[split[1 + part]])
        return self._ranked[key]

    def _score(
        self,
        ranked: Doubles,
        target: Target,
        part: Mask,
        near: Mask | None,
        direction: Integers | None = None,
    ) -> tuple[Doubles, Integers]:
        """The score (U,) of each unit in a direction (U,); None: the better one."""
        values = target.values[part]
        if target.graded:
            up = ranking.correlation(ranked, ranking.ranks(values))
            down = -up
        else:
            scores = [ranking.auc(ranked, values)]
            if near is not None:
                nearby = np.asarray(values | near[part])
                scores.append(ranking.auc(ranking.ranks(self.values[part][nearby]), values[nearby]))
            # The worse of the two AUCs in either direction: downwards it is 1 minus the larger one.
            up, down = np.min(scores, axis=0), 1 - np.max(scores, axis=0)
        if direction is None:
            direction = np.where(down > up, -1, 1)
        return np.where(direction > 0, up, down), direction

    def _shifted_scores(self, ranked: Doubles, values: Array, shifts: int) -> Doubles:
        """The score (S, U) of each unit, in either direction, for each shifted target."""
        n = len(values)
        nearest = max(1, n // 20)  # a smaller shift still overlaps the target itself
        possible = np.arange(nearest, n - nearest + 1)
        if len(possible) > shifts:
            possible = np.random.default_rng(self._seed).choice(possible, shifts, replace=False)
        if not len(possible):
            return np.empty((0, ranked.shape[1]))
        if values.dtype == np.bool_:
            sums = ranking.shifted_products(ranked, values, possible)  # (S, U)
            # Either direction: the larger of AUC and 1 - AUC.
            return np.asarray(np.abs(ranking.auc_from_sums(sums, values) - 0.5) + 0.5)
        target = ranking.ranks(values)
        sums = ranking.shifted_products(ranked, target, possible)
        return np.abs(ranking.correlation_from_sums(sums, ranked, target))


def varies(values: Array) -> bool:
    """Whether `values` holds at least two different values."""
    return bool(len(values)) and bool((values != values[0]).any())


def _near(target: Target, edges: int) -> Mask:
    """The `edges` characters before and after each span, where the target doesn't hold."""
    out = np.zeros(len(target), np.bool_)
    for start, stop in target.spans():
        out[max(0, start - edges) : start] = True
        out[stop : stop + edges] = True
    return np.asarray(out & ~target.values)


def _quantile(shifted_scores: Doubles) -> float:
    """The value that a further draw exceeds with a probability of at most SIGNIFICANCE_LEVEL."""
    place = math.ceil((1 - SIGNIFICANCE_LEVEL) * (len(shifted_scores) + 1))
    return float(shifted_scores[place - 1]) if 0 < place <= len(shifted_scores) else 1.0

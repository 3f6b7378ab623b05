"""Which units respond to something: ranked on one half of a text, measured on the other, beside chance.

    text      |  0  |  1  |  2  |  3  | …    contiguous blocks, by turns
    ranked on    ▒▒▒         ▒▒▒             how well each unit tells, and in which direction
    measured on        ▒▒▒         ▒▒▒       how well it tells there, in the same direction
    chance             ▒▒▒         ▒▒▒       with the target shifted around the end: the best of all units

Of many units one will always seem to respond. How well the best of all units
does for a target that is shifted against the text, again and again, is what a
search can find where there is nothing. A shift keeps the target's own rhythm,
which shuffling characters one by one would destroy: it is the honest null
for two series that both change slowly. A unit that is above the line
in 95 of 100 shifts is one that chance produces in at most 5 of 100 searches.

What is found is a correlation: such a unit need not be the cause of anything.
`rnnviz.units.ablate` asks about that.

Shape letters: T time steps, L layers, H units of a layer, U of all that are searched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.reading.trace import Trace
from rnnviz.units import ranking
from rnnviz.units.targets import Target
from rnnviz.units.unit import Unit, activations, unit_of

Doubles = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Measure = Literal["AUC", "correlation"]

LEVEL = 0.05
"""How often a search finds something where there is nothing, at most."""

SHORTEST_BLOCK = 8
"""Characters; halves cut finer than this would hold the same passages."""


@dataclass(frozen=True)
class Found:
    """A unit and how well it tells.

    score      AUC (0.5: not at all, 1: always) or correlation (0 to 1), on the half that ranked nothing;
               less, where the direction turned round there
    ranked_by  the same on the half it was ranked on, never below 0.5, or 0
    direction  +1 if it is higher where the target holds, -1 if it is lower
    p          the share of shifted targets for which the best unit does at least as well
    """

    unit: Unit
    score: float
    ranked_by: float
    direction: int
    p: float


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found: `found` holds all units, that which ranked best first.

    chance      what the best unit reaches by chance in 1 - LEVEL of all searches; 1.0 where
                the text is too short to say
    shifts      (S,) what the best unit reached for each shifted target, in increasing order
    character   what the character just read tells by itself, measured as `score` is: a unit that tells no
                more needs no memory; None where only activations were given
    held_out    False where the target couldn't be found in both halves: ranked and measured on one text
    characters  T; `inside` of them within the target, None if it is graded
    """

    target: str
    measure: Measure
    quantity: str
    found: tuple[Found, ...]
    chance: float
    shifts: Doubles
    character: float | None
    held_out: bool
    characters: int
    inside: int | None

    @property
    def best(self) -> Found:
        """The unit that ranked best."""
        return self.found[0]

    @property
    def above_chance(self) -> tuple[Found, ...]:
        """The units that are above the line, in their order."""
        return tuple(f for f in self.found if f.score > self.chance)


class Searcher:
    """The units of a trace, ranked once for any number of searches.

    `source` is a Trace, of which `layer` (all where it is None) and `quantity`
    are looked at, see `activations`; or such a table (T, U) itself, with the
    units of one `layer`. `seed` chooses the shifts.
    """

    def __init__(
        self,
        source: Trace | npt.NDArray[Any],
        *,
        layer: int | None = None,
        quantity: str = "hidden",
        seed: int = 0,
    ) -> None:
        if isinstance(source, Trace):
            self._values, self._H = (
                activations(source, layer=layer, quantity=quantity),
                source.hidden.shape[2],
            )
        else:
            if source.ndim != 2 or not source.shape[1]:
                raise ConfigError("activations are (T, U); received shape {shape}", shape=source.shape)
            self._values, self._H, layer = source, source.shape[1], layer or 0
        self._ids = source.ids if isinstance(source, Trace) else None
        # A network that exploded has states that can't be ranked; they count as equal.
        self._values = np.nan_to_num(self._values, posinf=np.inf, neginf=-np.inf)
        if seed < 0:
            raise ConfigError("seed is a whole number from 0 on; received {seed}", seed=seed)
        self._layer, self.quantity, self._seed = layer, quantity, seed
        self._ranked: dict[tuple[int, int], Doubles] = {}

    def __len__(self) -> int:
        """T."""
        return len(self._values)

    def search(self, target: Target, *, edges: int = 0, shifts: int = 200) -> Search:
        """Rank all units by how well they tell where `target` (T,) holds, or how much.

        With `edges` k > 0 a unit must also be off within the k characters just
        before and just after each span: its score is the smaller of the AUC
        against all other characters and that against these. The chance line
        is that of the former, which the smaller of the two passes no more often.
        `shifts` is S; fewer than 19 can't tell the LEVEL.

        Raises ConfigError for a target of another length, one that holds
        nowhere or everywhere, or is the same everywhere, and for numbers out of range.
        """
        if len(target) != len(self):
            raise ConfigError(
                "{name} covers {count:,} characters, the activations {count2:,}",
                name=target.name,
                count=len(target),
                count2=len(self),
            )
        if edges < 0:
            raise ConfigError("edges counts characters, from 0 on; received {edges}", edges=edges)
        if edges and target.graded:
            raise ConfigError("{name} is a matter of degree and has no edges", name=target.name)
        if not 0 <= shifts <= 10_000:
            raise ConfigError("shifts is a number from 0 to 10,000; received {shifts}", shifts=shifts)
        if not _varies(target.values):
            what = "the same" if target.graded else "true, or false,"
            raise ConfigError(
                "{name} is {what} at every character of this text; choose another text",
                name=target.name,
                what=what,
            )
        near = _near(target, edges) if edges else None
        blocks = self._blocks(target.values, near)
        first, second = (self._half(blocks, half) for half in (0, 1)) if blocks else (slice(None),) * 2
        ranked, other = (self._ranks(blocks, half) for half in (0, 1))
        score, direction = self._score(ranked, target, first, near)
        measured, _ = self._score(other, target, second, near, direction)
        by_chance = self._by_chance(other, target.values[second], shifts)
        order = np.argsort(-score, kind="stable")
        p = 1 - (np.searchsorted(by_chance, measured, side="left")) / (len(by_chance) + 1)
        found = tuple(
            Found(
                unit_of(u, self._H, self._layer),
                float(measured[u]),
                float(score[u]),
                int(direction[u]),
                float(p[u]),
            )
            for u in order.tolist()
        )
        return Search(
            target=target.name,
            measure="correlation" if target.graded else "AUC",
            quantity=self.quantity,
            found=found,
            chance=_quantile(by_chance),
            shifts=by_chance,
            character=None
            if self._ids is None
            else ranking.by_symbol(self._ids, target.values, first, second),
            held_out=bool(blocks),
            characters=len(self),
            inside=None if target.graded else int(target.values.sum()),
        )

    def _blocks(self, values: npt.NDArray[Any], near: Mask | None) -> int:
        """How many blocks to cut the text into, so that both halves have something to tell; 0: none do."""
        blocks = 10
        while len(self) // blocks >= SHORTEST_BLOCK:
            halves = [self._half(blocks, half) for half in (0, 1)]
            if all(_varies(values[h]) and (near is None or near[h].any()) for h in halves):
                return blocks
            blocks *= 2
        return 0

    def _half(self, blocks: int, half: int) -> Mask:
        return np.asarray(np.arange(len(self)) * blocks // max(len(self), 1) % 2 == half)

    def _ranks(self, blocks: int, half: int) -> Doubles:
        if not blocks:
            half = 0
        if (blocks, half) not in self._ranked:
            values = self._values[self._half(blocks, half)] if blocks else self._values
            self._ranked[blocks, half] = ranking.ranks(values)
        return self._ranked[blocks, half]

    def _score(
        self,
        ranked: Doubles,
        target: Target,
        half: Mask | slice,
        near: Mask | None,
        direction: npt.NDArray[np.int64] | None = None,
    ) -> tuple[Doubles, npt.NDArray[np.int64]]:
        """The score (U,) of each unit in a direction (U,), the better one unless it is given."""
        values = target.values[half]
        if target.graded:
            r = ranking.correlation(ranked, ranking.ranks(values[:, None])[:, 0])
            direction = np.where(r < 0, -1, 1) if direction is None else direction
            return r * direction, direction
        all_others = ranking.auc(ranked, values)
        scores = [all_others]
        if near is not None:
            here = np.asarray(values | near[half])
            scores.append(ranking.auc(ranking.ranks(self._values[half][here]), values[here]))
        up, down = np.min(scores, axis=0), 1 - np.max(scores, axis=0)
        direction = np.where(down > up, -1, 1) if direction is None else direction
        return np.where(direction > 0, up, down), direction

    def _by_chance(self, ranked: Doubles, values: npt.NDArray[Any], shifts: int) -> Doubles:
        """What the best unit reaches, in either direction, for each shifted target, in increasing order."""
        n = len(values)
        # A small shift would find what is there.
        nearest = max(1, n // 20)
        possible = np.arange(nearest, n - nearest + 1)
        if len(possible) > shifts:
            generator = np.random.default_rng(self._seed)
            possible = generator.choice(possible, shifts, replace=False)
        if not len(possible):
            return np.empty(0)
        if values.dtype == np.bool_:
            inside = int(values.sum())
            sums = ranking.shifted_products(ranked, values.astype(np.float64), possible)
            far = np.abs(ranking.auc_of_sums(sums, inside, n - inside) - 0.5).max(axis=1) + 0.5
        else:
            ranked_target = ranking.ranks(values[:, None])[:, 0]
            length = np.linalg.norm(ranked, axis=0) * np.linalg.norm(ranked_target)
            products = np.abs(ranking.shifted_products(ranked, ranked_target, possible))
            far = (products / np.where(length > 0, length, np.inf)).max(axis=1)
        return np.sort(far)


def search(
    source: Trace | npt.NDArray[Any],
    target: Target,
    *,
    layer: int | None = None,
    quantity: str = "hidden",
    edges: int = 0,
    shifts: int = 200,
    seed: int = 0,
) -> Search:
    """One search; see `Searcher` for the first arguments, `Searcher.search` for the others and the errors."""
    return Searcher(source, layer=layer, quantity=quantity, seed=seed).search(
        target, edges=edges, shifts=shifts
    )


def _varies(values: npt.NDArray[Any]) -> bool:
    return bool(len(values)) and bool((values != values[0]).any())


def _near(target: Target, edges: int) -> Mask:
    """The `edges` characters before and after each span, where the target doesn't hold."""
    out = np.zeros(len(target), np.bool_)
    for start, stop in target.spans():
        out[max(0, start - edges) : start] = True
        out[stop : stop + edges] = True
    return np.asarray(out & ~target.values)


def _quantile(by_chance: Doubles) -> float:
    """The value that one more draw of the same kind exceeds with a probability of at most LEVEL."""
    place = math.ceil((1 - LEVEL) * (len(by_chance) + 1))
    return float(by_chance[place - 1]) if 0 < place <= len(by_chance) else 1.0

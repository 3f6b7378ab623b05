"""What is found by reading without units: the losses, whether their ranking replicates, and where they fall.

Shape letters: n characters, U units, m passages, R random directions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rnnviz.arrays import Doubles, Ids, Mask
from rnnviz.pictured import Brief
from rnnviz.reading import scoring
from rnnviz.reading.resampling import Resampled, from_correlation, resample
from rnnviz.units.ranking import correlation, ranks
from rnnviz.units.targets import Target

STRETCHES = 20
"""Parts of the text whose losses give their mean's standard error."""

PASSAGES, PASSAGE = 1000, 100
"""Losses are added up by passages, of which intervals are drawn: so many, of so many characters at most."""

REPLICATES = 0.5
"""The rank correlation of losses between two halves of a text below which no ranking should be shown."""

SAMPLES = 500


@dataclass(frozen=True, eq=False, repr=False)
class Within(Brief):
    """What units are worth where a target holds, and elsewhere, nats a character; each a Resampled (U,).

    A character counts as inside if the target held once the one before it had been read: its prediction was
    made there. `difference` is inside less outside.
    """

    target: str
    characters: int
    inside: Resampled
    outside: Resampled
    difference: Resampled


@dataclass(frozen=True, eq=False, repr=False)
class Ablation(Brief):
    """What each unit is worth on a text of `characters` characters.

    units       (U,) of `layer`, in the order asked for
    loss        (U,) nats a character lost without the unit; 0: nothing depends on it
    error       (U,) standard error of `loss`, from parts of the text; nan for a text that is too short
    baseline    the perplexity of the whole network
    perplexity  (U,) without each unit
    characters  that were read; fewer than the text's where the ranking replicated before its end
    passages    (m, U) the losses of the passages of the text, added up over `counts` (m,) characters
    within      the losses inside a target and outside, where one was given
    random      the same of random directions, numbered by their seeds; None where none were asked for
    """

    layer: int
    units: Ids
    loss: Doubles
    error: Doubles
    baseline: float
    perplexity: Doubles
    characters: int
    passages: Doubles | None = None
    counts: Doubles | None = None
    within: Within | None = None
    random: Ablation | None = None

    @property
    def order(self) -> Ids:
        """The units, largest loss first."""
        return self.units[np.argsort(-self.loss, kind="stable")]

    @cached_property
    def replication(self) -> float:
        """The rank correlation (Spearman) of the losses in the first half of the passages and in the second.

        nan for fewer than three units or two passages.
        """
        if self.passages is None or len(self.passages) < 2 or len(self.units) < 3:
            return math.nan
        half = len(self.passages) // 2
        one, other = self.passages[:half].sum(axis=0), self.passages[half:].sum(axis=0)
        return float(correlation(ranks(one[:, None]), ranks(other))[0])

    @property
    def replicates(self) -> bool:
        """Whether two halves of the text rank the units alike enough for a ranking to mean something."""
        return self.replication >= REPLICATES

    @property
    def needed(self) -> float:
        """At least about how many characters it takes until it `replicates`; inf where the halves have
        nothing in common. (Spearman 1910 and Brown 1910: noise falls with the length.)

        Halves of a short text are about the same thing and agree better than other text will: of python-gru's
        units, after 4,000 characters this is 8,000, and 64,000 are not enough.
        """
        r = self.replication
        return self.characters * (1 - r) / r * REPLICATES / (1 - REPLICATES) if r > 0 else math.inf

    @cached_property
    def interval(self) -> Resampled:
        """`loss` (U,) with its interval over passages."""
        assert self.passages is not None
        assert self.counts is not None
        return _per_character(self.passages, self.counts)

    @cached_property
    def lead(self) -> Resampled | None:
        """By how much more each unit costs (U,) than the random direction that costs most, with an interval
        over passages; None where none were asked for.
        """
        if self.random is None:
            return None
        assert self.passages is not None
        assert self.counts is not None
        assert self.random.passages is not None
        most = self.random.passages[:, [int(self.random.loss.argmax())]]
        return _per_character(self.passages - most, self.counts)

    @property
    def beyond(self) -> int | None:
        """How many units surely cost more than every random direction: the interval of the `lead` is above 0.
        None where there is none.
        """
        return int((self.lead.low > 0).sum()) if self.lead is not None and self.lead.enough else None


class Tally:
    """Adds up losses by passage: of `columns` units and directions over n characters; by `mask` (n,) too."""

    def __init__(self, columns: int, n: int, mask: Mask | None) -> None:
        self._passage = self.passage_of(n)
        m = -(-n // self._passage)
        self._at = np.arange(n) // self._passage
        self._sums = np.zeros((2, m, columns))  # outside, inside
        # Row t holds once character t has been read: what is predicted there is character t + 1.
        self._inside = np.zeros(n, np.int64)
        if mask is not None:
            self._inside[1:] = mask[:-1]

    @staticmethod
    def passage_of(n: int) -> int:
        """Characters of a passage of a text of n."""
        return int(np.clip(n // PASSAGES, 1, PASSAGE))

    def add(self, here: slice, columns: slice, extra: Doubles) -> None:
        """The losses (k, B) of characters `here`."""
        np.add.at(self._sums[:, :, columns], (self._inside[here], self._at[here]), extra)

    def resampled(self, target: Target | None) -> tuple[Resampled, Within | None]:
        """The losses (columns,) of all n characters, and of those inside and outside."""
        counts = self._counts(len(self._at))
        sums = self._sums.sum(axis=0)
        # The block is that of the first column: a few controls that wander would leave no interval to any.
        losses = _per_character(sums, counts.sum(axis=0), from_correlation(sums[:, 0]))
        return losses, None if target is None else _within(target.name, self._sums, counts, one=True)

    def _counts(self, n: int) -> Doubles:
        """(2, m) of the first n characters, outside and inside."""
        m, inside = int(self._at[n - 1]) + 1, self._inside[:n]
        sides = [np.bincount(self._at[:n][inside == side], minlength=m) for side in (0, 1)]
        return np.stack(sides).astype(np.float64)

    def ablation(self, layer: int, units: Ids, nats: float, n: int, target: Target | None) -> Ablation:
        """The result of the first n characters, which cost the whole network `nats`; columns beyond `units`
        are of random directions.
        """
        counts = self._counts(n)
        m = counts.shape[1]

        def of(which: Ids, columns: slice, random: Ablation | None = None) -> Ablation:
            sums = self._sums[:, :m, columns]
            within = None if target is None else _within(target.name, sums, counts)
            return _ablation(layer, which, sums.sum(axis=0), counts.sum(axis=0), nats, within, random)

        U, every = len(units), self._sums.shape[2]
        random = None if every == U else of(np.arange(every - U), slice(U, every))
        return of(units, slice(0, U), random)


def _ablation(
    layer: int,
    units: Ids,
    sums: Doubles,
    counts: Doubles,
    nats: float,
    within: Within | None,
    random: Ablation | None,
) -> Ablation:
    """Of the losses (m, U) of passages of `counts` (m,) characters."""
    n, error = int(counts.sum()), np.full(len(units), np.nan)
    if len(counts) >= STRETCHES:
        starts = np.arange(STRETCHES) * len(counts) // STRETCHES
        parts = np.add.reduceat(sums, starts) / np.add.reduceat(counts, starts)[:, None]
        error = parts.std(axis=0, ddof=1) / np.sqrt(STRETCHES)
    total = sums.sum(axis=0)
    return Ablation(
        layer=layer,
        units=units,
        loss=total / n,
        error=error,
        baseline=scoring.of_sum(nats, n),
        perplexity=np.array([scoring.of_sum(float(nats + more), n) for more in total]),
        characters=n,
        passages=sums,
        counts=counts,
        within=within,
        random=random,
    )


def _per_character(sums: Doubles, counts: Doubles, block: int | None = None) -> Resampled:
    """The mean (U,) of losses (m, U) over `counts` (m,) characters; nan where there are none."""

    def ratio(means: Doubles) -> Doubles:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(means[..., :-1] / means[..., -1:])

    return resample(np.column_stack([sums, counts]), samples=SAMPLES, block=block or _block(sums)).of(ratio)


def _block(sums: Doubles) -> int:
    """The passages of a block for losses (m, U): the middle one of sixteen columns' at most."""
    columns = np.argsort(-sums.var(axis=0))[:16].tolist()
    return int(np.median([from_correlation(sums[:, column]) for column in columns]))


def _within(name: str, sums: Doubles, counts: Doubles, *, one: bool = False) -> Within:
    """Of the losses (2, m, U) outside and inside, and the characters (2, m)."""
    U = sums.shape[2]
    table = np.column_stack([sums[1], sums[0], counts[1], counts[0]])  # (m, 2 U + 2)
    block = max(_block(side[:, :1] if one else side) for side in sums)
    drawn = resample(table, samples=SAMPLES, block=block)

    def inside(means: Doubles) -> Doubles:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(means[..., :U] / means[..., -2, None])

    def outside(means: Doubles) -> Doubles:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(means[..., U : 2 * U] / means[..., -1, None])

    return Within(
        name,
        int(counts[1].sum()),
        drawn.of(inside),
        drawn.of(outside),
        drawn.of(lambda means: inside(means) - outside(means)),
    )

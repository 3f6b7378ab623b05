"""What a search found, and what may be said of it: where a unit only tells as much as something simpler does,
it is that which is named.

    chance      what the same unit reaches for shifted targets
    character   what the character just read tells by itself
    context     what the last few characters tell by themselves
    untrained   what the best unit of the same network reaches before any training, found by the same
                procedure: random weights echo what was just read, so that some unit of theirs tells much
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.pictured import Pictured
from rnnviz.units.unit import Unit

Measure = Literal["AUC", "correlation"]

LEVEL = 0.05
"""The significance level of a search, and of all of a family together."""

MARGIN = 0.02
"""A lead smaller than this is not worth a name, however sure it is."""

ENOUGH = 20_000
"""Characters from which on it is said whether a unit remembers. On fewer, another stretch of the same text
often has another best unit."""

Simpler = Literal["character", "context", "untrained"]
Verdict = Literal[
    "short", "same text", "nothing", "open", "character", "context", "untrained", "chance", "remembers"
]
"""What a search comes to.

short      fewer than ENOUGH characters, or too few for an interval: nothing is said
same text  ranked and measured on one text: nothing is said
nothing    the best-ranked unit is not above chance
open       it is, but what is simpler was not measured, or not how sure the lead is
character  it does not surely tell more than the character just read
context    it does not surely tell more than the last few characters
untrained  it does not surely tell more than an untrained network's best unit
chance     it is above chance, but by less than MARGIN
remembers  it is above all of them by more than MARGIN, and by intervals that exclude zero
"""


@dataclass(frozen=True)
class Rival:
    """Something simpler than a unit that remembers, measured on the same text.

    kind       "character", "context" or "untrained"
    number     of a context the characters it has, of an untrained copy its seed
    score      what it reaches there
    low, high  95 % interval of the unit's lead over it, or None for too short a text
    p          two-sided, of no lead
    """

    kind: Simpler
    number: int
    score: float
    low: float | None
    high: float | None
    p: float

    def beaten_by(self, score: float) -> bool:
        """Whether a unit of this `score` tells more."""
        return self.low is not None and self.low > 0 and score - self.score > MARGIN

    @property
    def suffices(self) -> bool:
        """Whether no unit is needed: it surely leads by no more than MARGIN."""
        return self.high is not None and self.high <= MARGIN


@dataclass(frozen=True)
class Report:
    """What a search's best-ranked unit, and what is simpler, reach on text that neither ranked nor confirmed
    it: what is confirmed by a score is overrated by that score.

    score, interval  of the unit
    rivals           as in Evidence
    """

    score: float
    interval: tuple[float, float]
    rivals: tuple[Rival, ...]


@dataclass(frozen=True)
class Evidence:
    """How sure a search's best-ranked unit is, on the part of the text that confirms.

    rivals      the simplest first
    interval    95 % interval of its score, see `rnnviz.units.scores`; None for too short a text
    stability   the share of texts drawn anew from the ranking part in which this unit ranks first, or None
    block       characters of a block of these, or 0
    report      the same on the third part; None where the text is too short to be cut into three
    """

    rivals: tuple[Rival, ...]
    interval: tuple[float, float] | None
    stability: float | None
    block: int
    report: Report | None = None

    @property
    def p(self) -> float:
        """Of the claim that the unit beats all rivals: the largest of theirs."""
        return max((rival.p for rival in self.rivals), default=1.0)

    def unbeaten(self, score: float, level: float = LEVEL) -> Rival | None:
        """The simplest rival that a unit of this `score` does not beat; of those it does, tested at `level`,
        the one that came closest; None where it beats all."""
        for rival in self.rivals:
            if not rival.beaten_by(score):
                return rival
        closest = max(self.rivals, key=lambda rival: rival.p, default=None)
        return closest if closest is not None and closest.p > level else None

    def strongest(self, score: float, level: float = LEVEL) -> Rival | None:
        """Of the rivals that a unit of this `score` does not beat, the one that reaches most."""
        unbeaten = [rival for rival in self.rivals if not rival.beaten_by(score)]
        return max(unbeaten, key=lambda rival: rival.score, default=self.unbeaten(score, level))


def verdict(
    score: float,
    chance: float,
    character: float | None,
    untrained: Sequence[float],
    characters: int,
    *,
    held_out: bool = True,
    evidence: Evidence | None = None,
    p: float = 0.0,
    level: float = LEVEL,
    lead_level: float = LEVEL,
) -> Verdict:
    """What may be said of a unit that was ranked best on one part of a text and reaches `score` on another.
    `p`, that chance does as well, is held against `level`, the leads over what is simpler against
    `lead_level`: Holm's, where a family of targets was searched.

    >>> verdict(0.986, 0.567, 0.935, [0.991, 0.995, 0.994], characters=200_000)
    'untrained'
    """
    below = score - MARGIN
    if characters < ENOUGH:
        return "short"
    if not held_out:
        return "same text"
    if score <= chance or p > level:
        return "nothing"
    if evidence is not None:
        if evidence.interval is None:
            return "short"
        rival = evidence.unbeaten(score, lead_level)
        if rival is not None:
            return rival.kind
    if character is not None and below <= character:
        return "character"
    if untrained and below <= max(untrained):
        return "untrained"
    if below <= chance:
        return "chance"
    kinds = {rival.kind for rival in evidence.rivals} if evidence is not None else set()
    return "remembers" if {"context", "untrained"} <= kinds else "open"


@dataclass(frozen=True)
class Found:
    """A unit and how well it tells.

    score      AUC (0.5: not at all, 1: always) or correlation (0 to 1) on the part that confirms; below 0.5,
               or 0, where its direction turned round there
    ranked_by  the same on the part that ranks, at least 0.5 or 0
    direction  +1 if it is higher where the target holds, -1 if it is lower
    p          the share of shifted targets for which it does at least as well, in either direction
    """

    unit: Unit
    score: float
    ranked_by: float
    direction: int
    p: float


@dataclass(frozen=True, eq=False, repr=False)
class Search(Pictured):
    """What a search found: `found` holds all units, the best-ranked first.

    chance      what `best` reaches for 95 of 100 shifted targets; 1.0 for too short a text
    shifts      (S,) its score, in either direction, for each of them, in increasing order
    character   the score of the character just read; a unit that tells no more needs no memory; None
                where only activations were given
    held_out    False where the target isn't in all parts: ranked and measured on one text
    characters  T; `inside` of them within the target, None if it is graded
    untrained   the score of the best-ranked unit of each untrained copy; () where none was read
    evidence    how sure `best` is, and what simpler things reach; None where that was not asked
    levels      at which it is tested against chance and against what is simpler; see `holm`
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
    untrained: tuple[float, ...] = ()
    evidence: Evidence | None = None
    levels: tuple[float, float] = (LEVEL, LEVEL)

    def __repr__(self) -> str:
        best = self.best
        return (
            f"<Search for {self.target} among {len(self.found):,} units: {best.unit}, {self.measure} "
            f"{best.score:.3f}, chance {self.chance:.3f}, {self.verdict!r}>"
        )

    @property
    def best(self) -> Found:
        """The unit that ranked best: the only one whose score is on text that did not choose it."""
        return self.found[0]

    @property
    def above_chance(self) -> tuple[Found, ...]:
        """The units above what each reaches by chance, in their order up to the first that is not: those
        after it would be chosen by the text that measures them. Where nothing is to be found, 95 of 100
        searches have none."""
        return tuple(takewhile(lambda found: found.p <= LEVEL, self.found))

    @property
    def verdict(self) -> Verdict:
        """What may be said of `best`."""
        return verdict(
            self.best.score,
            self.chance,
            self.character,
            self.untrained,
            self.characters,
            held_out=self.held_out,
            evidence=self.evidence,
            p=self.best.p,
            level=self.levels[0],
            lead_level=self.levels[1],
        )

    @property
    def rival(self) -> Rival | None:
        """The simplest thing that tells as much as `best`, where one was measured that does."""
        kept = self.evidence
        return None if kept is None else kept.unbeaten(self.best.score, self.levels[1])

    @property
    def strongest(self) -> Rival | None:
        """The one of them that tells most."""
        kept = self.evidence
        return None if kept is None else kept.strongest(self.best.score, self.levels[1])


def holm(searches: Iterable[Search]) -> list[Search]:
    """The searches of a family, with the levels at which each is tested, so that at most LEVEL of families
    have a false find, and as many a false "remembers" (Holm 1979): the smallest p is held against LEVEL / m,
    the next against LEVEL / (m - 1), up to the first that fails; all after it fail too. Raises ConfigError if
    a search has too few shifts for a p as small as LEVEL / m: S of them tell no p below 1 / (S + 1).
    """
    family = list(searches)
    enough = shifts_for(len(family))
    for search in family:
        if len(search.shifts) < enough and search.verdict not in ("short", "same text"):
            raise ConfigError(
                "of {family} searches that are tested together, each takes {enough:,} shifts or more; "
                "{target} has {shifts:,}: search again with shifts={enough}",
                family=len(family),
                enough=enough,
                target=search.target,
                shifts=len(search.shifts),
            )
    against_chance = _steps([search.best.p for search in family])
    leads = [search.evidence.p if search.evidence is not None else 1.0 for search in family]
    levels = zip(against_chance, _steps(leads), strict=True)
    return [replace(search, levels=pair) for search, pair in zip(family, levels, strict=True)]


def shifts_for(family: int) -> int:
    """The fewest shifts that can tell the strictest of Holm's levels for so many searches.

    >>> shifts_for(1), shifts_for(11)
    (19, 219)
    """
    return round(family / LEVEL) - 1


def _steps(ps: Sequence[float]) -> list[float]:
    """The level of each, 0 from the first that fails."""
    levels, failed = [0.0] * len(ps), False
    for place, which in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        level = LEVEL / (len(ps) - place)
        failed = failed or ps[which] > level
        levels[which] = 0.0 if failed else level
    return levels

"""Verdicts on units: whether one remembers, or a simpler rival scores as high.

    chance      the same unit's score for shifted targets
    character   the score of the character just read alone
    context     the score of the last few characters alone
    untrained   the score of the best unit of an untrained copy, found by the same procedure: random weights
                echo the last characters, so some of their units score high

A search (`rnnviz.units.find`) finds them; a model's card records them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rnnviz.findings import Sentence, words

Measure = Literal["AUC", "correlation"]

SIGNIFICANCE_LEVEL = 0.05
"""The significance level of a search, and of a whole family together."""

MIN_LEAD = 0.02
"""The smallest lead that a verdict counts, however sure a smaller one is."""

MIN_VERDICT_CHARS = 20_000
"""Characters from which a verdict says whether a unit remembers. On shorter texts, another stretch of the
same text often has another best unit.
"""

UNTRAINED_COPIES = 3
"""Untrained copies: a verdict compares a unit with the best of them."""

Simpler = Literal["character", "context", "untrained"]
Verdict = Literal[
    "short", "same text", "nothing", "open", "character", "context", "untrained", "chance", "remembers"
]
"""A search's conclusion; a table says it in four forms: too little text, not above X, may be X, remembers.

short      fewer than MIN_VERDICT_CHARS characters, or too few for an interval: no conclusion
same text  ranked and measured on one text: no conclusion
nothing    the best-ranked unit is not above chance
open       above chance, but rivals, or the sureness of the lead, were not measured
character  not surely better than the character just read
context    not surely better than the last few characters
untrained  not surely better than an untrained copy's best unit
chance     above chance, but by less than MIN_LEAD
remembers  above all of them by more than MIN_LEAD, and by intervals that exclude zero
"""


@dataclass(frozen=True)
class Rival:
    """A simpler explanation than a unit that remembers, measured on the same text.

    kind       "character", "context" or "untrained"
    number     the characters of a context, or the seed of an untrained copy
    score      AUC or correlation on that text
    low, high  95 % interval of the unit's lead over the rival, or None for too short a text
    p          two-sided, of no lead
    """

    kind: Simpler
    number: int
    score: float
    low: float | None
    high: float | None
    p: float

    def beaten_by(self, score: float) -> bool:
        """Whether a unit of this `score` surely scores higher."""
        return self.low is not None and self.low > 0 and score - self.score > MIN_LEAD

    @property
    def suffices(self) -> bool:
        """Whether no unit is needed: the unit's lead surely is at most MIN_LEAD."""
        return self.high is not None and self.high <= MIN_LEAD


@dataclass(frozen=True)
class Report:
    """Scores of a search's best-ranked unit and its rivals on text that neither ranked nor confirmed it. The
    confirming score is biased upwards; this one is not.

    score, interval  of the unit
    rivals           as in Evidence
    """

    score: float
    interval: tuple[float, float]
    rivals: tuple[Rival, ...]


@dataclass(frozen=True)
class Evidence:
    """How sure the best-ranked unit's score is, on the part of the text that confirms.

    rivals      the simplest first
    interval    95 % interval of the score, see `rnnviz.lab.analysis.evidence`; None for too short a text
    stability   the share of resampled texts of the ranking part in which this unit ranks first, or None
    block       characters of a bootstrap block, or 0
    report      scores on the third part; None where the text is too short to be cut into three
    """

    rivals: tuple[Rival, ...]
    interval: tuple[float, float] | None
    stability: float | None
    block: int
    report: Report | None = None

    @property
    def p(self) -> float:
        """The p-value of beating all rivals: the largest of theirs."""
        return max((rival.p for rival in self.rivals), default=1.0)

    def unbeaten(self, score: float, level: float = SIGNIFICANCE_LEVEL) -> Rival | None:
        """The simplest rival that a unit of this `score` does not beat. If it beats all, the closest rival
        where the lead fails at `level`; else None.
        """
        for rival in self.rivals:
            if not rival.beaten_by(score):
                return rival
        closest = max(self.rivals, key=lambda rival: rival.p, default=None)
        return closest if closest is not None and closest.p > level else None

    def strongest(self, score: float, level: float = SIGNIFICANCE_LEVEL) -> Rival | None:
        """The highest-scoring rival that a unit of this `score` does not beat."""
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
    level: float = SIGNIFICANCE_LEVEL,
    lead_level: float = SIGNIFICANCE_LEVEL,
) -> Verdict:
    """The verdict on a unit that ranked best on one part of a text and has `score` on another. `p`, of chance
    scoring as high, is tested at `level`; leads over rivals are tested at `lead_level`. Both levels are
    Holm's for a family of targets.

    >>> verdict(0.986, 0.567, 0.935, [0.991, 0.995, 0.994], characters=200_000)
    'untrained'
    """
    below = score - MIN_LEAD
    if characters < MIN_VERDICT_CHARS:
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


def measured(measure: Measure) -> Sentence:
    """The name of a measure, in words."""
    return words(f"measure.{measure.lower()}")

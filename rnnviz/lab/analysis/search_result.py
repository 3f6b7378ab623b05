"""Search results and their verdicts. Where a simpler rival scores as high as a unit, the verdict names the
rival.

    chance      the same unit's score for shifted targets
    character   the score of the character just read alone
    context     the score of the last few characters alone
    untrained   the score of the best unit of an untrained copy, found by the same procedure: random weights
                echo the last characters, so some of their units score high
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.findings import Json, Panel, Reported, Sentence, report
from rnnviz.lab.analysis.activations import Unit
from rnnviz.lab.analysis.targets import Target
from rnnviz.networks.model_card import WeightedSum
from rnnviz.networks.verdicts import (
    MIN_VERDICT_CHARS,
    SIGNIFICANCE_LEVEL,
    Evidence,
    Measure,
    Rival,
    Verdict,
    verdict,
)
from rnnviz.reprs import Pictured

MAX_FACTS_UNITS = 10
"""Units that `facts` lists."""


@dataclass(frozen=True)
class Found:
    """A unit and its scores.

    score      AUC (0.5: chance, 1: perfect) or correlation (0 to 1) on the part that confirms; below 0.5, or
               0, where its direction reversed there
    ranked_by  the same on the part that ranks, at least 0.5 or 0
    direction  +1 if the unit is higher where the target holds, -1 if lower
    p          the share of shifted targets with at least this score, in either direction
    """

    unit: Unit
    score: float
    ranked_by: float
    direction: int
    p: float


@dataclass(frozen=True, eq=False, repr=False)
class Search(Pictured, Reported):
    """A search's result: `found` holds all units, the best-ranked first.

    chance      `best` stays below this score for 95 of 100 shifted targets; 1.0 for too short a text
    shifts      (S,) its score, in either direction, for each shift, in increasing order
    character   the score of the character just read; a unit that scores no higher needs no memory; None
                without a text
    held_out    False where the target isn't in all parts: ranked and measured on one text
    characters  T; `inside` of them within the target, None if it is graded
    untrained   the score of the best-ranked unit of each untrained copy; () without copies
    evidence    intervals and rivals of `best`; None where not requested
    levels      significance levels against chance and against rivals; see `holm`
    parsed      that of the target
    weighted     the best-ranked weighted sum, where such sums were searched in place of units
    """

    REPORT = "rnnviz.lab.reports.search"

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
    levels: tuple[float, float] = (SIGNIFICANCE_LEVEL, SIGNIFICANCE_LEVEL)
    parsed: float | None = None
    weighted: WeightedSum | None = None

    def __repr__(self) -> str:
        best, verdict_words = self.best, f"{self.verdict!r}"
        if self.characters < MIN_VERDICT_CHARS:
            verdict_words += (
                f": {self.characters:,} of the {MIN_VERDICT_CHARS:,} characters that a verdict takes"
            )
        among, first = f"{len(self.found):,} units", str(best.unit)
        if self.weighted is not None:
            among, first = (
                f"weighted sums of {len(self.weighted.weights):,} units",
                f"layer {best.unit.layer}",
            )
        return (
            f"<Search for {self.target} among {among}: {first}, {self.measure} "
            f"{best.score:.3f}, chance {self.chance:.3f}, {verdict_words}>"
        )

    @property
    def best(self) -> Found:
        """The best-ranked unit. One chosen by its score would be chosen by the text that measures it."""
        return self.found[0]

    @property
    def above_chance(self) -> tuple[Found, ...]:
        """The units above their chance level, in rank order, up to the first that is not. Later ones would be
        chosen by the text that measures them. For a target without a unit, 95 of 100 searches find none.
        """
        # Tested in rank order and stopped at the first that fails: all together then err in as many searches
        # as one test does, without a correction for the number of units.
        return tuple(takewhile(lambda candidate: candidate.p <= SIGNIFICANCE_LEVEL, self.found))

    @property
    def verdict(self) -> Verdict:
        """The verdict on `best`; see `Verdict`."""
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
        """The simplest measured rival that scores as high as `best`; None without one."""
        evidence = self.evidence
        return None if evidence is None else evidence.unbeaten(self.best.score, self.levels[1])

    @property
    def strongest(self) -> Rival | None:
        """The highest-scoring of these rivals."""
        evidence = self.evidence
        return None if evidence is None else evidence.strongest(self.best.score, self.levels[1])

    def facts(self) -> Json:
        """The values that --json prints: the ten best units."""
        evidence = self.evidence
        return {
            "target": self.target,
            **({} if self.parsed is None else {"parsed": self.parsed}),
            "measure": self.measure,
            "quantity": self.quantity,
            **({} if self.weighted is None else {"weighted": len(self.weighted.weights)}),
            "characters": self.characters,
            "inside": self.inside,
            "held_out": self.held_out,
            "chance": self.chance,
            "above_chance": len(self.above_chance),
            "character": self.character,
            "untrained": list(self.untrained),
            "interval": evidence and evidence.interval and list(evidence.interval),
            "report": evidence and evidence.report and asdict(evidence.report),
            "stability": evidence and evidence.stability,
            "block": evidence and evidence.block,
            "rivals": [asdict(rival) for rival in evidence.rivals] if evidence is not None else [],
            "verdict": self.verdict,
            "units": [
                {
                    "layer": candidate.unit.layer,
                    "unit": candidate.unit.unit,
                    "direction": candidate.direction,
                    "ranked_by": candidate.ranked_by,
                    "score": candidate.score,
                    "p": candidate.p,
                }
                for candidate in self.found[:MAX_FACTS_UNITS]
            ],
        }

    def about(self, unit: int) -> Sentence | None:
        """The score of a unit other than the best-ranked one, in words; None for that one."""
        sentence: Sentence | None = report(self).about(self, unit)
        return sentence

    def panels(self, chosen: int | None = None) -> list[Panel]:
        """Bars of the best units, and of the `chosen` one, beside the rivals' scores."""
        bars: list[Panel] = report(self).panels(self, chosen)
        return bars


@dataclass(frozen=True, eq=False, repr=False)
class Replication(Pictured, Reported):
    """One target searched in several networks, such as seeds of one recipe.

    networks  their names
    searches  the Search of each, in their order
    """

    REPORT = "rnnviz.lab.reports.replication"

    networks: tuple[str, ...]
    searches: tuple[Search, ...]

    def __repr__(self) -> str:
        return (
            f"<Replication of {self.searches[0].target} in {len(self.searches)} networks: {self.remember} "
            "have a unit that remembers>"
        )

    @property
    def remember(self) -> int:
        """The number of networks whose verdict is "remembers"."""
        return sum(search.verdict == "remembers" for search in self.searches)

    @property
    def scores(self) -> tuple[float, ...]:
        """The score of each network's best-ranked unit, on text that didn't choose it."""
        return tuple(search.best.score for search in self.searches)

    def facts(self) -> Json:
        """The number of networks that remember, and the search of each."""
        pairs = zip(self.networks, self.searches, strict=True)
        return {
            "target": self.searches[0].target,
            "networks": len(self.searches),
            "remember": self.remember,
            "found": [{"model": name, **search.facts()} for name, search in pairs],
        }


@dataclass(frozen=True)
class Unanswered(Reported):
    """A target that cannot be searched for: it is constant over the text."""

    REPORT = "rnnviz.lab.reports.unanswered"

    target: Target

    def facts(self) -> Json:
        """The target, and the reason for no search."""
        parsed = {} if self.target.parsed is None else {"parsed": self.target.parsed}
        return {"target": self.target.name, **parsed, "why_not": "the same throughout this text"}


def holm(searches: Iterable[Search]) -> list[Search]:
    """The searches of a family, with a significance level for each (Holm 1979).

    At most SIGNIFICANCE_LEVEL of families have a false find, and as many a false "remembers". Of m searches
    the smallest p is tested at SIGNIFICANCE_LEVEL / m, the next at SIGNIFICANCE_LEVEL / (m - 1), up to the
    first that fails; all after it fail too. S shifts allow no p below 1 / (S + 1). Raises ConfigError if a
    search has too few shifts for a p as small as that of the first.
    """
    family = list(searches)
    enough = min_shifts(len(family))
    for search in family:
        if len(search.shifts) < enough and search.verdict not in ("short", "same text"):
            raise ConfigError(
                "of {family} searches that are tested together, each needs {enough:,} shifts or more; "
                "{target} has {shifts:,}: search again with shifts={enough}",
                family=len(family),
                enough=enough,
                target=search.target,
                shifts=len(search.shifts),
            )
    against_chance = _holm_levels([search.best.p for search in family])
    leads = [search.evidence.p if search.evidence is not None else 1.0 for search in family]
    levels = zip(against_chance, _holm_levels(leads), strict=True)
    return [replace(search, levels=pair) for search, pair in zip(family, levels, strict=True)]


def min_shifts(family: int) -> int:
    """The fewest shifts that allow a p as small as Holm's strictest level for a family of this size.

    >>> min_shifts(1), min_shifts(11)
    (19, 219)
    """
    # p = (1 + hits) / (S + 1) is 1 / (S + 1) at best, which must reach the smallest of Holm's levels.
    return round(family / SIGNIFICANCE_LEVEL) - 1


def _holm_levels(ps: Sequence[float]) -> list[float]:
    """The level of each p; 0 from the first that fails."""
    levels, failed = [0.0] * len(ps), False
    for place, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        level = SIGNIFICANCE_LEVEL / (len(ps) - place)
        failed = failed or ps[index] > level
        levels[index] = 0.0 if failed else level
    return levels

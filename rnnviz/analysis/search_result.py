"""What a search found, and what may be said of it: where a unit only tells as much as something simpler does,
it is that which is named.

    chance      what the same unit reaches for shifted targets
    character   what the character just read tells by itself
    context     what the last few characters tell by themselves
    untrained   what the best unit of the same network reaches before any training, found by the same
                procedure: random weights echo what was just read, so that some unit of theirs tells much
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from typing import Literal

from rnnviz.analysis.activations import Unit
from rnnviz.analysis.targets import Target
from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.findings import Bars, Finding, Json, Number, Panel, Said, Table, count, say, span, words
from rnnviz.reprs import Pictured

Measure = Literal["AUC", "correlation"]

LEVEL = 0.05
"""The significance level of a search, and of all of a family together."""

MARGIN = 0.02
"""A lead smaller than this is not worth a name, however sure it is."""

ENOUGH = 20_000
"""Characters from which on it is said whether a unit remembers. On fewer, another stretch of the same text
often has another best unit."""

LISTED, BARS = 10, 12
"""Units that `facts` and a picture name."""

_SIGNS = {1: "+", -1: "−"}

Simpler = Literal["character", "context", "untrained"]
Verdict = Literal[
    "short", "same text", "nothing", "open", "character", "context", "untrained", "chance", "remembers"
]
"""A search's conclusion; a table says it in four forms: too little text, not above X, may be X, remembers.

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
    interval    95 % interval of its score, see `rnnviz.analysis.evidence`; None for too short a text
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
    parsed      that of the target
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
    parsed: float | None = None

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

    def facts(self) -> Json:
        """What --json prints: the ten best units of them all."""
        kept = self.evidence
        return {
            "target": self.target,
            **({} if self.parsed is None else {"parsed": self.parsed}),
            "measure": self.measure,
            "quantity": self.quantity,
            "characters": self.characters,
            "inside": self.inside,
            "held_out": self.held_out,
            "chance": self.chance,
            "above_chance": len(self.above_chance),
            "character": self.character,
            "untrained": list(self.untrained),
            "interval": kept and kept.interval and list(kept.interval),
            "report": kept and kept.report and asdict(kept.report),
            "stability": kept and kept.stability,
            "block": kept and kept.block,
            "rivals": [asdict(rival) for rival in kept.rivals] if kept is not None else [],
            "verdict": self.verdict,
            "units": [
                {
                    "layer": found.unit.layer,
                    "unit": found.unit.unit,
                    "direction": found.direction,
                    "ranked_by": found.ranked_by,
                    "score": found.score,
                    "p": found.p,
                }
                for found in self.found[:LISTED]
            ],
        }

    def table(self) -> Table:
        """One row."""
        best, kept = self.best, self.evidence
        report = kept.report if kept is not None else None
        interval = report.interval if report is not None else kept and kept.interval
        context = self._best_context
        numbers = {
            "held-out": Number(best.score if self.held_out else None),
            "reported": Number(report.score if report is not None else None),
            "interval": words("range", low=Number(interval[0]), high=Number(interval[1]))
            if interval
            else Number(None),
            "chance": Number(self.chance if self.held_out else None),
            "above": count(len(self.above_chance) or None),
            "character": Number(self.character),
            "context": words("head.reached", k=context.number, score=Number(context.score))
            if context
            else Number(None),
            "untrained": Number(max(self.untrained, default=None)),
            "stable": Number(kept.stability if kept is not None else None, "whole percent"),
        }
        cells = (
            self.target,
            None if self.inside is None else Number(self.inside / self.characters, "percent"),
            measured(self.measure),
            f"{_SIGNS[best.direction]}{best.unit.layer}:{best.unit.unit}",
            Number(best.ranked_by),
            *(numbers.values() if self.held_out else [Number(None)] * len(numbers)),
            self._brief,
        )
        heads = ("target", "share", "measure", "unit", "ranked-by", *numbers, "verdict")
        return Table([words(f"head.{name}") for name in heads], [cells])

    @property
    def _brief(self) -> Said:
        """The verdict, for a cell."""
        verdict, rival = self.verdict, self.rival
        code = verdict.replace(" ", "-")
        if verdict == "short" and self.characters >= ENOUGH:
            code = "too-rare"
        elif verdict in ("character", "untrained") and rival is not None and rival.suffices:
            code = f"{verdict}-surely"
        return words(f"brief.{code}", enough=count(ENOUGH), k=rival.number if rival else None)

    @property
    def _best_context(self) -> Rival | None:
        """Of the contexts the one that reaches most."""
        rivals = self.evidence.rivals if self.evidence is not None else ()
        contexts = [rival for rival in rivals if rival.kind == "context"]
        return max(contexts, key=lambda rival: rival.score, default=None)

    def sentences(self) -> list[Said]:
        """The verdict and what it rests on."""
        kept, report = self.evidence, self._report
        interval = report.interval if report else kept and kept.interval
        rivals = (report or kept).rivals if kept else ()
        reached = {
            one.kind: one for one in sorted(rivals, key=lambda one: one.score)
        }  # the best of each kind
        closest = min(kept.rivals if kept else (), key=lambda one: (one.low or 0.0, -one.score), default=None)
        rival, simplest, context = self.strongest or closest, self.rival, reached.get("context")
        said = say(
            self._codes(),
            unit=self.best.unit.unit,
            best=words("unit", n=self.best.unit.unit),
            measure=measured(self.measure),
            score=Number(report.score if report else self.best.score),
            interval=span(*interval) if interval else Number(None),
            chance=Number(self.chance),
            character=_reached(reached.get("character")),
            untrained=_reached(reached.get("untrained")),
            context=_reached(context),
            k=context.number if context else None,
            rival=_reached(rival),
            number=rival.number if rival else None,
            lead=span(rival.low, rival.high) if rival else Number(None),
            simplest=_reached(simplest),
            few=simplest.number if simplest else None,
            stable=Number(kept.stability if kept is not None else None, "whole percent"),
            n=count(self.characters),
            enough=count(ENOUGH),
        )
        if self.verdict not in ("short", "same text", "nothing"):
            said.append(words("search.above-chance", n=count(len(self.above_chance))))
        return said

    @property
    def _report(self) -> Report | None:
        """What it comes to on text that had no say in it, where it was confirmed."""
        return self.evidence.report if self.verdict == "remembers" and self.evidence is not None else None

    def _codes(self) -> Iterator[str]:
        """Which sentences are true of it, in their order."""
        verdict, strongest, rival = self.verdict, self.strongest, self.rival
        if verdict in ("short", "same text", "nothing"):
            short = "too-short" if self.characters < ENOUGH else "too-rare"
            yield f"search.{short if verdict == 'short' else verdict.replace(' ', '-')}"
            return
        if self.evidence is None:
            yield from ("search.first", "search.not-compared")
            return
        yield "search.first-reported" if self._report is not None else "search.first-measured"
        if strongest is not None:
            yield f"search.behind-{strongest.kind}"
            if rival is not None and rival.kind != strongest.kind:
                yield f"search.nor-{rival.kind}"
        else:
            yield {"chance": "search.chance-only", "remembers": "search.remembers"}.get(
                verdict, "search.open"
            )
        if self.evidence.stability is not None:
            yield "search.stable"

    def about(self, unit: int) -> Said | None:
        """What a unit other than the best-ranked one reaches; None for that one."""
        found = next((one for one in self.found if one.unit.unit == unit), self.best)
        if found is self.best:
            return None
        scores = {"score": Number(found.score), "ranked": Number(found.ranked_by)}
        return words("search.unit", unit=unit, measure=measured(self.measure), **scores)

    def panels(self, chosen: int | None = None) -> list[Panel]:
        """The best units, and the `chosen` one, beside what is simpler."""
        listed = list(self.found[:BARS])
        if all(found.unit.unit != chosen for found in listed):
            listed += [found for found in self.found if found.unit.unit == chosen][:1]
        context, mask = self._best_context, self.measure == "AUC"
        levels: list[tuple[Said, float | None]] = [
            (words("search.level-chance"), self.chance if self.held_out else None),
            (words("search.level-character"), self.character),
            *([(words("search.level-context", k=context.number), context.score)] if context else []),
            (words("search.level-untrained"), max(self.untrained, default=None)),
        ]
        kind = "" if self.held_out else "-same-text"
        signs = "search.notice-mask" if mask else "search.notice-graded"
        return [
            Panel(
                "ranking",
                words(f"search.title{kind}"),
                Bars(
                    [f"{_SIGNS[found.direction]} {found.unit.unit}" for found in listed],
                    [found.score for found in listed],
                    measured(self.measure),
                    [(name, value) for name, value in levels if value is not None],
                    first=0.5 if mask else 0.0,
                    last=1.0 if mask else None,
                    chosen=next((n for n, one in enumerate(listed) if one.unit.unit == chosen), None),
                ),
                say((f"search.notice{kind}", signs, "search.notice-click"), enough=count(ENOUGH)),
                words("search.limits"),
                pick="bar",
                picks=[found.unit.unit for found in listed],
            )
        ]


@dataclass(frozen=True, eq=False, repr=False)
class Replication(Pictured):
    """The same target searched in several networks, such as seeds of one recipe.

    networks  their names
    searches  the Search of each, in their order
    """

    networks: tuple[str, ...]
    searches: tuple[Search, ...]

    def __repr__(self) -> str:
        return (
            f"<Replication of {self.searches[0].target} in {len(self.searches)} networks: {self.remember} "
            "have a unit that remembers>"
        )

    @property
    def remember(self) -> int:
        """In how many of the networks the verdict is "remembers"."""
        return sum(search.verdict == "remembers" for search in self.searches)

    @property
    def scores(self) -> tuple[float, ...]:
        """Of each network's best-ranked unit, on text that didn't choose it."""
        return tuple(search.best.score for search in self.searches)

    def facts(self) -> Json:
        """How many remember, and what was found in each network."""
        found = zip(self.networks, self.searches, strict=True)
        return {
            "target": self.searches[0].target,
            "networks": len(self.searches),
            "remember": self.remember,
            "found": [{"model": name, **search.facts()} for name, search in found],
        }

    def table(self) -> Table:
        """A row a network."""
        tables = [search.table() for search in self.searches]
        rows = [(name, *one.rows[0]) for name, one in zip(self.networks, tables, strict=True)]
        return Table([words("head.network"), *tables[0].columns], rows)

    def sentences(self) -> list[Said]:
        """In how many networks a unit remembers, and how well the best of each tells."""
        n, k = len(self.searches), self.remember
        if all(search.verdict in ("short", "same text") for search in self.searches):
            return self.searches[0].sentences()
        return say(
            [
                "replication.all" if k == n else "replication.some" if k else "replication.none",
                "replication.scores",
            ],
            n=count(n),
            k=count(k),
            target=self.searches[0].target,
            measure=measured(self.searches[0].measure),
            low=Number(min(self.scores)),
            high=Number(max(self.scores)),
        )

    def panels(self) -> list[Panel]:
        """Each network's best unit, beside the highest of what chance reaches in any of them."""
        chance = max(search.chance for search in self.searches)
        mask = self.searches[0].measure == "AUC"
        picture = Bars(
            self.networks,
            self.scores,
            measured(self.searches[0].measure),
            [(words("search.level-chance"), chance)],
            first=0.5 if mask else 0.0,
            last=1.0 if mask else None,
        )
        notice = [words("replication.notice")]
        return [
            Panel("replication", words("replication.title"), picture, notice, words("replication.limits"))
        ]


@dataclass(frozen=True)
class Unanswered(Finding):
    """A target of which nothing can be asked: it is the same throughout the text."""

    target: Target

    def facts(self) -> Json:
        """The target, and why nothing is said."""
        parsed = {} if self.target.parsed is None else {"parsed": self.target.parsed}
        return {"target": self.target.name, **parsed, "why_not": "the same throughout this text"}

    def table(self) -> Table:
        """One row, which stacks under those of other targets."""
        values = self.target.values
        share = None if self.target.graded or not len(values) else Number(float(values.mean()), "percent")
        heads = [words(f"head.{name}") for name in ("target", "share", "verdict")]
        return Table(heads, [(self.target.name, share, words("brief.throughout"))])

    def sentences(self) -> list[Said]:
        """That there is nothing to look for."""
        return [words("search.unanswered", target=self.target.name)]


def measured(measure: Measure) -> Said:
    """What a score is, in words."""
    return words(f"measure.{measure.lower()}")


def _reached(rival: Rival | None) -> Number:
    return Number(None if rival is None else rival.score)


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

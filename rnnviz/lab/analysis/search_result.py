"""Search results and their verdicts. Where a simpler rival scores as high as a unit, the verdict names the
rival.

    chance      the same unit's score for shifted targets
    character   the score of the character just read alone
    context     the score of the last few characters alone
    untrained   the score of the best unit of an untrained copy, found by the same procedure: random weights
                echo the last characters, so some of their units score high
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.findings import Bars, Finding, Json, Number, Panel, Said, Table, count, say, span, words
from rnnviz.lab.analysis.activations import Unit
from rnnviz.lab.analysis.targets import Target
from rnnviz.networks.verdicts import (
    ENOUGH,
    LEVEL,
    Evidence,
    Measure,
    Report,
    Rival,
    Verdict,
    measured,
    verdict,
)
from rnnviz.reprs import Pictured

LISTED, BARS = 10, 12
"""Units that `facts` lists, and bars in a picture."""

_SIGNS = {1: "+", -1: "−"}


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
class Search(Pictured, Finding):
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
        best, said = self.best, f"{self.verdict!r}"
        if self.characters < ENOUGH:
            said += f": {self.characters:,} of the {ENOUGH:,} characters that a verdict takes"
        return (
            f"<Search for {self.target} among {len(self.found):,} units: {best.unit}, {self.measure} "
            f"{best.score:.3f}, chance {self.chance:.3f}, {said}>"
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
        return tuple(takewhile(lambda found: found.p <= LEVEL, self.found))

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
        kept = self.evidence
        return None if kept is None else kept.unbeaten(self.best.score, self.levels[1])

    @property
    def strongest(self) -> Rival | None:
        """The highest-scoring of these rivals."""
        kept = self.evidence
        return None if kept is None else kept.strongest(self.best.score, self.levels[1])

    def facts(self) -> Json:
        """The values that --json prints: the ten best units."""
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
        """The verdict, for a table's cell."""
        verdict, rival = self.verdict, self.rival
        code = verdict.replace(" ", "-")
        if verdict == "short" and self.characters >= ENOUGH:
            code = "too-rare"
        elif verdict in ("character", "untrained") and rival is not None and rival.suffices:
            code = f"{verdict}-surely"
        return words(f"brief.{code}", enough=count(ENOUGH), k=rival.number if rival else None)

    @property
    def _best_context(self) -> Rival | None:
        """The highest-scoring context."""
        rivals = self.evidence.rivals if self.evidence is not None else ()
        contexts = [rival for rival in rivals if rival.kind == "context"]
        return max(contexts, key=lambda rival: rival.score, default=None)

    def sentences(self) -> list[Said]:
        """The verdict and its grounds."""
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
        """The report, where the verdict is "remembers"."""
        return self.evidence.report if self.verdict == "remembers" and self.evidence is not None else None

    def _codes(self) -> Iterator[str]:
        """Codes of the true sentences, in their order."""
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
        """The score of a unit other than the best-ranked one; None for that one."""
        found = next((one for one in self.found if one.unit.unit == unit), self.best)
        if found is self.best:
            return None
        scores = {"score": Number(found.score), "ranked": Number(found.ranked_by)}
        return words("search.unit", unit=unit, measure=measured(self.measure), **scores)

    def panels(self, chosen: int | None = None) -> list[Panel]:
        """Bars of the best units, and of the `chosen` one, beside the rivals' scores."""
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
class Replication(Pictured, Finding):
    """One target searched in several networks, such as seeds of one recipe.

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
        """The number of networks whose verdict is "remembers"."""
        return sum(search.verdict == "remembers" for search in self.searches)

    @property
    def scores(self) -> tuple[float, ...]:
        """The score of each network's best-ranked unit, on text that didn't choose it."""
        return tuple(search.best.score for search in self.searches)

    def facts(self) -> Json:
        """The number of networks that remember, and the search of each."""
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
        """The number of networks with a unit that remembers, and the range of their best scores."""
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
        """Each network's best unit, beside the highest chance level of any."""
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
    """A target that cannot be searched for: it is constant over the text."""

    target: Target

    def facts(self) -> Json:
        """The target, and the reason for no search."""
        parsed = {} if self.target.parsed is None else {"parsed": self.target.parsed}
        return {"target": self.target.name, **parsed, "why_not": "the same throughout this text"}

    def table(self) -> Table:
        """One row, which stacks under those of other targets."""
        values = self.target.values
        share = None if self.target.graded or not len(values) else Number(float(values.mean()), "percent")
        heads = [words(f"head.{name}") for name in ("target", "share", "verdict")]
        return Table(heads, [(self.target.name, share, words("brief.throughout"))])

    def sentences(self) -> list[Said]:
        """The sentence that the target is constant."""
        return [words("search.unanswered", target=self.target.name)]


def _reached(rival: Rival | None) -> Number:
    return Number(None if rival is None else rival.score)


def holm(searches: Iterable[Search]) -> list[Search]:
    """The searches of a family, with a significance level for each (Holm 1979). At most LEVEL of families
    have a false find, and at most LEVEL a false "remembers". The smallest p is tested at LEVEL / m, the
    next at LEVEL / (m - 1), up to the first that fails; all after it fail too. S shifts allow no p below 1
    / (S + 1). Raises ConfigError if a search has too few shifts for a p as small as LEVEL / m.
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
    """The fewest shifts that allow a p as small as Holm's strictest level for a family of this size.

    >>> shifts_for(1), shifts_for(11)
    (19, 219)
    """
    return round(family / LEVEL) - 1


def _steps(ps: Sequence[float]) -> list[float]:
    """The level of each p; 0 from the first that fails."""
    levels, failed = [0.0] * len(ps), False
    for place, which in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        level = LEVEL / (len(ps) - place)
        failed = failed or ps[which] > level
        levels[which] = 0.0 if failed else level
    return levels

"""Findings on a model's units, as its card records them: a run, or `rnnviz units --card`, searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from rnnviz.findings import Number, Said, count, say, span, words
from rnnviz.networks.deserialise import restored
from rnnviz.networks.verdicts import LEVEL, Evidence, Measure, Rival, Verdict, measured, verdict
from rnnviz.sentences import catalogue

KEY = "units"
"""The card's entry: {"command": the command that made it, "text": the text searched, "findings": the searches
that remember, "others": the rest, both lists of Recorded, "unanswered": {target: why it has no search}}.
Cards of 0.1.0 have "command" and "findings" only, without evidence.
"""

SOUGHT = ("quotes", "py-string", "brackets", "py-brackets", "line-position", "word-start")
"""Targets that a run searches for, as far as they suit its text."""

Why = Literal["absent", "throughout", "short", "same text", "costly"]
"""The reason for no search of a target.

absent      the text has none of it
throughout  constant over the text
short       the text has fewer than `rnnviz.networks.verdicts.ENOUGH` characters
same text   too rare to be in every part of the text
costly      the search took more than its time, or more memory than there is
"""

Part = Literal["validation", "validation and held-out", "held-out"]
"""The part of the text, never used in training, that was searched."""


@dataclass(frozen=True)
class Recorded:
    """One recorded search.

    target      a name of `rnnviz.units.target`
    layer, unit the unit that ranked best on one part
    score       its score on another: AUC, or correlation for a graded target, as `measure` says
    chance      the unit stays below this score for 95 of 100 shifted targets
    character   the score of the character just read
    untrained   the score of the best unit of each untrained copy
    characters  of the text
    evidence    intervals, rivals' scores, and the report on a third part; None in cards of 0.1.0
    p           the share of shifted targets with at least this score
    levels      significance levels within its family: see `rnnviz.lab.analysis.search_result.holm`
    direction   1 where the unit rises with the target, -1 where it falls; 0 in cards without it
    typed       two shares of the characters of sentences that one might type, each read from the zero state:
                where the unit's sign matches the target, and where the likelier constant answer does; None
                without sentences
    """

    target: str
    quantity: str
    measure: Measure
    layer: int
    unit: int
    score: float
    chance: float
    character: float
    untrained: tuple[float, ...]
    characters: int
    evidence: Evidence | None = None
    p: float = 0.0
    levels: tuple[float, float] = (LEVEL, LEVEL)
    direction: int = 0
    typed: tuple[float, float] | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict on the unit."""
        return verdict(
            self.score,
            self.chance,
            self.character,
            self.untrained,
            self.characters,
            evidence=self.evidence,
            p=self.p,
            level=self.levels[0],
            lead_level=self.levels[1],
        )

    @property
    def rival(self) -> Rival | None:
        """The simplest measured rival that the unit doesn't beat; None without one."""
        return None if self.evidence is None else self.evidence.unbeaten(self.score, self.levels[1])

    @property
    def reported(self) -> float:
        """The score on text that neither ranked nor confirmed, if there is one; else the confirming score."""
        report = self.evidence.report if self.evidence is not None else None
        return self.score if report is None else report.score

    @property
    def lead(self) -> float:
        """The unit's score less the highest of chance and all rivals."""
        if self.evidence is not None and self.evidence.report is not None:
            report = self.evidence.report
            return report.score - max(self.chance, *(rival.score for rival in report.rivals))
        rivals = self.evidence.rivals if self.evidence is not None else ()
        return self.score - max(
            self.chance, self.character, *self.untrained, *(rival.score for rival in rivals)
        )

    def follows(self) -> list[Said]:
        """The unit's target, and its score beside its rivals', in words; for a unit that remembers."""
        report = self.evidence.report if self.evidence is not None else None
        if report is None:
            named = {"unit": words("unit", n=self.unit), "n": count(self.characters)}
            return say(("recorded.confirmed", "recorded.less"), **named)
        reached = {rival.kind: rival for rival in sorted(report.rivals, key=lambda rival: rival.score)}
        context, untrained = reached.get("context"), reached.get("untrained")
        codes = ("recorded.follows", "recorded.beside") if context and untrained else ("recorded.follows",)
        return say(
            codes,
            unit=self.unit,
            target=described(self.target),
            measure=measured(self.measure),
            score=Number(report.score),
            interval=span(*report.interval),
            k=context.number if context else None,
            context=Number(context.score if context else None),
            untrained=Number(untrained.score if untrained else None),
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON object that a card can hold."""
        return asdict(self)


def described(target: str) -> Said | str:
    """A target's description in words; a pattern stands for itself."""
    code = f"target.{target}"
    return words(code) if code in catalogue() else target


def of(card: Mapping[str, Any]) -> tuple[Recorded, ...]:
    """The findings in a card, in their order, without damaged ones."""
    return _listed(card, "findings")


def remembering(card: Mapping[str, Any]) -> list[Recorded]:
    """The findings of a card whose verdict is "remembers"."""
    return [one for one in of(card) if one.verdict == "remembers"]


def others(card: Mapping[str, Any]) -> tuple[Recorded, ...]:
    """The searches in a card that don't remember."""
    return _listed(card, "others")


def command(card: Mapping[str, Any]) -> str:
    """The command that made the findings, or ""."""
    said = _entry(card).get("command")
    return said if isinstance(said, str) else ""


def unanswered(card: Mapping[str, Any]) -> dict[str, Why]:
    """The targets without a search, and the reasons."""
    kept = _entry(card).get("unanswered")
    return {name: why for name, why in kept.items() if why in get_args(Why)} if isinstance(kept, dict) else {}


def text(card: Mapping[str, Any]) -> str:
    """The name of the searched text; "" for a held-out part of the model's own text."""
    said = _entry(card).get("text")
    if not isinstance(said, dict) or said.get("held_out") is not False or part(card) != "held-out":
        return ""
    name = said.get("name")
    return name if isinstance(name, str) and name else "another text"


def part(card: Mapping[str, Any]) -> Part:
    """The searched part of the model's own text."""
    said = _entry(card).get("text")
    known = said.get("part") if isinstance(said, dict) else None
    return next((part for part in get_args(Part) if part == known), "held-out")


def _entry(card: Mapping[str, Any]) -> Mapping[str, Any]:
    kept = card.get(KEY)
    return kept if isinstance(kept, dict) else {}


def _listed(card: Mapping[str, Any], key: str) -> tuple[Recorded, ...]:
    listed = _entry(card).get(key)
    if not isinstance(listed, list):
        return ()
    return tuple(found for one in listed if (found := _finding(one)) is not None)


def _finding(one: object) -> Recorded | None:
    """The restored record; None for a damaged one."""
    try:
        found: Recorded = restored(Recorded, one)
    except (TypeError, LookupError, ValueError, AttributeError):
        return None
    counts = (found.layer, found.unit, found.characters)
    return found if min(counts) >= 0 and found.untrained else None

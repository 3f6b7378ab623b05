"""Words for what a unit may respond to, and for what a search found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rnnviz.ui.i18n import _, ngettext
from rnnviz.units.claims import ENOUGH

if TYPE_CHECKING:
    from rnnviz.units import Rival, Search

PATTERN, SPAN = "pattern", "span"


def targets(python: bool = False) -> dict[str, str]:
    """What can be looked for, by name: `rnnviz.units.KINDS`, for a network that reads Python `PYTHON_KINDS`,
    a pattern, a selection.
    """
    parsed = {
        "py-string": _("inside Python's strings"),
        "py-comment": _("in Python's comments"),
        "py-brackets": _("inside Python's brackets"),
        "py-bracket-depth": _("how many of Python's brackets are open"),
        "py-indentation": _("the blanks a Python statement begins with"),
        "py-blocks": _("how many of Python's blocks it is in"),
    }
    return {
        **(parsed if python else {}),
        "quotes": _("inside quotation marks"),
        "brackets": _("inside brackets"),
        "bracket-depth": _("how many brackets are open"),
        "word-start": _("the first letter of a word"),
        "line-position": _("the position in the line"),
        "line-start": _("the first character of a line"),
        "indentation": _("the blanks a line begins with"),
        "indent-depth": _("how far the line is indented"),
        "capital": _("a capital letter"),
        "vowel": _("a vowel"),
        "digit": _("a digit"),
        PATTERN: _("a pattern of your own"),
        SPAN: _("the passages you select below"),
    }


def measure(search: Search) -> str:
    return _("AUC") if search.measure == "AUC" else _("correlation")


def unit(number: int) -> str:
    return _("unit {n}").format(n=number)


def verdict(search: Search) -> str:
    """The outcome in a few sentences, as Markdown free of any text from the reader."""
    said = search.verdict
    sentences = [_beginning(search)]
    if said not in ("short", "same text", "nothing"):
        sentences.append(_conclusion(search))
        if search.evidence is not None:
            sentences.append(
                _("It ranks first in {stable} of 100 texts drawn anew from the half that ranked.")
            )
    character, untrained = search.character, max(search.untrained, default=None)
    kept = search.evidence
    rival = search.rival or max(kept.rivals if kept else (), key=lambda one: one.score, default=None)
    return " ".join(sentences).format(
        unit=unit(search.best.unit.unit).capitalize(),
        measure=measure(search),
        score=_number(search.best.score),
        interval=_range(*kept.interval) if kept is not None and kept.interval else "–",
        chance=_number(search.chance),
        character=_number(character),
        untrained=_number(untrained),
        context=_number(_context(search)),
        k=_longest(search),
        rival=_number(rival.score if rival else None),
        number=rival.number if rival else "–",
        lead=_range(rival.low, rival.high) if rival else "–",
        stable=f"{100 * kept.stability:.0f}" if kept is not None and kept.stability is not None else "–",
        n=f"{search.characters:,}",
        enough=f"{ENOUGH:,}",
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _range(low: float | None, high: float | None) -> str:
    return (
        "–"
        if low is None or high is None
        else _("{low} to {high}").format(low=_number(low), high=_number(high))
    )


def _beginning(search: Search) -> str:
    if search.verdict == "short" and search.characters < ENOUGH:
        return _(
            "**No verdict** on {n} characters: another text would often rank other units first, and it takes "
            "{enough} to say which. Until then, {unit} leads the ranking below."
        )
    if search.verdict == "short":
        return _(
            "**No verdict**: {unit} ranked first, with {measure} {score}, but what you look for begins and "
            "ends too seldom in these {n} characters to say how sure that is."
        )
    if not search.held_out:
        return _(
            "**{unit}** tells best here, with {measure} {score}, but on the very text it was chosen on: what "
            "you look for is too rare for two halves."
        )
    if search.verdict == "nothing":
        return _(
            "**Nothing found**: on text that the ranking didn't see, the unit that ranked first reaches "
            "{measure} {score}, and the best unit by chance {chance}."
        )
    if search.evidence is None:
        return _(
            "**{unit}** ranked first: {measure} {score} on text that the ranking didn't see, where the best "
            "unit by chance reaches {chance}."
        )
    return _(
        "**{unit}** ranked first: {measure} {score} ({interval}, 95 times in 100) on text that the ranking "
        "didn't see, where the best unit by chance reaches {chance}."
    )


def _conclusion(search: Search) -> str:
    if search.evidence is None:
        return _("What simpler things tell is not known yet.")
    if search.verdict == "character":
        return _(
            "But the current character alone tells {rival}; the unit's lead is {lead}: too little to say "
            "that it remembers."
        )
    if search.verdict == "context":
        return _(
            "But the last {number} characters tell {rival}; the unit's lead is {lead}: too little to say "
            "that it remembers more."
        )
    if search.verdict == "untrained":
        return _(
            "But the same network untrained has a unit that tells {rival}; the lead over it is {lead}: too "
            "little to say that it was learnt."
        )
    if search.verdict == "chance":
        return _("That is hardly more than chance.")
    if search.verdict == "remembers":
        return _(
            "The current character alone tells {character}, the last {k} characters {context}, the best unit "
            "of the same network untrained {untrained}. The unit leads all of them, the closest by {lead}: "
            "it remembers."
        )
    return _("What simpler things tell was not measured.")


def _contexts(search: Search) -> list[Rival]:
    rivals = search.evidence.rivals if search.evidence is not None else ()
    return [rival for rival in rivals if rival.kind == "context"]


def _context(search: Search) -> float | None:
    return max((rival.score for rival in _contexts(search)), default=None)


def _longest(search: Search) -> str:
    best = max(_contexts(search), key=lambda rival: rival.score, default=None)
    return "–" if best is None else str(best.number)


def above_chance(n: int) -> str:
    return ngettext("{n} unit is above chance.", "{n} units are above chance.", n).format(n=f"{n:,}")

"""Words for what a unit may respond to, and for what a search found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rnnviz.runs import unit_findings
from rnnviz.ui.i18n import _, ngettext

if TYPE_CHECKING:
    from rnnviz.units import Found, Search

PATTERN, SPAN = "pattern", "span"


def targets() -> dict[str, str]:
    """What can be looked for, by name: `rnnviz.units.KINDS`, a pattern, a selection."""
    return {
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
    """What the scores of a search are."""
    return _("AUC") if search.measure == "AUC" else _("correlation")


def unit(layer: int, number: int, layers: int = 1) -> str:
    """A unit's name."""
    if layers > 1:
        return _("layer {layer}, unit {n}").format(layer=layer + 1, n=number)
    return _("unit {n}").format(n=number)


def find(search: Search) -> Found:
    """The unit to show: that which ranked best, or the clearest of those above chance where it isn't."""
    if search.held_out and search.best.score <= search.chance:
        return max(search.above_chance, key=lambda f: f.score, default=search.best)
    return search.best


def verdict(search: Search, best: Found, layers: int) -> str:
    """What came out, in two sentences, as Markdown without anybody's text in it."""
    name = unit(best.unit.layer, best.unit.unit, layers)
    size = measure(search)
    if not search.held_out:
        return _(
            "**{unit}** tells best here, with {measure} {score}, but on the very text it was chosen on: what "
            "you look for is too rare for two halves. Select more passages, or search a longer text."
        ).format(unit=name.capitalize(), measure=size, score=f"{best.score:.3f}")
    if best.score <= search.chance and search.above_chance:
        clearest = find(search)
        return _(
            "{unit} ranked first, but on text that the ranking didn't see it reaches {measure} {score}, "
            "and the "
            "best unit by chance {chance}. **{other}** is above that with {more}, and so a find."
        ).format(
            unit=name.capitalize(),
            measure=size,
            score=f"{best.score:.3f}",
            chance=f"{search.chance:.3f}",
            other=unit(clearest.unit.layer, clearest.unit.unit, layers).capitalize(),
            more=f"{clearest.score:.3f}",
        )
    if best.score <= search.chance:
        return _(
            "**Nothing found**: on text that the ranking didn't see, the best unit reaches {measure} "
            "{score}, "
            "and chance alone reaches {chance}."
        ).format(measure=size, score=f"{best.score:.3f}", chance=f"{search.chance:.3f}")
    first = _(
        "**{unit}** tells best: {measure} {score} on text that the ranking didn't see, where the best unit "
        "by chance reaches {chance}."
    ).format(unit=name.capitalize(), measure=size, score=f"{best.score:.3f}", chance=f"{search.chance:.3f}")
    if search.character is None:
        return first
    if best.score > search.character + unit_findings.MARGIN:
        second = _("The current character alone tells {character}: the unit knows more, so it remembers.")
    else:
        second = _("But the current character alone tells {character}, about as much: that needs no memory.")
    return first + " " + second.format(character=f"{search.character:.3f}")


def many(n: int) -> str:
    """How many units there are above the line."""
    return ngettext("{n} unit is above chance.", "{n} units are above chance.", n).format(n=f"{n:,}")

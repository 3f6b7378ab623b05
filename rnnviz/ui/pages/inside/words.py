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
    return _("AUC") if search.measure == "AUC" else _("correlation")


def unit(number: int) -> str:
    return _("unit {n}").format(n=number)


def clearest(search: Search) -> Found:
    """The unit to show: the best-ranked, or the clearest of those above chance if it isn't among them."""
    if search.held_out and search.best.score <= search.chance:
        return max(search.above_chance, key=lambda f: f.score, default=search.best)
    return search.best


def verdict(search: Search) -> str:
    """The outcome in two sentences, as Markdown free of any text from the reader."""
    best = search.best
    values = {
        "unit": unit(best.unit.unit).capitalize(),
        "measure": measure(search),
        "score": f"{best.score:.3f}",
        "chance": f"{search.chance:.3f}",
    }
    if not search.held_out:
        said = _(
            "**{unit}** tells best here, with {measure} {score}, but on the very text it was chosen on: what "
            "you look for is too rare for two halves. Select more passages, or search a longer text."
        )
    elif best.score > search.chance:
        said = _(
            "**{unit}** tells best: {measure} {score} on text that the ranking didn't see, where the best "
            "unit by chance reaches {chance}."
        )
        if search.character is not None:
            said += " " + _beside_the_character(best.score, search.character)
            values["character"] = f"{search.character:.3f}"
    elif search.above_chance:
        said = _(
            "{unit} ranked first, but on text that the ranking didn't see it reaches {measure} {score}, "
            "and the best unit by chance {chance}. **{other}** is above that with {more}, and so a find."
        )
        found = clearest(search)
        values |= {"other": unit(found.unit.unit).capitalize(), "more": f"{found.score:.3f}"}
    else:
        said = _(
            "**Nothing found**: on text that the ranking didn't see, the best unit reaches {measure} "
            "{score}, and chance alone reaches {chance}."
        )
    return said.format(**values)


def _beside_the_character(score: float, character: float) -> str:
    if score > character + unit_findings.MARGIN:
        return _("The current character alone tells {character}: the unit knows more, so it remembers.")
    return _("But the current character alone tells {character}, about as much: that needs no memory.")


def above_chance(n: int) -> str:
    return ngettext("{n} unit is above chance.", "{n} units are above chance.", n).format(n=f"{n:,}")

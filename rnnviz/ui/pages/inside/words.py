"""Words for what a unit may respond to, and for what a search found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rnnviz.ui.i18n import _, ngettext
from rnnviz.units.claims import ENOUGH

if TYPE_CHECKING:
    from rnnviz.units import Search

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
    if said == "short":
        sentences.append(
            _(
                "These are {n} characters: too few to say whether that means anything. It takes {enough}; "
                "choose a longer text above."
            )
        )
    elif said not in ("same text", "nothing"):
        sentences.append(_conclusion(search))
    character, untrained = search.character, max(search.untrained, default=None)
    return " ".join(sentences).format(
        unit=unit(search.best.unit.unit).capitalize(),
        measure=measure(search),
        score=f"{search.best.score:.3f}",
        chance=f"{search.chance:.3f}",
        character="–" if character is None else f"{character:.3f}",
        untrained="–" if untrained is None else f"{untrained:.3f}",
        n=f"{search.characters:,}",
        enough=f"{ENOUGH:,}",
    )


def _beginning(search: Search) -> str:
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
    return _(
        "**{unit}** ranked first: {measure} {score} on text that the ranking didn't see, where the best "
        "unit by chance reaches {chance}."
    )


def _conclusion(search: Search) -> str:
    if search.verdict == "character":
        return _("But the current character alone tells {character}, about as much: that needs no memory.")
    if search.verdict == "untrained":
        return _(
            "But the same network untrained has a unit that tells {untrained}, about as much or more: that "
            "needs no training."
        )
    if search.verdict == "chance":
        return _("That is hardly more than chance.")
    if search.verdict == "remembers":
        return _(
            "The current character alone tells {character}, the best unit of the same network untrained "
            "{untrained}: the unit knows more, so it remembers."
        )
    return _("What the same network tells untrained is not known yet.")


def above_chance(n: int) -> str:
    return ngettext("{n} unit is above chance.", "{n} units are above chance.", n).format(n=f"{n:,}")

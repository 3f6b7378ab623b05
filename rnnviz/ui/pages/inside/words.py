"""Words for what a unit may respond to, and for what a search found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rnnviz.runs import unit_findings
from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.words import measure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


PATTERN, SPAN = "pattern", "span"
GRADED = ("bracket-depth", "line-position", "indent-depth", "py-bracket-depth", "py-blocks")


def targets(python: bool = False) -> dict[str, str]:
    """What can be looked for, by name: `rnnviz.units.KINDS`, for a network that reads Python `PYTHON_KINDS`,
    a pattern, a selection.
    """
    parsed = {
        "py-string": _("inside a Python string"),
        "py-comment": _("inside a Python comment"),
        "py-brackets": _("inside Python brackets"),
        "py-bracket-depth": _("how many Python brackets are open"),
        "py-indentation": _("the indentation of a Python statement"),
        "py-blocks": _("how many Python blocks are open"),
    }
    return {
        **(parsed if python else {}),
        "quotes": _("inside quotation marks"),
        "brackets": _("inside brackets"),
        "bracket-depth": _("how many brackets are open"),
        "word-start": _("the first letter of a word"),
        "line-position": _("the position in the line"),
        "line-start": _("the first character of a line"),
        "indentation": _("the indentation of a line"),
        "indent-depth": _("how far the line is indented"),
        "capital": _("a capital letter"),
        "vowel": _("a vowel"),
        "digit": _("a digit"),
        PATTERN: _("a pattern of your own"),
        SPAN: _("the passages you select below"),
    }


def found(card: Mapping[str, Any]) -> str:
    """What a network's units were found to respond to, in a sentence; "" where nothing stands."""
    names = targets(python=True)
    stand = [one for one in unit_findings.of(card) if one.verdict == "remembers"]
    if not stand:
        return ""
    said = ngettext("One of its units follows this: {what}.", "Some of its units follow: {what}.", len(stand))
    each = [
        _("{list} ({why})").format(
            list=names.get(one.target, one.target),
            why=f"{measure(one)} {one.reported:.2f}",
        )
        for one in stand
    ]
    return said.format(what=_(", ").join(each))

"""Names of targets, and the sentence on a model card's findings."""

from collections.abc import Mapping
from typing import Any

from rnnviz.analysis.targets import KINDS, PYTHON_KINDS
from rnnviz.findings import Said
from rnnviz.i18n import _, ngettext
from rnnviz.networks import unit_findings
from rnnviz.ui.formatting import measure, spoken

PATTERN, SPAN = "pattern", "span"
GRADED = ("bracket-depth", "line-position", "indent-depth", "py-bracket-depth", "py-blocks")


def targets(python: bool = False) -> dict[str, str]:
    """Targets' names in the session's language: `KINDS`, with `python` also `PYTHON_KINDS`, a pattern, a
    selection.
    """
    names = (*(PYTHON_KINDS if python else ()), *KINDS, PATTERN, SPAN)
    return {name: spoken(Said(f"target.{name}")) for name in names}


def standing_in(card: Mapping[str, Any]) -> list[unit_findings.Recorded]:
    """The findings of a card whose verdict is "remembers"."""
    return [one for one in unit_findings.of(card) if one.verdict == "remembers"]


def found(card: Mapping[str, Any]) -> str:
    """The sentence on the targets that a network's units follow; "" without a standing finding."""
    names = targets(python=True)
    stand = standing_in(card)
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

"""Words for what a unit may respond to, and for what a search found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rnnviz.runs import unit_findings
from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.words import decimal, together
from rnnviz.units.claims import ENOUGH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rnnviz.runs.unit_findings import Finding
    from rnnviz.units import Report, Rival, Search

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
            list=names.get(one.target, one.target), why=f"{measure(one)} {one.reported:.2f}"
        )
        for one in stand
    ]
    return said.format(what=_(", ").join(each))


def measure(search: Search | Finding) -> str:
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
            sentences.append(_("It stays first in {stable} % of resamples of the text used for ranking."))
    kept, report = search.evidence, _report(search)
    interval = report.interval if report else kept and kept.interval
    rivals = (report or kept).rivals if kept else ()
    reached = {one.kind: one for one in sorted(rivals, key=lambda one: one.score)}  # the best of each kind
    context = reached.get("context")
    rival = search.strongest or _closest(kept.rivals if kept else ())
    simplest = search.rival
    return together(sentences).format(
        unit=unit(search.best.unit.unit).capitalize(),
        inside=unit(search.best.unit.unit),  # a sentence
        measure=measure(search),
        score=_number(report.score if report else search.best.score),
        interval=_range(*interval) if interval else "–",
        chance=_number(search.chance),
        character=_number(_reached(reached.get("character"))),
        untrained=_number(_reached(reached.get("untrained"))),
        context=_number(_reached(context)),
        k=context.number if context else "–",
        rival=_number(rival.score if rival else None),
        number=rival.number if rival else "–",
        simplest=_number(_reached(simplest)),
        few=simplest.number if simplest else "–",
        lead=_range(rival.low, rival.high) if rival else "–",
        stable=f"{100 * kept.stability:.0f}" if kept is not None and kept.stability is not None else "–",
        n=f"{search.characters:,}",
        enough=f"{ENOUGH:,}",
    )


def _report(search: Search) -> Report | None:
    """What it comes to on text that had no say in it, where it was confirmed."""
    confirmed = search.verdict == "remembers" and search.evidence is not None
    return search.evidence.report if confirmed and search.evidence else None


def _closest(rivals: Sequence[Rival]) -> Rival | None:
    return min(rivals, key=lambda one: (one.low or 0.0, -one.score), default=None)


def recorded(found: Finding) -> str:
    """A finding in the model's card that stands."""
    report = found.evidence.report if found.evidence is not None else None
    if report is None:
        said = _("The model's card names {unit} for this, confirmed on {n} characters.")
    else:
        said = _(
            "The model's card names {unit} for this, confirmed on {n} characters. On text that had no say in "
            "it, it reaches {measure} {score} (95 % interval {interval})."
        )
    return together((said, _("Less text may not show as much."))).format(
        unit=unit(found.unit),
        n=f"{found.characters:,}",
        measure=_("AUC") if found.measure == "AUC" else _("correlation"),
        score=_number(report.score if report else found.score),
        interval=_range(*report.interval) if report else "–",
    )


def _reached(rival: Rival | None) -> float | None:
    return None if rival is None else rival.score


def _number(value: float | None) -> str:
    return "–" if value is None else decimal(value, 3)


def _range(low: float | None, high: float | None) -> str:
    return (
        "–"
        if low is None or high is None
        else _("{low} to {high}").format(low=_number(low), high=_number(high))
    )


def _beginning(search: Search) -> str:
    if search.verdict == "short" and search.characters < ENOUGH:
        return _(
            "**Too little text to tell**: in another text of {n} characters, another unit often ranks first. "
            "It takes at least {enough}. Here {inside} ranks first."
        )
    if search.verdict == "short":
        return _(
            "**No verdict**: {inside} ranked first, with {measure} {score}, but what you look for starts and "
            "stops too few times in these {n} characters for an interval."
        )
    if not search.held_out:
        return _(
            "**No verdict**: {inside} scores best, with {measure} {score}, but on the text that chose it. "
            "What you look for is too rare to choose a unit on one part and score it on another."
        )
    if search.verdict == "nothing":
        return _(
            "**Nothing found**: on text that the ranking didn't see, the unit that ranked first reaches "
            "{measure} {score}; by chance, it reaches up to {chance}."
        )
    if search.evidence is None:
        return _(
            "**{unit}** ranked first: {measure} {score} on text that the ranking didn't see; by chance, it "
            "reaches up to {chance}."
        )
    if _report(search) is not None:
        return _(
            "**{unit}** ranked first on one part of the text, and a second confirmed it. On a third it "
            "reaches {measure} {score} (95 % interval {interval}); by chance, it reaches up to {chance}."
        )
    return _(
        "**{unit}** ranked first: {measure} {score} (95 % interval {interval}) on text that the ranking "
        "didn't see; by chance, it reaches up to {chance}."
    )


def _conclusion(search: Search) -> str:
    if search.evidence is None:
        return _("It has not been compared with all simpler explanations yet.")
    if search.strongest is not None:
        return together(filter(None, (_too_small(search.strongest), _nor(search))))
    if search.verdict == "chance":
        return _("That is hardly more than chance.")
    if search.verdict == "remembers":
        return _(
            "The current character alone reaches {character}, the last {k} characters {context}, the best "
            "unit of the same network untrained {untrained}. Where it was confirmed, it leads the closest by "
            "{lead}: it remembers."
        )
    return _("It was not compared with all simpler explanations.")


def _too_small(strongest: Rival) -> str:
    """What the strongest of the rivals that aren't beaten reaches."""
    if strongest.kind == "character":
        return _(
            "But the current character alone reaches {rival}. The unit's lead over it is {lead}: too small "
            "to say that it remembers."
        )
    if strongest.kind == "context":
        return _(
            "But the last {number} characters alone reach {rival}. The unit's lead over them is {lead}: too "
            "small to say that it remembers more."
        )
    return _(
        "But the best unit of the same network untrained reaches {rival}. The lead over it is {lead}: "
        "too small to say that the network learnt it."
    )


def _nor(search: Search) -> str:
    """The simplest of them, where it is of another kind: with it no memory, or little, is needed."""
    assert search.strongest is not None
    assert search.rival is not None
    if search.rival.kind == search.strongest.kind:
        return ""
    if search.rival.kind == "character":
        return _("It isn't clearly ahead of the current character alone, either ({simplest}).")
    return _("It isn't clearly ahead of the last {few} characters alone, either ({simplest}).")


def above_chance(n: int) -> str:
    return ngettext("{n} unit is above chance.", "{n} units are above chance.", n).format(n=f"{n:,}")

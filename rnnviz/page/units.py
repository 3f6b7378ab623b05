"""What a model's card says of its units, in the session's language."""

from collections.abc import Mapping
from typing import Any

from rnnviz.i18n import _, ngettext
from rnnviz.networks import model_card
from rnnviz.page.formatting import measure, spoken


def target_name(target: str) -> str:
    """A target's name; a pattern stands for itself."""
    return spoken(model_card.described(target))


def follows(card: Mapping[str, Any]) -> str:
    """The sentence on the targets that a network's units follow; "" without a standing finding."""
    stand = model_card.remembering(card)
    if not stand:
        return ""
    said = ngettext("One of its units follows this: {what}.", "Some of its units follow: {what}.", len(stand))
    each = [
        _("{list} ({why})").format(
            list=target_name(one.target),
            why=f"{measure(one)} {one.reported:.2f}",
        )
        for one in stand
    ]
    return said.format(what=_(", ").join(each))


def reasons() -> dict[str, str]:
    """The reasons why a unit has no name, by verdict and by `model_card.Why`."""
    return {
        "nothing": _("no unit follows it"),
        "chance": _("no unit follows it"),
        "character": _("the last character may tell as much"),
        "context": _("the last few characters may tell as much"),
        "untrained": _("an untrained network may tell as much"),
        "open": _("not compared with anything simpler"),
        "short": _("the text is too short"),
        "same text": _("too rare to say"),
        "absent": _("the text has none"),
        "throughout": _("the same at every character"),
        "costly": _("the search took too much time or memory"),
    }


def unnamed(card: Mapping[str, Any]) -> str:
    """The sentence that says why no unit has a name; "" if the card records no search."""
    said = reasons()
    left: dict[str, str] = {**model_card.unanswered(card)}
    left = {**{one.target: one.verdict for one in reversed(model_card.others(card))}, **left}
    sought = {name: said[left[name]] for name in model_card.SOUGHT if left.get(name) in said}
    each = [
        _("{list} ({why})").format(
            list=_(", ").join(target_name(name) for name, why in sought.items() if why == reason), why=reason
        )
        for reason in dict.fromkeys(sought.values())
    ]
    where = model_card.text(card) or _("text it never read")
    if len(each) == 1 and not model_card.of(card):  # one reason for all targets: name it alone
        each = list(sought.values())[:1]
    return (
        _("No unit could be named from {where}: {reasons}.").format(where=where, reasons=_("; ").join(each))
        if each
        else ""
    )

"""The live view's examples: a text, the model it was made for, and what to notice in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rnnviz.i18n import _

if TYPE_CHECKING:
    from rnnviz.networks.checkpoint import ModelInfo

ENGLISH, PYTHON, CHINESE = "holmes-lstm", "python-gru", "chinese-gru"


@dataclass(frozen=True)
class Example:
    """An example text.

    notice    the sentence on where to look, true of `model`
    language  the language of models that can read it, as on their cards
    model     the model to choose first among these
    """

    name: str
    text: str
    notice: str
    language: str = "en"
    model: str = ENGLISH


def examples() -> list[Example]:
    """All examples, with names and notices in the session's language."""
    return [
        Example(
            _("A sentence"),
            'He opened the door of the room and looked at us. "There is nothing there," he said.',
            _("First letters of words surprise most: there, many words could follow."),
        ),
        Example(
            _("A strange sentence"),
            "Zebras fax quantum jam; why would my gnu vex Björk at half past XVII?",
            _("Nearly every letter surprises, but not the “u” after “q”."),
        ),
        Example(
            _("One word"),
            "machine",
            _("The further into the word, the surer: after “machi” it expects “n”."),
        ),
        Example(
            _("Code"),
            'def mean(values):\n    """The average."""\n    return sum(values) / len(values)',
            _("Indentation costs next to nothing, and of “values” only the first letter and the last."),
            "python",
            PYTHON,
        ),
        Example(
            _("Chinese"),
            "那日天色将晚，师徒四人走到一座古庙前，门上写着三个大字。行者笑道：“师父莫怕，我先进去看看。”三藏点头。",
            _("Characters that belong together cost little after the first: 徒 after 师, 字 after 三个大."),
            "zh",
            CHINESE,
        ),
    ]


def for_view(card: Mapping[str, Any], name: str, listed: Sequence[ModelInfo]) -> list[dict[str, Any]]:
    """The examples as JSON for the view of the model `name`, whose card is `card`.

    model   the model to choose, if this one doesn't read the example's language; else None
    notice  "" unless the example is read by the model that the sentence is true of
    """
    found = []
    for one in examples():
        able = [info.path.stem for info in listed if info.card.get("language") == one.language]
        better = None
        if card.get("language") != one.language and able:
            better = one.model if one.model in able else able[0]
        known = (better or name) == one.model
        found.append(
            {"name": one.name, "text": one.text, "model": better, "notice": one.notice if known else ""}
        )
    return found

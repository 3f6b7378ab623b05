"""What the sidebar chose and every page receives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rnnviz.checkpoint import ModelInfo
    from rnnviz.model import CharModel
    from rnnviz.ngram import NgramModel


@dataclass(frozen=True)
class Context:
    """The choices of one session, for one run of the script.

    model        the chosen model, loaded
    yardstick    the n-gram model that its card names, or None
    info         the chosen model's file: name, kind, card
    language     a key of `rnnviz.ui.i18n.LANGUAGES`
    temperature  of sampled continuations; 1 samples from the model's own distribution
    """

    model: CharModel | NgramModel
    yardstick: NgramModel | None
    info: ModelInfo
    language: str
    temperature: float

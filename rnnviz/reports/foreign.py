"""Whether a text is foreign to a model: of another language, or another kind than it has read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

UNKNOWN = 0.1
"""Share of characters outside the vocabulary above which a text is foreign."""

FEWEST = 10
"""Characters: of fewer nothing is said."""

Why = Literal["", "unknown", "surprise"]


def why(card: Mapping[str, Any], characters: int, unknown: int, bits: float | None) -> Why:
    """Why a text is foreign to the model with this card; "" if it isn't.

    characters  of the text; `unknown` of them are outside the model's vocabulary
    bits        per character, as the model read it

    "surprise" is said from max(2, b / 2) + 40 / n bits above b on, where b are the bits per character of the
    model's own held-out text and n is `characters`: short texts scatter, and so do those of many characters.

    >>> card = {"held_out": {"perplexity": 4.0}}
    >>> why(card, 80, 9, 3.0), why(card, 80, 0, 4.4), why(card, 80, 0, 4.6), why({}, 80, 0, 40.0)
    ('unknown', '', 'surprise', '')
    """
    if characters < FEWEST:
        return ""
    if unknown > UNKNOWN * characters:
        return "unknown"
    own = usual(card)
    if bits is None or own is None:
        return ""
    return "surprise" if bits - own > max(2.0, own / 2) + 40 / characters else ""


def usual(card: Mapping[str, Any]) -> float | None:
    """Bits per character of the model's own held-out text; None if its card doesn't tell.

    >>> usual({"held_out": {"perplexity": 8.0}})
    3.0
    """
    figures = card.get("held_out")
    perplexity = figures.get("perplexity") if isinstance(figures, Mapping) else None
    if not isinstance(perplexity, int | float) or not 1 <= perplexity < math.inf:
        return None
    return math.log2(perplexity)

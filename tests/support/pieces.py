"""The costs of a text's characters, as `score` hands them over."""

from typing import Any

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.scoring.language_model import LanguageModel
from rnnviz.scoring.perplexity import Piece, score


def pieces(model: LanguageModel, text: str, **options: Any) -> list[Piece]:
    """The pieces of a text, with rank and entropy."""
    parts: list[Piece] = []
    score(model, text=text, on_piece=parts.append, **options)
    return parts


def costs(model: LanguageModel, text: str, **options: Any) -> Doubles:
    """The nats of each character, (n,), read without rank and entropy."""
    parts: list[Doubles] = []
    score(model, text=text, on_costs=parts.append, **options)
    return np.concatenate(parts)

"""The costs of a text's characters, as `score` hands them over."""

from typing import Any

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.scoring.language_model import LanguageModel
from rnnviz.scoring.perplexity import Piece, score


def pieces(model: LanguageModel, text: str, **options: Any) -> list[Piece]:
    """The pieces of a text, with rank and entropy."""
    found: list[Piece] = []
    score(model, text=text, on_piece=found.append, **options)
    return found


def costs(model: LanguageModel, text: str, **options: Any) -> Doubles:
    """The nats of each character, (n,), read without rank and entropy."""
    found: list[Doubles] = []
    score(model, text=text, costs=found.append, **options)
    return np.concatenate(found)

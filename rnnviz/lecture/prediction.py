"""Predictions of any model, network or n-gram, on a text: each character's cost, and the next characters.

A cache reads each text once, however often its picture changes.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.lecture.number_format import percent
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import Model
from rnnviz.scoring import tracer
from rnnviz.scoring.totals import character_costs
from rnnviz.text.characters import normalise, visible
from rnnviz.text.vocabulary import Vocabulary

# The code panel imports `trace` by this name, without the cache.
trace = lru_cache(maxsize=64)(tracer.trace)


@lru_cache(maxsize=256)
def nats(model: Model, text: str) -> Doubles:
    """The cost of each character of `text` (T,), in nats, by the rule of `rnnviz.scoring.perplexity`.

    >>> nats(NgramModel.fit("abab", order=2), "aba").shape
    (3,)
    """
    if not isinstance(model, NgramModel):
        return trace(model, text).nll
    ids = model.vocabulary.encode(normalise(text, model.normaliser))
    return character_costs(model.score(ids), ids, model.vocabulary)


def next_chances(model: Model, text: str) -> Doubles:
    """P (V,) of the character after `text`, by a network or by counts."""
    if isinstance(model, NgramModel):
        return np.asarray(np.exp(model.log_probs(model.vocabulary.encode(text))))
    return np.asarray(np.exp(trace(model, text).log_probs[-1]))


def likeliest(P: Doubles, n: int) -> list[int]:
    """The indices of the n most probable of P (V,), the most probable first.

    >>> likeliest(np.array([0.2, 0.5, 0.3]), 2)
    [1, 2]
    """
    return list(np.argsort(-P, kind="stable")[:n].tolist())


def chances(P: Doubles, symbols: Sequence[int], vocabulary: Vocabulary) -> list[tuple[str, float, str]]:
    """Rows for `bars`: each symbol in visible form, with its probability in P (V,)."""
    return [(visible(vocabulary.symbol(i)), float(P[i]), percent(P[i])) for i in symbols]

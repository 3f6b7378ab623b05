"""LanguageModel, the protocol of every model that can be scored; and UniformModel, the simplest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rnnviz.arrays import Doubles, Ids
from rnnviz.errors import ConfigError
from rnnviz.networks.numpy_model import no_model
from rnnviz.networks.prediction import Scorer, Scores
from rnnviz.text.vocabulary import Vocabulary, check_vocabulary

PIECE_CHARS = 4096  # symbols handed over at a time to a scorer that has no attribute `piece`


class LanguageModel(Protocol):
    """A model that can be scored: CharModel, NgramModel, UniformModel, or a class of your own.

    `scorer()` returns a fresh reader of one text. Its `advance(ids)` returns log P in nats (n,) of the next
    characters (n,), each given everything before it. 0 is `<unk>`, to which `Vocabulary.unknown_cost` is
    added later. `advance_details(ids)`, for a record, returns (log P, rank, entropy). `precise_scorer()`, for
    `precise=True` alone, returns a reader that computes in float64.
    """

    @property
    def name(self) -> str: ...

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def normaliser(self) -> str: ...

    def scorer(self) -> Scorer: ...


@dataclass(frozen=True)
class UniformModel:
    """Every symbol has probability 1 / V: perplexity V on known characters.

    >>> import rnnviz
    >>> model = UniformModel(Vocabulary(("a", "b", "c")))
    >>> round(rnnviz.perplexity(model, text="abba").perplexity, 9)
    4.0
    """

    vocabulary: Vocabulary
    name: str = "uniform"
    normaliser: str = "newlines"

    def __post_init__(self) -> None:
        check_vocabulary(self.vocabulary)

    def scorer(self) -> _UniformScorer:
        """A reader of one text."""
        return _UniformScorer(self.vocabulary.size)

    # In float64 as it is.
    precise_scorer = scorer


@dataclass(frozen=True)
class _UniformScorer:
    size: int

    def advance(self, ids: Ids) -> Doubles:
        return np.full(len(ids), -math.log(self.size))

    def advance_details(self, ids: Ids) -> Scores:
        ranks = np.ones(len(ids), np.int32)  # no symbol is more likely than the one that came
        return Scores(self.advance(ids), ranks, -self.advance(ids).astype(np.float32))


def advance_in_pieces(scorer: Scorer, ids: Ids) -> Doubles:
    """log P in nats of each of `ids` (n,), handed over in pieces of the scorer's preferred length."""
    step: int = getattr(scorer, "piece", PIECE_CHARS)
    parts = [scorer.advance(ids[n : n + step]) for n in range(0, len(ids), step)]
    return np.concatenate([np.empty(0), *parts])


def scorer_of(model: LanguageModel, *, details: bool = False, precise: bool = False) -> Scorer:
    """A reader of one text, with `advance_details` if `details`, in float64 if `precise`.

    Raises ConfigError for a model without such a reader.
    """
    # All refusals come here, before a text is opened that takes long to read.
    if not (hasattr(model, "scorer") and hasattr(model, "vocabulary")):
        raise no_model(model)
    make = getattr(model, "precise_scorer" if precise else "scorer", None)
    if make is None:
        raise ConfigError(
            "a precise score was asked for, and the model {name!r} has no method precise_scorer(): it "
            "returns a scorer that computes in float64; add it, or leave precise out",
            name=model.name,
        )
    scorer: Scorer = make()
    if details and not hasattr(scorer, "advance_details"):
        raise ConfigError(
            "details were asked for, and the scorer of the model {name!r}, {scorer}, "
            "has no method advance_details(ids): it returns log P, rank and entropy of each symbol, (n,) "
            "each; add it, or ask for the perplexity alone",
            name=model.name,
            scorer=type(scorer).__name__,
        )
    return scorer

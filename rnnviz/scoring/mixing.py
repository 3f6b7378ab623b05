"""Mixture of two models: a network and an n-gram model err in different places and predict better together.

    log P(x) = w₁ log P₁(x) + w₂ log P₂(x) - log Σ_x' P₁(x')^w₁ P₂(x')^w₂

This is a product of experts (Hinton 2002) whose weights are learned from the text so far, as in PAQ (M.
Mahoney, "Adaptive Weighing of Context Models for Lossless Data Compression", 2005): each step goes down the
gradient of the cost of the symbol that came,

    ∂ -log P(x) / ∂w_i = Σ_x' P(x') log P_i(x') - log P_i(x)

A weight is a sum of parts: one for all characters, and one each for the last 1, 2, 3 and 4 characters, as the
better model differs from place to place. The parts begin at START and 0. They change after every BLOCK
characters, counted from the text's beginning, whatever the pieces that it is read in. So a prediction depends
on the text before alone, and `rnnviz.scoring.compression` can write with it. But such costs aren't comparable
with those of a model that doesn't learn from the text it is measured on.

RATES, BLOCK and START were chosen on the validation texts of The Time Machine and Tiny Shakespeare, with
models that had read neither.

Shape letters: n symbols, V symbols of both vocabularies, K parts of a weight.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rnnviz.arrays import Doubles, Ids
from rnnviz.errors import ConfigError
from rnnviz.networks.numpy_model import no_model
from rnnviz.networks.prediction import WholePredictions
from rnnviz.scoring.language_model import LanguageModel, scorer_of
from rnnviz.scoring.reader import ScoringReader, reader
from rnnviz.scoring.signature import digest_of, signature
from rnnviz.text.vocabulary import UNKNOWN, Vocabulary

if TYPE_CHECKING:
    from rnnviz.scoring.reader import Readable


START = 0.5
"""Each model's weight at a text's beginning."""

RATES = (5e-4, 2e-3, 4e-3, 8e-3, 16e-3)
"""The learning rate of each part of a weight: of all characters, of the last 1, 2, 3, 4."""

SLOTS = 65_521
"""Rows for the contexts of one length, a prime: with more contexts, some share a row."""

BLOCK = 32
"""Characters that are predicted with the same weights."""

LIMIT = 2.0
"""The highest weight; the lowest is 0."""

LEAST = -100.0
"""The lowest log P that counts, in nats: a model may be certain of the wrong symbol."""

ENTRIES = 1 << 22
"""Entries of the predictions (n, V) held at a time."""


def mix(model: LanguageModel, other: LanguageModel) -> MixedModel:
    """The mixture of two models, which `perplexity` and `compress` take as any other model.

    The mixture's symbols are the characters that either model knows, and `<unk>`. A model that doesn't know a
    character gives it a share of the probability of `<unk>`. Raises ConfigError for a value that is no model,
    and for models that normalise texts differently.

    >>> import rnnviz
    >>> network, counts = rnnviz.load("timemachine-gru"), rnnviz.load("timemachine-6gram")
    >>> model = rnnviz.mix(network, counts)
    >>> model.name
    'timemachine-gru + timemachine-6gram'
    >>> text = "He put the lamp on the table and said nothing."
    >>> [round(rnnviz.perplexity(each, text=text).perplexity, 2) for each in (network, counts, model)]
    [3.59, 3.99, 3.51]
    """
    for one in (model, other):
        if not hasattr(one, "vocabulary"):
            raise no_model(one)
    if model.normaliser != other.normaliser:
        raise ConfigError(
            "models that are mixed read the same text, and {name!r} normalises it as {one!r}, {other!r} as "
            "{another!r}; choose another model",
            name=model.name,
            one=model.normaliser,
            other=other.name,
            another=other.normaliser,
        )
    own, its = model.vocabulary, other.vocabulary
    return MixedModel(
        model,
        other,
        name=f"{model.name} + {other.name}",
        vocabulary=own if own == its else Vocabulary(tuple(sorted({*own.characters, *its.characters}))),
        normaliser=model.normaliser,
        card=dict(getattr(model, "card", {})),
    )


@dataclass(frozen=True, eq=False)
class MixedModel:
    """A mixture, as `mix` makes it: the vocabulary has both models' characters, the card is the first's."""

    model: LanguageModel
    other: LanguageModel
    name: str
    vocabulary: Vocabulary
    normaliser: str
    card: dict[str, Any]

    def scorer(self) -> MixedReader:
        """A reader of one text. Raises ConfigError for a model whose scorer gives no whole predictions."""
        return MixedReader(self, [_whole(one, precise=False) for one in (self.model, self.other)])

    def precise_scorer(self) -> MixedReader:
        """A reader of one text, in float64. Raises ConfigError as `scorer` does."""
        return MixedReader(self, [_whole(one, precise=True) for one in (self.model, self.other)])

    def reader(self) -> MixedReader:
        """A reader at a text's beginning, character by character, in the same arithmetic for every caller."""
        return MixedReader(self, [reader(cast("Readable", one)) for one in (self.model, self.other)])

    def signature(self) -> bytes:
        """Bytes that name, in a compressed text, both models in this order, and the settings of mixing."""
        settings = struct.pack(f"<{3 + len(RATES)}d2I", START, LIMIT, LEAST, *RATES, BLOCK, SLOTS)
        return digest_of(b"mixed", signature(self.model), signature(self.other), settings)


def _whole(model: LanguageModel, *, precise: bool) -> WholePredictions:
    scorer = scorer_of(model, precise=precise)
    if isinstance(scorer, WholePredictions):
        return scorer
    raise ConfigError(
        "the scorer of the model {name!r}, {scorer}, has no method advance_predictions(ids): it returns "
        "log P of every symbol before each of ids, (n, V); add it, or mix another model",
        name=model.name,
        scorer=type(scorer).__name__,
    )


def _shared(own: Vocabulary, both: Vocabulary) -> tuple[Ids, Doubles]:
    """For each symbol of the mixture, a model's own symbol, and the nats added to its log P as a share of
    `<unk>`."""
    index = np.concatenate([[UNKNOWN], own.encode("".join(both.characters))])
    share = np.where(index == UNKNOWN, -own.unknown_cost, 0.0)
    share[UNKNOWN] += both.unknown_cost
    return index, share


class MixedReader(ScoringReader):
    """Reads one text through both models and learns the weights from it.

    `sources` are the models' readers, or their scorers, which can't give `log_probs` of a next symbol.
    """

    def __init__(self, model: MixedModel, sources: Sequence[Any]) -> None:
        super().__init__(model.vocabulary.size)
        vocabularies = (model.model.vocabulary, model.other.vocabulary)
        self._sources, self._indices = sources, [_shared(one, model.vocabulary) for one in vocabularies]
        most = (getattr(one, "piece", ENTRIES) for one in sources)  # slow ones report between pieces
        self.piece = max(BLOCK, min(ENTRIES // self.size, *most))
        self._read = 0  # characters since the text's beginning
        self._before = np.full(len(RATES) - 1, self.size)  # the last symbols read, at first the start symbol
        # A context is a number in base V + 1, with the last symbol as its lowest digit, modulo SLOTS.
        self._powers = (self.size + 1) ** np.arange(len(RATES) - 1) % SLOTS
        self._parts = np.zeros((len(RATES) * SLOTS, 2))
        self._parts[:SLOTS] = START
        self._waiting: list[tuple[Ids, Doubles]] = []

    @property
    def unsettled(self) -> int:
        """See `rnnviz.networks.batched_scoring.CharScorer`."""
        return max(getattr(one, "unsettled", 0) for one in self._sources)

    def log_probs(self) -> Doubles:
        """log P (V,) of the next symbol, in nats; not finite where a model gives no probabilities."""
        log_p, _ = self._predict(self._next(), self._places(np.zeros(1, np.int64)))
        return np.asarray(log_p[0])

    def read(self, ids: Ids) -> None:
        """Read the next symbols `ids` (n,)."""
        for symbol in ids[:, None]:
            self._learned(self._next(), symbol)
            for one, (index, _) in zip(self._sources, self._indices, strict=True):
                one.read(index[symbol])

    def advance_predictions(self, ids: Ids) -> Doubles:
        """log P (n, V) in nats of every symbol before each of `ids` (n,); then `ids` have been read."""
        each = zip(self._sources, self._indices, strict=True)
        rows = [one.advance_predictions(index[ids]) for one, (index, _) in each]
        return self._learned(self._of_both(rows), ids)

    def _next(self) -> list[Doubles]:
        return self._of_both([one.log_probs()[None] for one in self._sources])

    def _of_both(self, rows: list[Doubles]) -> list[Doubles]:
        """log P (n, V) over the mixture's symbols, of each model's own rows; no less than LEAST."""
        each = zip(rows, self._indices, strict=True)
        return [np.maximum(own[:, index] + share, LEAST) for own, (index, share) in each]

    def _places(self, ids: Ids) -> Ids:
        """The rows of the weights' parts before each of `ids` (n,), (n, K); the last one has no effect."""
        before = np.concatenate([self._before, ids[:-1]])
        last = np.lib.stride_tricks.sliding_window_view(before, len(self._before))[:, ::-1]
        rows = np.cumsum(last * self._powers, axis=1) % SLOTS
        return np.insert(rows, 0, 0, axis=1) + SLOTS * np.arange(len(RATES))

    def _predict(self, both: list[Doubles], places: Ids) -> tuple[Doubles, Doubles]:
        """log P and P (n, V), from both models' log P (n, V) and the rows `places` (n, K)."""
        weights = np.clip(self._parts[places].sum(axis=1), 0, LIMIT)
        log_p = weights[:, :1] * both[0]
        log_p += weights[:, 1:] * both[1]
        log_p -= log_p.max(axis=1, keepdims=True)
        p = np.exp(log_p)
        total = p.sum(axis=1, keepdims=True)
        p /= total
        log_p -= np.log(total)
        return log_p, p

    def _learned(self, both: list[Doubles], ids: Ids) -> Doubles:
        """log P (n, V) before each of `ids` (n,), from both models' log P (n, V); then learns from `ids`."""
        out, places, at = np.empty_like(both[0]), self._places(ids), 0
        while at < len(ids):
            now = slice(at, at + BLOCK - self._read % BLOCK)
            here, came = [rows[now] for rows in both], ids[now]
            out[now], p = self._predict(here, places[now])
            each = np.arange(len(came))
            slopes = [rows[each, came] - np.einsum("nv,nv->n", p, rows) for rows in here]
            self._waiting.append((places[now], np.stack(slopes, axis=1)))
            self._read += len(came)
            if self._read % BLOCK == 0:
                where, up = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
                np.add.at(self._parts, where, up[:, None] * np.array(RATES)[:, None])
                self._waiting.clear()
            at = now.stop
        self._before = np.concatenate([self._before, ids])[-len(self._before) :]
        return out

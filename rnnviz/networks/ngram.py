"""NgramModel, to compare networks with: interpolated modified Kneser–Ney on characters.

`kneser_ney` has the estimate; here are its use on texts and its compact form for a file.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Array, Arrays, Doubles, Integers
from rnnviz.checks import checked, received
from rnnviz.errors import CheckpointError, ConfigError, EmptyTextError
from rnnviz.networks import contamination
from rnnviz.networks.kneser_ney import (
    Counts,
    Level,
    count,
    counts_from,
    estimate,
    shorten,
    smallest,
    split_counts,
)
from rnnviz.networks.prediction import Scores, rank
from rnnviz.reprs import Pictured
from rnnviz.text.characters import normalise
from rnnviz.text.corpora import sha256
from rnnviz.text.vocabulary import WARNED_SHARE, Vocabulary, check_vocabulary

if TYPE_CHECKING:
    from rnnviz.networks.modelfile import Sketch

MAX_ORDER = 6

# Symbols scored at a time: the intermediate arrays stay in the processor's cache.
_BLOCK_SYMBOLS = 1 << 15

# Probabilities (rows by symbols) spelled out at a time.
_DENSE_ENTRIES = 1 << 18

AnyInts = npt.ArrayLike


@checked
def ngram(text: str, *, order: int = MAX_ORDER, name: str = "", ends: bool = False) -> NgramModel:
    """The n-gram model of `text`, one document: interpolated modified Kneser–Ney (Chen & Goodman 1999).

    order   1 to 6: the next character is predicted from the order - 1 before it
    name    the model's name in reports and on pages
    ends    the text holds texts that end, a line each, such as `corpora.open_corpus(["Ann", "Bob"]).text`:
            each is read from its start, and its end is predicted too

    The vocabulary has every character, of a text of 10,000 or more those that occur twice. An n-gram model
    has probabilities and no hidden states: `rnnviz.perplexity`, `sample`, `compress` and `save` take it,
    `trace` doesn't. Raises ConfigError for another order, EmptyTextError for an empty text, TextError for
    another value than a text.

    >>> import rnnviz
    >>> model = rnnviz.ngram("abracadabra", order=3)
    >>> rnnviz.perplexity(model, text="abra").perplexity < 3
    True
    """
    model = NgramModel.fit(text, order=order, name=name, ends=ends)
    model.sketch = contamination.sketch(text)  # knows the text again; for the shortest there is the checksum
    model.card = {"sha256_trained_on": sha256(normalise(text))}
    sentence, share = model.vocabulary.dropped(normalise(text))
    if share >= WARNED_SHARE:
        warnings.warn(sentence, stacklevel=2)
    return model


class NgramModel(Pictured):
    """A character n-gram model of order 1 to 6: the next character is predicted from the order - 1 before it.

    `normaliser` names a text's normalisation before encoding; `card` is plain JSON data on the model's
    origin; `sketch` is a sketch of the training text, see `rnnviz.networks.contamination`.

    >>> model = NgramModel.fit("abracadabra", order=3)
    >>> model.vocabulary.characters, model.parameter_count
    (('a', 'b', 'c', 'd', 'r'), 22)
    """

    def __repr__(self) -> str:
        return (
            f"<{self.name or 'a model'}: {self.order}-gram over {self.vocabulary.size:,} symbols, "
            f"{self.parameter_count:,} counts>"
        )

    def __init__(
        self,
        counts: Counts,
        vocabulary: Vocabulary,
        *,
        name: str = "",
        card: dict[str, Any] | None = None,
        normaliser: str = "newlines",
        sketch: Sketch | None = None,
    ) -> None:
        """Take the counts of a text in `vocabulary`'s integers. Raises ConfigError for counts of no text."""
        check_vocabulary(vocabulary)
        if not isinstance(counts, Counts):
            raise ConfigError(
                "an n-gram model is made by rnnviz.ngram from a text; received {received}",
                received=received(counts),
            )
        self.vocabulary = vocabulary
        self.order = counts.order
        self.name, self.normaliser = name, normaliser
        self.card: dict[str, Any] = card or {}
        self.sketch = sketch
        self._counts = counts
        self.levels: tuple[Level, ...] = tuple(estimate(counts))
        """The tables for n-grams of 1, 2 … `order` symbols: see rnnviz.networks.kneser_ney."""

    @classmethod
    def fit(
        cls,
        text: str,
        *,
        order: int,
        vocabulary: Vocabulary | None = None,
        name: str = "",
        normaliser: str = "newlines",
        ends: bool = False,
    ) -> NgramModel:
        """Count the n-grams of `text`, one document, normalised as all texts that are scored later.

        The default `vocabulary` is that of `Vocabulary.from_text`, with these `ends`. Raises ConfigError
        for an order outside 1 … 6 and EmptyTextError for an empty text.
        """
        _check_order(order)
        text = normalise(text, normaliser)
        if not text:
            raise EmptyTextError("an n-gram model needs a text to count; received an empty one")
        if vocabulary is None:
            vocabulary = Vocabulary.from_text(text, ends=ends)
        counts = count(vocabulary.encode(text), vocabulary.size, order, vocabulary.end)
        return cls(counts, vocabulary, name=name, normaliser=normaliser)

    @property
    def parameter_count(self) -> int:
        """The number of n-grams stored, of all orders, the V single symbols included."""
        return self.vocabulary.size + sum(self.seen)

    @property
    def seen(self) -> list[int]:
        """The numbers of different n-grams of 2, 3 … `order` symbols, the start symbol's included."""
        return [len(keys) for keys in self._counts.keys]

    def shortened(self, order: int) -> NgramModel:
        """The model of the same text with a smaller `order`.

        `fit` gives the same. Raises ConfigError for an order above this model's.
        """
        _check_order(order)
        if order > self.order:
            raise ConfigError(
                "this model counts up to {longest}-grams; received order {order}",
                longest=self.order,
                order=order,
            )
        shorter = shorten(self._counts, order)
        return NgramModel(
            shorter, self.vocabulary, name=self.name, card=self.card, normaliser=self.normaliser
        )

    def score(self, ids: AnyInts, context: AnyInts | None = None) -> Doubles:
        """log P of each symbol `ids` (T,), 0 … V - 1, given everything before it, in nats, shape (T,).

        `context` are the integers before `ids`, all or at least the last order - 1; with fewer, the text
        begins there. After an edit at p, `score(ids[p:], ids[max(0, p - order + 1) : p])` are the new values.
        Raises ConfigError for integers that are no symbols.
        """
        targets = self._checked(ids, self.vocabulary.size - 1)
        parts = [
            self._score_block(state, block) for state, block in self._blocks(targets, context, _BLOCK_SYMBOLS)
        ]
        return np.concatenate([np.empty(0), *parts])

    def log_probs(self, context: AnyInts | None = None) -> Doubles:
        """log P(w | context) of every symbol w, in nats, shape (V,). `context` as for `score`."""
        return self._row(self._state(context))

    def _row(self, state: Integers) -> Doubles:
        """`log_probs` after `state`, in half the time of `_dense_block`."""
        base = self.vocabulary.size + 1
        probabilities = self.levels[0].share[: self.vocabulary.size].copy()
        # Level by level, from the shortest context: all V probabilities are scaled by γ of the longer
        # context, and those of the symbols that were seen after it get their share. A node's children are one
        # run of keys.
        for (upper, level), nodes in zip(pairwise(self.levels), self._nodes(state), strict=False):
            node = int(nodes[-1])
            first, last = np.searchsorted(level.keys, (node * base, (node + 1) * base))
            probabilities *= upper.backoff[node]
            probabilities[level.keys[first:last] - node * base] += level.share[first:last]
        return np.asarray(np.log(probabilities))

    def occurs(self, ids: AnyInts) -> bool:
        """Whether 1 to `order` symbols stand together in the text; a single one always does.

        Raises ConfigError for more symbols, and for none.

        >>> model = NgramModel.fit("abab", order=3)
        >>> model.occurs(model.vocabulary.encode("bab")), model.occurs(model.vocabulary.encode("bb"))
        (True, False)
        """
        row = self._checked(ids, self.vocabulary.size - 1)
        if not 0 < len(row) <= self.order:
            raise ConfigError(
                "this model knows sequences of 1 to {longest} symbols; received {count}",
                longest=self.order,
                count=len(row),
            )
        *_, nodes = islice(self._nodes(row), len(row))
        return len(row) == 1 or bool(nodes[-1] != len(self.levels[len(row) - 1].keys) - 1)

    def scorer(self) -> NgramScorer:
        """A reader at the start of a text."""
        return NgramScorer(self)

    precise_scorer = scorer  # counts are scored in float64

    def to_tensors(self) -> Arrays:
        """The counts as small arrays, from which `from_tensors` rebuilds the same probabilities bit by bit.

        For each level k of the tree, `children.{k}` has the number of n-grams of k + 1 symbols that begin
        with each n-gram of k symbols, and `symbols.{k + 1}` has their last symbols. `counts` are the counts
        of the highest order, see `kneser_ney.split_counts`, and of texts that end `initial.{k}` are those of
        a text's first k - 1 characters. All arrays are of the smallest unsigned integers that hold them.
        """
        base = self.vocabulary.size + 1
        tensors = split_counts(self._counts.leaf_counts)
        parents = base
        for level, keys in enumerate(self._counts.keys, start=1):
            tensors[f"children.{level}"] = smallest(np.bincount(keys // base, minlength=parents))
            tensors[f"symbols.{level + 1}"] = smallest(keys % base)
            parents = len(keys)
        for level, begun in enumerate(self._counts.initial or (), start=2):
            tensors[f"initial.{level}"] = smallest(begun)
        return tensors

    @classmethod
    def from_tensors(
        cls,
        tensors: Mapping[str, Array],
        vocabulary: Vocabulary,
        order: int,
        *,
        name: str = "",
        card: dict[str, Any] | None = None,
        normaliser: str = "newlines",
        sketch: Sketch | None = None,
    ) -> NgramModel:
        """The model that `to_tensors` wrote. Raises CheckpointError for arrays that are no text's counts."""
        try:
            _check_order(order)
            counts = counts_from(tensors, vocabulary.size, order, ends=vocabulary.ends)
            return cls(counts, vocabulary, name=name, card=card, normaliser=normaliser, sketch=sketch)
        except ValueError as error:
            raise CheckpointError(
                "these are not the n-gram counts of a text: {error}; the file is damaged", error=error
            ) from None

    def _blocks(
        self, ids: Integers, context: AnyInts | None, length: int
    ) -> Iterator[tuple[Integers, Integers]]:
        state = self._state(context)
        for begin in range(0, len(ids), length):
            block = ids[begin : begin + length]
            yield state, block
            state = self._advanced(state, block)

    def _nodes(self, sequence: Integers) -> Iterator[Integers]:
        """By level, the node of the n-gram that ends at each position of `sequence`, shape (n,)."""
        nodes = sequence
        yield nodes
        for level in self.levels[1:]:
            longer = level.find(nodes[:-1] * (self.vocabulary.size + 1) + sequence[1:])
            # An n-gram that would reach back beyond the sequence counts as never seen.
            nodes = np.concatenate([[len(level.keys) - 1], longer])
            yield nodes

    def _sequence(self, state: Integers, block: Integers) -> tuple[Integers, Integers]:
        """A state and the symbols that follow as one sequence, and the place of each of `block` in it."""
        places = np.arange(len(block)) + len(state)
        # A start symbol stands behind each end: no n-gram was counted across the two.
        ends = np.flatnonzero(block[:-1] == self.vocabulary.end) + 1
        sequence = np.insert(np.concatenate([state, block]), ends + len(state), self.vocabulary.start)
        return sequence, places + np.searchsorted(ends, np.arange(len(block)), side="right")

    def _score_block(self, state: Integers, block: Integers) -> Doubles:
        sequence, places = self._sequence(state, block)
        probabilities = np.zeros(len(block))
        # P_k = share + γ P_{k-1}, from the shortest n-gram up: by Horner's scheme, each level is two
        # operations.
        backoff: Doubles | float = 1.0
        for level, nodes in zip(self.levels, self._nodes(sequence), strict=True):
            probabilities = probabilities * backoff + level.share[nodes[places]]
            backoff = level.backoff[nodes[places - 1]]
        return np.asarray(np.log(probabilities))

    def ranked(self, ids: AnyInts, context: AnyInts | None = None) -> Scores:
        """`score` (T,), the rank of each symbol and the entropy of the prediction before it."""
        scores = Scores.unranked(self.score(ids, context))
        begin = 0
        for block, rows in self._dense(ids, context):
            positions = slice(begin, begin := begin + len(block))
            scores.rank[positions] = rank(rows, block)
            scores.entropy[positions] = -np.einsum("nv,nv->n", rows, np.log(rows))
        return scores

    def predictions(self, ids: AnyInts, context: AnyInts | None = None) -> Doubles:
        """log P (T, V) in nats of every symbol before each of `ids` (T,); `context` as for `score`."""
        parts = [np.log(rows) for _, rows in self._dense(ids, context)]
        return np.concatenate([np.empty((0, self.vocabulary.size)), *parts])

    def _dense(self, ids: AnyInts, context: AnyInts | None) -> Iterator[tuple[Integers, Doubles]]:
        """Pieces (n,) of `ids`, with P (n, V) of every symbol before each symbol of a piece."""
        targets = self._checked(ids, self.vocabulary.size - 1)
        for state, block in self._blocks(targets, context, max(1, _DENSE_ENTRIES // self.vocabulary.size)):
            yield block, self._rows(state, block)

    def _rows(self, state: Integers, block: Integers) -> Doubles:
        """P (n, V) of every symbol before each one of `block` (n,)."""
        base = self.vocabulary.size + 1
        sequence, at = self._sequence(state, block)
        probabilities = np.tile(self.levels[0].share[: self.vocabulary.size], (len(block), 1))
        for (upper, level), nodes in zip(pairwise(self.levels), self._nodes(sequence), strict=False):
            contexts = nodes[at - 1]
            probabilities *= upper.backoff[contexts][:, None]
            first, last = np.searchsorted(level.keys, (contexts * base, (contexts + 1) * base))
            lengths = last - first
            rows = np.repeat(np.arange(len(block)), lengths)
            # The runs of all contexts, one after another, as one index: `places` counts up within each run,
            # from its first child on.
            places = np.arange(len(rows)) + np.repeat(first - np.cumsum(lengths) + lengths, lengths)
            probabilities[rows, level.keys[places] - contexts[rows] * base] += level.share[places]
        return probabilities

    def _state(self, context: AnyInts | None) -> Integers:
        start = np.array([self.vocabulary.start])
        if context is None:
            return start
        return self._advanced(start, self._checked(context, self.vocabulary.start))

    def _advanced(self, state: Integers, ids: Integers) -> Integers:
        # Nothing earlier changes a prediction: this is all that is remembered of a text.
        length = max(self.order - 1, 1)  # at least 1, so that order 1 is no special case
        read = np.concatenate([state[-length:], ids[-length:]])
        ends = np.flatnonzero(read == self.vocabulary.end)
        if len(ends):
            read = np.append(self.vocabulary.start, read[ends[-1] + 1 :])
        return read[-length:]

    def _checked(self, ids: AnyInts, highest: int) -> Integers:
        array = np.asarray(ids)
        if array.size == 0:
            return np.empty(0, np.int64)
        if array.ndim != 1 or array.dtype.kind not in "iu" or array.min() < 0 or array.max() > highest:
            raise ConfigError(
                "symbols are integers from 0 to {highest}, in one row; received {received}",
                highest=highest,
                received=array if array.size < 10 else f"{array.dtype} of shape {array.shape}",
            )
        return array.astype(np.int64)


class NgramScorer:
    """Reads a text in pieces of any length."""

    def __init__(self, model: NgramModel) -> None:
        self._model = model
        self._last_symbols: Integers = model._state(None)

    @property
    def state(self) -> tuple[Integers]:
        """The current state, which is the last symbols read; for `resume_from`."""
        return (self._last_symbols,)

    def resume_from(self, last: int, state: tuple[Integers]) -> None:
        """Go on from `state`, the last symbols read. If another symbol than `last` ends them, a text begins
        with `last`.
        """
        (symbols,) = state
        self._last_symbols = symbols if int(symbols[-1]) == last else np.array([last])

    def read(self, ids: AnyInts) -> None:
        """Read the next symbols `ids` (n,)."""
        self._last_symbols = self._model._advanced(self._last_symbols, np.asarray(ids, np.int64))

    def log_probs(self) -> Doubles:
        """log P (V,) of the next symbol, in nats."""
        return self._model._row(self._last_symbols)

    def advance(self, ids: AnyInts) -> Doubles:
        """log P of each of the next symbols `ids` (n,), in nats, given all before it."""
        scores = self._model.score(ids, self._last_symbols)
        self.read(ids)
        return scores

    def advance_details(self, ids: AnyInts) -> Scores:
        """log P, rank and entropy of each of the next symbols `ids` (n,)."""
        scores = self._model.ranked(ids, self._last_symbols)
        self.read(ids)
        return scores


def _check_order(order: object) -> None:
    if type(order) is not int or not 1 <= order <= MAX_ORDER:
        raise ConfigError(
            "an n-gram model's order is an integer from 1 to {most}; received {order!r}",
            most=MAX_ORDER,
            order=order,
        )

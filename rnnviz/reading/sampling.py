"""Continue a text: draw each next character from what the model expects, and let the model read it.

    P(x) ∝ exp(log P(x | everything before) / temperature), over the k most probable symbols

`<unk>` stands for many characters and is none, so it is never drawn; the other
probabilities are renormalised without it. A seed makes the draw repeatable.

This module knows nothing of how a model is read fast, nor of screens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from rnnviz.errors import CheckpointError, ConfigError
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel, prepare
from rnnviz.networks.stepping import Reader
from rnnviz.text.normalising import normalise
from rnnviz.text.vocabulary import UNKNOWN, Vocabulary

if TYPE_CHECKING:
    from rnnviz.networks.torch_model import CharModel
    from rnnviz.reading.trace import Trace

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_PIECE = 1024
"""Characters of a prompt whose states are computed at a time."""


def sample(
    model: CharModel | NumpyModel | NgramModel,
    prompt: str,
    length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    seed: int | None = None,
) -> str:
    """The `length` characters that `stream` yields after `prompt`, as one text without the prompt."""
    return "".join(stream(model, prompt, length, temperature=temperature, top_k=top_k, seed=seed))


def stream(
    model: CharModel | NumpyModel | NgramModel,
    prompt: str,
    length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    seed: int | None = None,
) -> Iterator[str]:
    """Continue `prompt` by `length` characters, yielded one at a time.

    An empty prompt starts a text. `temperature` 1 draws from the model's own
    distribution, less makes it bolder in what it prefers, 0 always takes the
    most probable character. `top_k` leaves only that many to draw from. The
    same `seed` gives the same characters.

    Raises ConfigError for a negative length, temperature or seed or top_k < 1,
    before anything is read; TextError for half a surrogate pair in the prompt;
    CheckpointError if the model gives no probabilities.
    """
    check(length, temperature, top_k, seed)
    ids = model.vocabulary.encode(normalise(prompt, model.normaliser))
    reader: Expecting
    if isinstance(model, NgramModel):
        reader = _NgramReader(model, ids)
    else:
        stepper = Reader(prepare(model))
        inputs = np.concatenate(([model.vocabulary.start], ids))
        for begin in range(0, len(inputs), _PIECE):
            stepper.read(inputs[begin : begin + _PIECE])
        reader = NetworkReader(model.name, model.vocabulary, stepper)
    return draw(reader, length, temperature, top_k, np.random.default_rng(seed))


def resume(
    read: Trace,
    t: int,
    length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    seed: int | None = None,
) -> str:
    """`length` characters that follow the first `t` characters of a Trace, which are not read again.

    With the same seed they are those that `sample` gives after these t characters.
    Raises ConfigError for a t outside 0 .. T, and what `stream` raises.
    """
    check(length, temperature, top_k, seed)
    reader = NetworkReader(read.model_name, read.vocabulary, Reader(read.weights, read.state_after(t)))
    return "".join(draw(reader, length, temperature, top_k, np.random.default_rng(seed)))


def check(length: int, temperature: float, top_k: int | None, seed: int | None) -> None:
    """Raise ConfigError unless `stream` can work with these."""
    if length < 0:
        raise ConfigError("length counts characters and is at least 0; received {length}", length=length)
    if not 0 <= temperature < math.inf:
        raise ConfigError(
            "temperature is a number from 0 on; received {temperature}", temperature=temperature
        )
    if top_k is not None and top_k < 1:
        raise ConfigError("top_k is at least 1, or None for all characters; received {top_k}", top_k=top_k)
    if seed is not None and seed < 0:
        raise ConfigError("seed is a whole number from 0 on, or None for chance; received {seed}", seed=seed)


class Expecting(Protocol):
    """Something that has read a text, expects what comes next, and can read on."""

    name: str
    vocabulary: Vocabulary

    def read(self, symbol: int) -> None: ...

    def log_probs(self) -> Doubles:
        """log P (V,) of the next symbol, in nats, as an array of its own."""
        ...


class NetworkReader:
    """A network that has read something, at least the start symbol: its state, and what it expects."""

    def __init__(self, name: str, vocabulary: Vocabulary, reader: Reader) -> None:
        self.name, self.vocabulary, self._reader = name, vocabulary, reader

    def read(self, symbol: int) -> None:
        self._reader.read(np.array([symbol]))

    def log_probs(self) -> Doubles:
        top = self._reader.hidden[:, -1]
        log_probs: Doubles = self._reader.weights.log_probs(top)[0].astype(np.float64)
        return log_probs


class _NgramReader:
    """An n-gram model that has read a prompt; its last few symbols are all it needs."""

    def __init__(self, model: NgramModel, ids: Integers) -> None:
        self.vocabulary, self.name = model.vocabulary, model.name
        self._model, self._context = model, ids[-model.order :]

    def read(self, symbol: int) -> None:
        self._context = np.append(self._context, symbol)[-self._model.order :]

    def log_probs(self) -> Doubles:
        return self._model.log_probs(self._context)


def draw(
    reader: Expecting, length: int, temperature: float, top_k: int | None, generator: np.random.Generator
) -> Iterator[str]:
    """Let `reader` read `length` characters that are drawn from what it expects; see `stream`."""
    for _ in range(length):
        log_probs = reader.log_probs()
        log_probs[UNKNOWN] = -np.inf
        best = int(log_probs.argmax())
        if not math.isfinite(log_probs[best]):
            raise CheckpointError(
                "the model {name!r} gave no probabilities: its weights are damaged, "
                "or its training diverged; use another model",
                name=reader.name,
            )
        symbol = best if temperature == 0 else _choose(log_probs, temperature, top_k, generator)
        yield reader.vocabulary.symbol(symbol)
        reader.read(symbol)


def _choose(log_probs: Doubles, temperature: float, top_k: int | None, generator: np.random.Generator) -> int:
    """One symbol at random: the place of a uniform number among the summed weights."""
    symbols = np.argsort(-log_probs, kind="stable")[:top_k]
    with np.errstate(over="ignore"):  # a temperature near 0 sends all but the best to -inf, as it should
        weights = np.exp((log_probs[symbols] - log_probs[symbols[0]]) / temperature)
    sums = weights.cumsum()
    return int(symbols[np.searchsorted(sums, generator.random() * sums[-1], side="right")])

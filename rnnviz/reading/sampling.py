"""Continue a text: draw each next character from the model's prediction.

    P(x) ∝ exp(log P(x | everything before) / temperature), over the k most probable symbols

`<unk>` is no character and never drawn; the other probabilities are renormalised without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rnnviz.errors import CheckpointError, ConfigError
from rnnviz.networks.numpy_model import Model
from rnnviz.networks.stepping import NO_HOOKS, Hooks, NetworkReader
from rnnviz.reading.reader import Reader, reader
from rnnviz.text.vocabulary import UNKNOWN, Vocabulary

if TYPE_CHECKING:
    from rnnviz.reading.trace import Trace

Doubles = npt.NDArray[np.float64]


def sample(
    model: Model,
    prompt: str,
    length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    seed: int | None = None,
) -> str:
    """`length` characters after `prompt`, as `stream` yields them, in one text without the prompt.

    >>> import rnnviz
    >>> model = rnnviz.load("timemachine-gru")
    >>> rnnviz.sample(model, "The Time Trav", 5, temperature=0)
    'eller'
    """
    return "".join(stream(model, prompt, length, temperature=temperature, top_k=top_k, seed=seed))


def stream(
    model: Model,
    prompt: str,
    length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    seed: int | None = None,
) -> Iterator[str]:
    """Continue `prompt` (empty: start a text) by `length` characters, yielded one at a time.

    `temperature` 1 draws from the model's own distribution, less sharpens it, 0 takes the most probable
    character. `top_k` leaves only that many to draw from. The same `seed` gives the same characters.

    Raises ConfigError, before reading, for a negative length, temperature or seed or top_k < 1; TextError for
    half a surrogate pair in the prompt; CheckpointError if the model gives no probabilities.
    """
    check(length, temperature, top_k, seed)
    return draw(reader(model, prompt), model.name, model.vocabulary, length, temperature, top_k, seed)


def resume(
    read: Trace,
    t: int,
    length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    seed: int | None = None,
    hooks: Hooks = NO_HOOKS,
) -> str:
    """`length` characters that follow the first `t` characters of a Trace, which are not read again.

    With the same seed they are those that `sample` gives there, unless `hooks` change the network's states.
    Raises ConfigError for a t outside 0 .. T, and what `stream` raises.
    """
    check(length, temperature, top_k, seed)
    after = NetworkReader(read.weights, read.state_after(t), time=t + 1, hooks=hooks)
    return "".join(draw(after, read.model_name, read.vocabulary, length, temperature, top_k, seed))


def check(length: int, temperature: float, top_k: int | None, seed: int | None) -> None:
    """Raise ConfigError for invalid arguments of `stream`."""
    if not _whole(length, 0):
        raise ConfigError("length counts characters and is at least 0; received {length!r}", length=length)
    if not isinstance(temperature, int | float) or not 0 <= temperature < math.inf:
        raise ConfigError(
            "temperature is a number from 0 on; received {temperature!r}", temperature=temperature
        )
    if top_k is not None and not _whole(top_k, 1):
        raise ConfigError("top_k is at least 1, or None for all characters; received {top_k!r}", top_k=top_k)
    if seed is not None and not _whole(seed, 0):
        raise ConfigError(
            "seed is a whole number from 0 on, or None for chance; received {seed!r}", seed=seed
        )


def _whole(value: object, lowest: int) -> bool:
    return isinstance(value, int | np.integer) and bool(value >= lowest)


def draw(
    after: Reader,
    name: str,
    vocabulary: Vocabulary,
    length: int,
    temperature: float,
    top_k: int | None,
    seed: int | None,
) -> Iterator[str]:
    """Draw `length` characters from the model `name`, which reads each; see `stream`."""
    generator = np.random.default_rng(seed)
    for _ in range(length):
        log_probs = after.log_probs()
        log_probs[UNKNOWN] = -np.inf
        best = int(log_probs.argmax())
        if not math.isfinite(log_probs[best]):
            raise CheckpointError(
                "the model {name!r} gave no probabilities: its weights are damaged, "
                "or its training diverged; use another model",
                name=name,
            )
        symbol = best if temperature == 0 else _choose(log_probs, temperature, top_k, generator)
        yield vocabulary.symbol(symbol)
        after.read(np.array([symbol]))


def _choose(log_probs: Doubles, temperature: float, top_k: int | None, generator: np.random.Generator) -> int:
    """One symbol at random: the place of a uniform number among the summed weights."""
    symbols = np.argsort(-log_probs, kind="stable")[:top_k]
    with np.errstate(over="ignore"):  # a temperature near 0 sends all but the best to -inf, as it should
        weights = np.exp((log_probs[symbols] - log_probs[symbols[0]]) / temperature)
    sums = weights.cumsum()
    return int(symbols[np.searchsorted(sums, generator.random() * sums[-1], side="right")])

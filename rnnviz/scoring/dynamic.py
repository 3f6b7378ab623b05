"""Dynamic evaluation: the network goes on learning from the text it reads (Krause et al. 2018).

    after every k characters, with g the gradient of their mean cost and θ₀ the weights of the model given:

    s ← s + (g² - s) / n           n the steps so far, this one included
    u = g / (√s + EVEN · mean √s)
    θ ← θ - rate · u · min(1, clip / rms(u))
    θ ← θ + decay · (θ₀ - θ)

A weight whose gradients are mostly small takes as long a step as the others. Krause et al. gather s on the
training text, which is not at hand here: s is gathered as the text is read. (On The Time Machine's
validation text s from the training text, or from a text that the network wrote, gave the same to 0.002 bits a
character.) Gradients flow back through the k characters, not into those before; the state is carried on.

Steps are taken at fixed places, counted from the text's beginning, and characters are read one by one, on one
thread. So costs depend on the text before alone, not on its cut into pieces, not even in the last bit, and
`rnnviz.scoring.compression` can write with them. Such costs aren't comparable with those of a model that
doesn't learn from the text it is measured on.

The defaults were chosen on the validation texts of The Time Machine and Tiny Shakespeare together, with
networks that had read neither. A gain doesn't show that the network has understood the text: texts unlike the
training text gain more, and an untrained network gains too. (On 6,000 characters timemachine-gru needs 2 %
fewer bits for its held-out text, 20 % for Shakespeare, 40 % for Python. An untrained copy needs 37, 33 and
39 % fewer.)

Shape letters: n symbols, V symbols of the vocabulary, k characters between two steps, W weights.
"""

from __future__ import annotations

import copy
import math
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from rnnviz.arrays import Doubles, Ids
from rnnviz.errors import ConfigError
from rnnviz.networks.config import between
from rnnviz.networks.numpy_model import no_model
from rnnviz.networks.prediction import normalised
from rnnviz.networks.threads import Threads
from rnnviz.networks.torch_engine import State
from rnnviz.networks.torch_model import CharModel
from rnnviz.scoring.language_model import LanguageModel
from rnnviz.scoring.reader import ScoringReader
from rnnviz.scoring.signature import digest_of, signature
from rnnviz.text.vocabulary import Vocabulary

EVEN = 0.1
"""A share of the mean √s that is added to each: else a weight that had no gradient yet would leap."""

TINY = 1e-30
"""Added to denominators, so that 0 / 0 is 0 and not NaN."""

LINE = 16
"""Each tensor begins at a multiple of so many weights: a factor's address can change the last bit of a
product."""


def dynamic(
    model: LanguageModel, *, every: int = 20, rate: float = 6e-4, decay: float = 0.006, clip: float = 1.0
) -> DynamicModel:
    """A model that goes on learning from the text it reads, for `perplexity`, `mix` and `compress`.

    every  k, the characters between two steps
    rate   the size of a step, after each weight's gradient is divided by its usual size
    decay  the share of the way back to the original weights, at every step
    clip   the largest root mean square of a step, before `rate`

    The given model never changes: each text is read with a copy, in float32 on the CPU, or in float64 for a
    precise score. Raises ConfigError for a model without weights, and for settings out of range.

    >>> import rnnviz
    >>> model = rnnviz.load("timemachine-gru")
    >>> learning = rnnviz.dynamic(model)
    >>> learning.name
    'timemachine-gru, dynamic'
    >>> text = "The Psychologist smiled. " * 8
    >>> [round(rnnviz.perplexity(each, text=text).perplexity, 1) for each in (model, learning)]
    [2.3, 1.5]
    """
    if not hasattr(model, "vocabulary"):
        raise no_model(model)
    if isinstance(model, DynamicModel):
        raise ConfigError(
            "{name!r} goes on learning already; give the settings to dynamic(model)", name=model.name
        )
    if not isinstance(model, CharModel):
        raise ConfigError(
            "{name!r} has no weights that could go on learning from what it reads; choose a network that "
            "rnnviz.load gives. (A mixture is made of one that learns: mix(dynamic(network), other).)",
            name=model.name,
        )
    return DynamicModel(
        model,
        every,
        rate,
        decay,
        clip,
        name=f"{model.name}, dynamic",
        vocabulary=model.vocabulary,
        normaliser=model.normaliser,
        card=model.card,
    )


@dataclass(frozen=True, eq=False)
class DynamicModel:
    """A network that goes on learning, as `dynamic` makes it, with the network's vocabulary, normaliser and
    card."""

    model: CharModel
    every: int
    rate: float
    decay: float
    clip: float
    name: str
    vocabulary: Vocabulary
    normaliser: str
    card: dict[str, Any]

    def __post_init__(self) -> None:
        between(self, int, every=(1, 65_536))
        between(self, float, rate=(0.0, 1.0), decay=(0.0, 1.0), clip=(1e-6, 1e6))

    def scorer(self) -> DynamicReader:
        """A reader at the start of a text, with the weights as they are now."""
        return DynamicReader(self, torch.float32)

    def precise_scorer(self) -> DynamicReader:
        """A reader at the start of a text, in float64."""
        return DynamicReader(self, torch.float64)

    reader = scorer

    def signature(self) -> bytes:
        """Bytes that name, in a compressed text, the network and its settings for learning."""
        settings = struct.pack("<I4d", self.every, self.rate, self.decay, self.clip, EVEN)
        return digest_of(b"dynamic", signature(self.model), settings)


class DynamicReader(ScoringReader):
    """Reads one text, character by character, with a copy of the network that learns from it.

    The copy's weights and gradients are one vector each, (W,). Memory: four times the weights, and the values
    of k characters for the gradient.
    """

    def __init__(self, settings: DynamicModel, dtype: torch.dtype) -> None:
        super().__init__(settings.vocabulary.size)
        self._settings, self._count, self._steps = settings, settings.model.parameter_count, 0
        with _alone():
            self._model = model = copy.deepcopy(settings.model).to("cpu", dtype).requires_grad_(True)
            named = dict(model.named_parameters())
            places = np.cumsum([0] + [-(-p.numel() // LINE) * LINE for p in named.values()]).tolist()
            self._weights, self._gradient, self._squares = torch.zeros(3, places[-1], dtype=dtype)
            for place, p in zip(places, named.values(), strict=False):
                here = slice(place, place + p.numel())
                self._weights[here] = p.data.flatten()
                p.data, p.grad = self._weights[here].view_as(p), self._gradient[here].view_as(p)
            self._original, config = self._weights.clone(), model.config
            self._layers = [[named[name] for name in config.layer_names(n)] for n in range(config.layers)]
            start = settings.vocabulary.start
            self._inputs, self._targets, self._first = [start], list[int](), model.zero_state()
            self._logits, self._state = self._step(start, self._first)

    def read(self, ids: Ids) -> None:
        """Read the next symbols `ids` (n,), and learn after every k symbols."""
        with _alone():
            for symbol in ids.tolist():
                self._targets.append(symbol)
                if len(self._targets) == self._settings.every:
                    self._learn()
                    self._first, self._inputs, self._targets = self._state, [], []
                self._inputs.append(symbol)
                self._logits, self._state = self._step(symbol, self._state)

    def log_probs(self) -> Doubles:
        """log P (V,) of the next symbol in nats."""
        rows: Any = self._logits.numpy().astype(np.float64)[None]
        with np.errstate(invalid="ignore"):
            logits, log_sum = normalised(rows)
            return np.asarray(logits[0] - log_sum[0])

    def _step(self, symbol: int, state: State) -> tuple[Tensor, State]:
        """The logits (V,) and the state after one more input."""
        ids, model = torch.tensor([[symbol]]), self._model
        if model.config.cell != "lstm":
            logits, state = model(ids, state)
            return logits[0, 0], state
        # torch's fused layer takes six times as long for a single step.
        x, found = model.embed(ids)[0], []
        for n, layer in enumerate(self._layers):
            h, c = torch.lstm_cell(x, (state[0][n], state[1][n]), *layer)
            found.append((h, c))
            x = h
        logits = F.linear(x, model.readout_weight, model.readout.bias)
        return logits[0], tuple(torch.stack(part) for part in zip(*found, strict=True))

    def _learn(self) -> None:
        """Take one step of learning from the last k characters, read from the state `_first`."""
        self._gradient.zero_()
        with torch.enable_grad():
            logits, _ = self._model(torch.tensor([self._inputs]), self._first)
            torch.autograd.backward(F.cross_entropy(logits[0], torch.tensor(self._targets)))
        g, settings = self._gradient, self._settings
        if not math.isfinite(float(g.norm())):
            return  # such squares would spoil all later steps
        self._steps += 1
        self._squares.add_((g * g).sub_(self._squares), alpha=1 / self._steps)
        root = self._squares.sqrt()
        u = g.div_(root.add_(EVEN * float(root.sum()) / self._count + TINY))
        shorter = min(1.0, settings.clip / (float(u.norm()) / math.sqrt(self._count) + TINY))
        self._weights.add_(u, alpha=-settings.rate * shorter)
        self._weights.lerp_(self._original, settings.decay)


@contextmanager
def _alone() -> Iterator[None]:
    """One thread, whose sums have one order; and no inference mode of the caller's, in which `_learn` could
    find no gradients."""
    with Threads([1]).piece(), torch.inference_mode(False), torch.no_grad():
        yield

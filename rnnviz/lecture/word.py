"""A character model of one word, trained live: each step's label is the next character.

    inputs   m a c h i n
    labels   a c h i n e

It is the network of `rnnviz.lecture.machine`, for "machine" with its very numbers. A training step reads the
whole word, with full backpropagation through time, and changes the weights as torch.optim.AdamW does. It is
written in numpy because loading torch takes seconds.
"""

import math
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.gradients.small import SmallRNN, backwards, unroll
from rnnviz.lecture.machine import NAMES, SEED, UNITS, WORD, drawn

Parameters = dict[str, Doubles]

LONGEST = 12
"""Characters: more don't fit side by side."""

STEPS = 100
"""Training steps until the word is known by heart."""

LEARNING_RATE = 0.1
CLIP = 1.0
BETAS = (0.9, 0.99)
EPSILON = 1e-8


@dataclass(frozen=True)
class Snapshot:
    """The network after `step` training steps, reading the word once.

    hidden         (T, H)
    probabilities  (T, V) softmax(O_t)
    losses         (T,) -log P(label), nats
    written        the word's first character and what it writes after it, always the most probable one
    """

    step: int
    hidden: Doubles
    probabilities: Doubles
    losses: Doubles
    perplexity: float
    written: str


class WordRun:
    """A small network and its training on one word, of 2 to LONGEST characters (else ConfigError).

    inputs, labels (T,) characters; symbols (V,) the word's own; targets (T,) the labels' places there;
    net the network as trained so far.

    >>> run = WordRun("tea")
    >>> run.inputs, run.labels
    ('te', 'ea')
    >>> run.at(100).written
    'tea'
    """

    def __init__(self, word: str, seed: int = SEED, *, steps: int = STEPS) -> None:
        if not 1 < len(word) <= LONGEST:
            raise ConfigError(
                "a word of 2 to {longest} characters is wanted; received {count:,}",
                longest=LONGEST,
                count=len(word),
            )
        self.word, self.seed, self.steps = word, seed, steps
        self.symbols = tuple(dict.fromkeys(word))
        self.inputs, self.labels = word[:-1], word[1:]
        self._ids = [self.symbols.index(c) for c in self.inputs]
        self.targets = [self.symbols.index(c) for c in self.labels]
        self.net = drawn(seed, len(self.symbols))
        self._adam = Adam(_weights(self.net), steps)
        self._snapshots: list[Snapshot] = []
        self._look()
        self._lock = threading.Lock()

    @property
    def trained(self) -> int:
        """Training steps taken so far."""
        return len(self._snapshots) - 1

    def at(self, step: int) -> Snapshot:
        """The network after `step` training steps, 0 .. `steps`; trains if needed."""
        if not 0 <= step <= self.steps:
            raise ConfigError("this run has steps 0 to {steps}; received {step}", steps=self.steps, step=step)
        with self._lock:  # two readers may look at the same word
            while len(self._snapshots) <= step:
                self._train()
                self._look()
        return self._snapshots[step]

    def _look(self) -> None:
        self._unrolled = seen = unroll(self.net, self._ids, self.targets)
        losses = -seen.log_probs[np.arange(len(self.labels)), self.targets]  # (T,)
        self._snapshots.append(
            Snapshot(
                len(self._snapshots),
                seen.states[1:],
                np.exp(seen.log_probs),
                losses,
                math.exp(float(losses.mean())),
                self._written(),
            )
        )

    def _written(self) -> str:
        net, state, symbol = self.net, np.zeros(UNITS), self._ids[0]
        written = self.word[0]
        for _ in self.labels:
            state = np.tanh(net.W_xh[symbol] + state @ net.W_hh + net.b_h)  # (H,)
            symbol = int((state @ net.W_hq + net.b_q).argmax())
            written += self.symbols[symbol]
        return written

    def gradients(self) -> Parameters:
        """∂L/∂ each parameter."""
        seen = self._unrolled
        deltas = backwards(seen.slopes, seen.seeds, self.net.W_hh)  # (T, H)
        x = np.eye(len(self.symbols))[self._ids]  # (T, X)
        return {
            "W_xh": x.T @ deltas,
            "W_hh": seen.states[:-1].T @ deltas,
            "b_h": deltas.sum(axis=0),
            "W_hq": seen.states[1:].T @ seen.errors,
            "b_q": seen.errors.sum(axis=0),
        }

    def _train(self) -> None:
        trained: dict[str, Any] = self._adam.step(_weights(self.net), self.gradients())
        self.net = SmallRNN(**trained)


def _weights(net: SmallRNN) -> Parameters:
    return {name: getattr(net, name) for name in NAMES}


class Adam:
    """AdamW (Loshchilov & Hutter 2019) for so many `steps`, without decay, all gradients clipped together to
    norm CLIP."""

    def __init__(self, parameters: Parameters, steps: int) -> None:
        self.steps, self.taken = steps, 0
        self._first = {name: np.zeros_like(values) for name, values in parameters.items()}
        self._second = {name: np.zeros_like(values) for name, values in parameters.items()}

    def step(self, parameters: Parameters, gradients: Parameters) -> Parameters:
        """The parameters after one more step, by their names."""
        norm = math.sqrt(sum(float((g**2).sum()) for g in gradients.values()))
        scale = min(1.0, CLIP / (norm + 1e-6))
        rate = learning_rate(self.taken, self.steps)
        self.taken += 1
        trained = {}
        for name, values in parameters.items():
            g = gradients[name] * scale
            first, second = self._first[name], self._second[name]
            first += (1 - BETAS[0]) * (g - first)
            second += (1 - BETAS[1]) * (g**2 - second)
            unbiased = np.sqrt(second / (1 - BETAS[1] ** self.taken))
            trained[name] = values - rate / (1 - BETAS[0] ** self.taken) * first / (unbiased + EPSILON)
        return trained


def learning_rate(step: int, steps: int) -> float:
    """The rate at step `step`, from 0: a warm-up, then a cosine, as in rnnviz.training.

    >>> learning_rate(1, 100) == LEARNING_RATE
    True
    """
    warm = max(1, steps // 50)
    if step < warm:
        return LEARNING_RATE * (step + 1) / warm
    through = (step - warm) / max(1, steps - warm)
    return LEARNING_RATE * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * through)))


@lru_cache(maxsize=64)
def run(word: str = WORD, seed: int = SEED) -> WordRun:
    """The run of a word and a seed, cached.

    >>> run("tea") is run("tea")
    True
    """
    return WordRun(word, seed)

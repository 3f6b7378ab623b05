"""A character model of one word, trained while one looks.

The textbook's figure: "machine" is read character by character, and the label
of every time step is the character that follows.

    inputs   <s> m a c h i n
    labels    m  a c h i n e

    H_t = tanh(X_t W_xh + H_{t-1} W_hh + b_h)    O_t = H_t W_hq + b_q    loss_t = -log softmax(O_t)[label]

The network is small enough to look at, one layer on one-hot inputs, and is
trained by `rnnviz.training.Trainer` like every other; only that each step reads
the whole word, from its start. So it comes to the same numbers for the same
word and seed, and `run(word, seed).at(step)` can be asked in any order.

This module knows nothing of screens.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
import numpy.typing as npt

from rnnviz import corpora
from rnnviz.cells import RNNParameters
from rnnviz.config import TrainConfig
from rnnviz.errors import ConfigError
from rnnviz.training import Trainer

Doubles = npt.NDArray[np.float64]

WORD = "machine"
LONGEST = 12
"""Characters: more don't fit side by side."""

HIDDEN = 16
STEPS = 100
"""Training steps until the word is known by heart."""


@dataclass(frozen=True)
class Snapshot:
    """The network after some training steps, reading the word once.

    step           training steps taken
    hidden         (T, H) the hidden state after each input
    logits         (T, V) O_t; probabilities (T, V): its softmax
    losses         (T,) -log P(label), nats
    perplexity     exp of their mean
    written        what it writes by itself from the start symbol on, always the most probable character
    """

    step: int
    hidden: Doubles
    logits: Doubles
    probabilities: Doubles
    losses: Doubles
    perplexity: float
    written: str


class WordRun:
    """A small network and its training on one word.

    `inputs` and `labels` are the symbols of each time step, (T,); `symbols`
    those that can be predicted, (V,); `targets` (T,) where each label stands
    among them. Raises ConfigError for a word of no or of too many characters.
    """

    def __init__(self, word: str, seed: int = 0, *, hidden: int = HIDDEN, steps: int = STEPS) -> None:
        if not 1 < len(word) <= LONGEST:
            raise ConfigError(f"a word of 2 to {LONGEST} characters is wanted; received {len(word):,}")
        self.word, self.seed, self.steps = word, seed, steps
        self._trainer = trainer(word, seed, hidden=hidden, steps=steps)
        vocabulary = self._trainer.model.vocabulary
        ids = vocabulary.encode(word)
        self.targets: tuple[int, ...] = tuple(int(i) for i in ids)
        self.symbols = tuple(vocabulary.symbol(i) for i in range(vocabulary.size))
        self.inputs = (vocabulary.symbol(vocabulary.start), *word[:-1])
        self.labels = tuple(word)
        self._found = [self._look()]
        self._lock = threading.Lock()

    @property
    def trained(self) -> int:
        """How many training steps have been taken so far."""
        return len(self._found) - 1

    def at(self, step: int) -> Snapshot:
        """The network after `step` training steps, 0 .. `steps`; trains as far as it has not been."""
        if not 0 <= step <= self.steps:
            raise ConfigError(f"this run has steps 0 to {self.steps}; received {step}")
        with self._lock:  # two readers may look at the same word
            while len(self._found) <= step:
                self._trainer.step()
                self._found.append(self._look())
        return self._found[step]

    def __iter__(self) -> Iterator[Snapshot]:
        """Every snapshot, from the untrained network on."""
        return (self.at(step) for step in range(self.steps + 1))

    def _look(self) -> Snapshot:
        """Read the word with the network as it is, then let it write."""
        model = self._trainer.model
        parameters = cast(RNNParameters, model.layer_parameters()[0])
        w_xh, w_hh, b_h, w_hq, b_q = (
            t.detach().double().numpy()
            for t in (parameters.W_xh, parameters.W_hh, parameters.b_h, model.readout_weight.T, model.readout.bias)
        )

        def step(symbol: int, before: Doubles) -> tuple[Doubles, Doubles]:
            after: Doubles = np.tanh(w_xh[symbol] + before @ w_hh + b_h)  # a one-hot X_t picks a row of W_xh
            return after, after @ w_hq + b_q

        start = model.vocabulary.start
        state, hidden, logits = np.zeros(len(b_h)), [], []
        for symbol in (start, *self.targets[:-1]):
            state, out = step(symbol, state)
            hidden.append(state)
            logits.append(out)
        log_p = np.array(logits)
        log_p -= log_p.max(axis=1, keepdims=True)
        log_p -= np.log(np.exp(log_p).sum(axis=1, keepdims=True))
        losses = -log_p[np.arange(len(self.word)), self.targets]

        state, symbol, written = np.zeros(len(b_h)), start, []
        for _ in self.word:
            state, out = step(symbol, state)
            symbol = 1 + int(out[1:].argmax())  # <unk> is no character and is never written
            written.append(self.symbols[symbol])
        return Snapshot(
            self._trainer.step_index,
            np.array(hidden),
            np.array(logits),
            np.exp(log_p),
            losses,
            math.exp(float(losses.mean())),
            "".join(written),
        )


def trainer(word: str, seed: int = 0, *, hidden: int = HIDDEN, steps: int = STEPS) -> Trainer:
    """The project's own trainer, on `word`: one stream, and every step reads all of it from the start."""
    config = TrainConfig(
        cell="rnn",
        hidden_size=hidden,
        embedding_size=0,
        epochs=steps,
        batch=1,
        steps=max(2, len(word)),
        learning_rate=0.012,
        weight_decay=0.0,
        min_count=1,
        precision="float32",
        seed=seed,
    )
    found = Trainer(config, corpora.from_text(word), device="cpu")
    # An epoch may begin a little later than the text, to vary what long streams see; a word begins at its start.
    found.streams.slack, found.streams.length, found.streams.chunks = 0, len(word), 1
    found.total_steps = steps
    return found


@lru_cache(maxsize=64)
def run(word: str = WORD, seed: int = 0) -> WordRun:
    """The run of a word and a seed: trained once, then remembered."""
    return WordRun(word, seed)

"""A character model of one word, trained live: each step's label is the next character.

    inputs   <s> m a c h i n
    labels    m  a c h i n e

    H_t = tanh(X_t W_xh + H_{t-1} W_hh + b_h)    O_t = H_t W_hq + b_q    loss_t = -log softmax(O_t)[label]

Trained by full backpropagation through time and AdamW, as `rnnviz.training.Trainer` does from the same
weights; in numpy, because loading torch takes seconds.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.gradients.small import SmallRNN, backwards, unroll
from rnnviz.text.vocabulary import Vocabulary

Doubles = npt.NDArray[np.float64]
Parameters = dict[str, Doubles]

WORD = "machine"
LONGEST = 12
"""Characters: more don't fit side by side."""

HIDDEN = 16
STEPS = 100
"""Training steps until the word is known by heart."""

LEARNING_RATE = 0.012
CLIP = 1.0
BETAS = (0.9, 0.99)
EPSILON = 1e-8


@dataclass(frozen=True)
class Snapshot:
    """The network after `step` training steps, reading the word once.

    hidden         (T, H)
    probabilities  (T, V) softmax(O_t)
    losses         (T,) -log P(label), nats
    written        what it writes from the start symbol on, always the most probable character
    """

    step: int
    hidden: Doubles
    probabilities: Doubles
    losses: Doubles
    perplexity: float
    written: str


class WordRun:
    """A small network and its training on one word, of 2 to LONGEST characters (else ConfigError).

    inputs, labels (T,) symbols; symbols (V,) those predicted; targets (T,) the labels' places there;
    parameters W_xh (V + 1, H), W_hh (H, H), b_x, b_h (H,), two biases as in torch, W_hq (H, V), b_q (V,).

    >>> run = WordRun("tea")
    >>> run.inputs, run.labels
    (('<s>', 't', 'e'), ('t', 'e', 'a'))
    >>> run.at(100).written
    'tea'
    """

    def __init__(self, word: str, seed: int = 0, *, hidden: int = HIDDEN, steps: int = STEPS) -> None:
        if not 1 < len(word) <= LONGEST:
            raise ConfigError(
                "a word of 2 to {longest} characters is wanted; received {count:,}",
                longest=LONGEST,
                count=len(word),
            )
        self.word, self.seed, self.steps = word, seed, steps
        vocabulary = Vocabulary.from_text(word, min_count=1)
        self.targets: tuple[int, ...] = tuple(int(i) for i in vocabulary.encode(word))
        self.symbols = tuple(vocabulary.symbol(i) for i in range(vocabulary.size))
        self.inputs = (vocabulary.symbol(vocabulary.start), *word[:-1])
        self.labels = tuple(word)
        self._ids = (vocabulary.start, *self.targets[:-1])
        self.parameters = initial(vocabulary.size, hidden, seed)
        self._first = {name: np.zeros_like(p) for name, p in self.parameters.items()}
        self._second = {name: np.zeros_like(p) for name, p in self.parameters.items()}
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
        p = self.parameters
        self._net = net = SmallRNN(p["W_xh"], p["W_hh"], p["b_x"] + p["b_h"], p["W_hq"], p["b_q"])
        self._unrolled = seen = unroll(net, self._ids, self.targets)
        losses = -seen.log_probs[np.arange(len(self.word)), self.targets]  # (T,)
        state, symbol, written = np.zeros_like(net.b_h), self._ids[0], []
        for _ in self.word:
            state = np.tanh(net.W_xh[symbol] + state @ net.W_hh + net.b_h)  # (H,)
            logits = state @ net.W_hq + net.b_q  # (V,)
            symbol = 1 + int(logits[1:].argmax())  # <unk> is no character and is never written
            written.append(self.symbols[symbol])
        perplexity = math.exp(float(losses.mean()))
        self._snapshots.append(
            Snapshot(
                len(self._snapshots),
                seen.states[1:],
                np.exp(seen.log_probs),
                losses,
                perplexity,
                "".join(written),
            )
        )

    def gradients(self) -> Parameters:
        """∂(mean loss)/∂ each parameter."""
        seen = self._unrolled
        deltas = backwards(seen.slopes, seen.seeds, self._net.W_hh)  # (T, H)
        W_xh = np.zeros_like(self._net.W_xh)
        np.add.at(W_xh, np.array(self._ids), deltas)
        bias = deltas.sum(axis=0)
        return {
            "W_xh": W_xh,
            "W_hh": seen.states[:-1].T @ deltas,
            "b_x": bias,
            "b_h": bias,
            "W_hq": seen.states[1:].T @ seen.errors,
            "b_q": seen.errors.sum(axis=0),
        }

    def _train(self) -> None:
        """One step of AdamW (Loshchilov & Hutter 2019), without decay, gradients clipped to norm CLIP."""
        gradients, n = self.gradients(), len(self._snapshots)
        norm = math.sqrt(sum(float((g**2).sum()) for g in gradients.values()))
        scale = min(1.0, CLIP / (norm + 1e-6))
        rate = learning_rate(n - 1, self.steps)
        for name, parameter in self.parameters.items():
            g = gradients[name] * scale
            first, second = self._first[name], self._second[name]
            first += (1 - BETAS[0]) * (g - first)
            second += (1 - BETAS[1]) * (g**2 - second)
            unbiased = np.sqrt(second / (1 - BETAS[1] ** n))
            parameter -= rate / (1 - BETAS[0] ** n) * first / (unbiased + EPSILON)


def initial(symbols: int, hidden: int, seed: int) -> Parameters:
    """Weights uniform up to 1/√H, as torch draws them, by numpy's generator.

    >>> initial(symbols=4, hidden=16, seed=0)["W_hq"].shape
    (16, 4)
    """
    generator = np.random.default_rng(seed)
    shapes = {
        "W_xh": (symbols + 1, hidden),
        "W_hh": (hidden, hidden),
        "b_x": (hidden,),
        "b_h": (hidden,),
        "W_hq": (hidden, symbols),
        "b_q": (symbols,),
    }
    limit = 1 / math.sqrt(hidden)
    return {name: generator.uniform(-limit, limit, shape) for name, shape in shapes.items()}


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
def run(word: str = WORD, seed: int = 0) -> WordRun:
    """The run of a word and a seed, cached.

    >>> run("tea") is run("tea")
    True
    """
    return WordRun(word, seed)

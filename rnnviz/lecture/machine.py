"""One word all the way: a small network reads "machin", should say "achine", and learns from its errors.

    A_t = X_t W_xh + H_{t-1} W_hh + b_h    H_t = tanh(A_t)    O_t = H_t W_hq + b_q    P_t = softmax(O_t)
    ℓ_t = -log P_t[label_t]                L = (1/T) Σ_t ℓ_t

Then back: δ_t = ∂L/∂A_t, and ∂L/∂W_hh = Σ_t H_{t-1}ᵀ δ_t. Rows are (X,), (H,) and (V,): a batch of one.
Every weight has one decimal, so that what is shown is what is used. Shape letters: T steps, X inputs,
H units, V symbols; here X = V, as an input is a one-hot row.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from rnnviz.arrays import Doubles, Mask
from rnnviz.errors import ConfigError
from rnnviz.lecture.small import SmallRNN, unroll

WORD = "machine"
UNITS = 4
SEED = 2
NAMES = ("W_xh", "W_hh", "b_h", "W_hq", "b_q")
SYMBOLS = tuple(dict.fromkeys(WORD))  # in the order in which they appear


def numbers(text: str) -> list[int]:
    """The number of each character among SYMBOLS. Raises ConfigError for others.

    >>> numbers("mac")
    [0, 1, 2]
    """
    if foreign := set(text) - set(SYMBOLS):
        raise ConfigError(
            "only the letters of {word} can be read; received {text!r}, with {character!r}",
            word=WORD,
            text=text,
            character=min(foreign),
        )
    return [SYMBOLS.index(character) for character in text]


@dataclass(frozen=True)
class Forward:
    """All time steps, the first in row 0."""

    x: Doubles  # (T, X), one-hot
    before: Doubles  # (T, H), H_{t-1}; zeros at first
    from_input: Doubles  # (T, H), X_t W_xh
    from_state: Doubles  # (T, H), H_{t-1} W_hh
    pre_activation: Doubles  # (T, H), A_t
    state: Doubles  # (T, H), H_t
    output: Doubles  # (T, V), O_t
    probabilities: Doubles  # (T, V), P_t
    losses: Doubles  # (T,), ℓ_t, nats
    loss: float  # L, nats
    perplexity: float  # exp(L)


@dataclass(frozen=True)
class Backward:
    """What flows back, row t - 1 for step t. `state` adds up what ℓ_t asks and what step t + 1 hands back."""

    output: Doubles  # (T, V), ∂L/∂O_t
    from_loss: Doubles  # (T, H), ∂L/∂O_t W_hqᵀ
    from_next: Doubles  # (T, H), δ_{t+1} W_hhᵀ; zeros at t = T, and where the cut is
    state: Doubles  # (T, H), ∂L/∂H_t
    slope: Doubles  # (T, H), tanh'(A_t)
    delta: Doubles  # (T, H), ∂L/∂A_t
    terms: Doubles  # (T, H, H), H_{t-1}ᵀ δ_t: they add up to the gradient of W_hh
    gradients: dict[str, Doubles]  # by the weights' names, in their shapes; not clipped
    norm: float  # of all gradients together


class Machine:
    """The network of a seed and the first `steps` characters of a text, all but the last by default.

    Raises ConfigError for a text with other letters than WORD's, or if no label is left for a step.

    One that isn't `recurrent` has no W_hh: nothing goes from step to step, neither values nor gradients.

    >>> word = Machine(steps=3)
    >>> word.inputs, word.labels, word.net.W_xh.shape
    ('mac', 'ach', (7, 4))
    >>> np.allclose(word.backward().terms.sum(axis=0), word.backward().gradients["W_hh"])
    True
    """

    symbols = SYMBOLS

    def __init__(
        self, seed: int = SEED, *, steps: int | None = None, text: str = WORD, recurrent: bool = True
    ) -> None:
        steps = len(text) - 1 if steps is None else steps
        if not 1 <= steps < len(text):
            raise ConfigError(
                "{word} has 1 to {most} time steps; received {steps}",
                word=text,
                most=len(text) - 1,
                steps=steps,
            )
        self.seed, self.steps = seed, steps
        self.inputs, self.labels = text[:steps], text[1 : steps + 1]
        self.ids, self.targets = numbers(self.inputs), numbers(self.labels)
        drawn_net = drawn(seed, len(self.symbols))
        self.net = drawn_net if recurrent else replace(drawn_net, W_hh=np.zeros_like(drawn_net.W_hh))
        self.names = tuple(name for name in NAMES if recurrent or name != "W_hh")  # what can be trained

    @cached_property
    def forward(self) -> Forward:
        """Every number on the way to the loss."""
        net = self.net
        run = unroll(net, self.ids, self.targets)
        x, before = np.eye(len(net.W_xh))[self.ids], run.states[:-1]
        from_input, from_state = x @ net.W_xh, before @ net.W_hh
        losses = -run.log_probs[np.arange(self.steps), self.targets]
        return Forward(
            x=x,
            before=before,
            from_input=from_input,
            from_state=from_state,
            pre_activation=from_input + from_state + net.b_h,
            state=run.states[1:],
            output=run.states[1:] @ net.W_hq + net.b_q,
            probabilities=np.exp(run.log_probs),
            losses=losses,
            loss=run.loss,
            perplexity=float(np.exp(run.loss)),
        )

    def backward(self, cut: int | None = None) -> Backward:
        """The way back. With `cut`, nothing flows from step t + 1 to step t = T - cut: the last `cut` steps
        alone hear of each other, and those before are one more such piece (regular truncation).
        """
        self._valid(cut)
        net, T = self.net, self.steps
        run = unroll(net, self.ids, self.targets)
        from_next, state, delta = (np.zeros((T, len(net.b_h))) for _ in range(3))
        for t in reversed(range(T)):
            if t + 1 < T and (cut is None or (T - 1 - t) % cut):
                from_next[t] = delta[t + 1] @ net.W_hh.T
            state[t] = run.seeds[t] + from_next[t]
            delta[t] = state[t] * run.slopes[t]
        terms = run.states[:-1, :, None] * delta[:, None, :]  # (T, H, H)
        x = np.eye(len(net.W_xh))[self.ids]
        found = {
            "W_xh": x.T @ delta,
            "W_hh": terms.sum(axis=0),
            "b_h": delta.sum(axis=0),
            "W_hq": run.states[1:].T @ run.errors,
            "b_q": run.errors.sum(axis=0),
        }
        gradients = {name: found[name] for name in self.names}
        norm = float(np.sqrt(sum((g**2).sum() for g in gradients.values())))
        return Backward(run.errors, run.seeds, from_next, state, run.slopes, delta, terms, gradients, norm)

    def pairs(self) -> Doubles:
        """The part of ∂L/∂W_hh of each loss and each step: [t - 1, s - 1] is what ℓ_t asks of the W_hh that
        made H_s, (T, T, H, H). It is 0 where s > t, and at s = 1, as H_0 = 0. See `heard` for a cut.

        >>> word = Machine(steps=3)
        >>> np.allclose(word.pairs().sum(axis=(0, 1)), word.backward().gradients["W_hh"])
        True
        """
        net, T = self.net, self.steps
        run = unroll(net, self.ids, self.targets)
        found = np.zeros((T, T, *net.W_hh.shape))
        for t in range(T):
            delta = run.seeds[t] * run.slopes[t]  # (H,), ∂L/∂A_s by ℓ_t alone
            for s in range(t, -1, -1):
                found[t, s] = np.outer(run.states[s], delta)
                delta = (delta @ net.W_hh.T) * run.slopes[s - 1]
        return found

    def heard(self, cut: int | None = None) -> Mask:
        """Which of the `pairs` a `cut` leaves, (T, T): those with no cut between s and t.

        >>> Machine(steps=3).heard(cut=2).astype(int).tolist()
        [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
        """
        self._valid(cut)
        t = np.arange(self.steps)
        piece = (self.steps - 1 - t) // (cut or self.steps)
        found: Mask = (piece[:, None] == piece) & (t[:, None] >= t)
        return found

    def cached(self) -> dict[str, Doubles]:
        """What the way back reads of the way there, by name: all that must be kept of T steps, (T, …) each.

        >>> {name: array.shape for name, array in Machine(steps=3).cached().items()}
        {'X': (3, 7), 'H': (3, 4), 'slope': (3, 4), 'P': (3, 7)}
        """
        there, run = self.forward, unroll(self.net, self.ids, self.targets)
        return {"X": there.x, "H": there.state, "slope": run.slopes, "P": there.probabilities}

    def _valid(self, cut: int | None) -> None:
        if cut is not None and not 1 <= cut <= self.steps:
            raise ConfigError("a cut is after 1 to {steps} steps; received {cut}", steps=self.steps, cut=cut)


@lru_cache(maxsize=64)
def drawn(seed: int, symbols: int, units: int = UNITS) -> SmallRNN:
    """The weights of a seed, normal and rounded to one decimal.

    >>> drawn(2, symbols=7).W_hh.shape
    (4, 4)
    """
    generator = np.random.default_rng(seed)

    def draw(scale: float, *shape: int) -> Doubles:
        return np.round(scale * generator.standard_normal(shape), 1) + 0.0

    return SmallRNN(
        draw(0.9, symbols, units),
        draw(0.7, units, units),
        draw(0.3, units),
        draw(0.9, units, symbols),
        draw(0.3, symbols),
    )

"""What if the gate may not look at the state? A minGRU and a GRU, as small as can be, learn the same word.

    both     H_t = Z_t ⊙ H_{t-1} + (1 - Z_t) ⊙ H̃_t
    mingru   Z_t = σ(X_t W_xz + b_z)                     H̃_t = g(X_t W_xh + b_h)
    gru      Z_t = σ(X_t W_xz + H_{t-1} W_hz + b_z)      H̃_t = tanh(X_t W_xh + (R_t ⊙ H_{t-1}) W_hh + b_h)
             R_t = σ(X_t W_xr + H_{t-1} W_hr + b_r)

In the minGRU Z_t and H̃_t follow from the character alone, so each state is the one before it by a factor,
and a sum. Two such steps are one such step: `rounds` joins all of them in log2 T rounds. And what a state
still has of each character is known exactly (`Read.shares`). A GRU has neither.

Trained as `rnnviz.lecture.word` trains its network, in numpy, on a word's next characters; then every weight
is rounded to two decimals, so that what is shown is what is used. Shape letters: T steps, H units, V symbols,
which are the inputs too.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.gradients.remaining import Remaining
from rnnviz.lecture.machine import SEED, UNITS
from rnnviz.lecture.word import LONGEST, STEPS, Adam, Parameters
from rnnviz.networks import cells
from rnnviz.networks.numpy_engine import Numpy

Cell = Literal["mingru", "gru"]
CELLS: tuple[Cell, Cell] = ("mingru", "gru")
SHAPES = {
    "W_xz": "VH", "b_z": "H", "W_xh": "VH", "b_h": "H", "W_hq": "HV", "b_q": "V",
    "W_hz": "HH", "W_xr": "VH", "W_hr": "HH", "b_r": "H", "W_hh": "HH",
}  # fmt: skip
"""Of each parameter; those that look at the state come last, and a minGRU has none of them."""

SEEN = 6
"""How many of SHAPES a minGRU has."""


@dataclass(frozen=True, eq=False)
class Read:
    """A network after each of the T characters of a text, in row t - 1 after t of them."""

    before: Doubles  # (T, H), H_{t-1}; zeros at first
    reset: Doubles  # (T, H), R_t; ones in a minGRU, which has none
    keep: Doubles  # (T, H), Z_t
    candidate: Doubles  # (T, H), H̃_t
    state: Doubles  # (T, H), H_t
    probabilities: Doubles  # (T, V), of the next character

    @property
    def write(self) -> Doubles:
        """(T, H) what a step adds to the state, (1 - Z_t) ⊙ H̃_t."""
        return np.asarray((1 - self.keep) * self.candidate)

    def perplexity(self, targets: list[int]) -> float:
        """That of the labels `targets` (T,), places among the symbols."""
        right = self.probabilities[np.arange(len(targets)), targets]
        return float(np.exp(-np.log(right).mean()))

    def shares(self, t: int) -> Doubles:
        """(t,) how a minGRU's H_t is shared out among the characters read so far, with sum 1: by the sum of
        absolute values over units, as `rnnviz.gradients.remaining` has it. From 1 to T, else ConfigError.

        >>> round(float(read(*network("mingru", "tea")).shares(2).sum()), 6)
        1.0
        """
        if not 1 <= t <= len(self.keep):
            raise ConfigError("step is 1 to {T}; received {t}", T=len(self.keep), t=t)
        zeros = np.zeros((1, self.keep.shape[1]))  # H_0: no start symbol here
        found = Remaining("", 0, np.vstack([zeros, self.keep[:t]]), np.vstack([zeros, self.write[:t]]))
        return found.shares()[t, 1:]


def drawn(cell: Cell, symbols: int, seed: int = SEED) -> Parameters:
    """The weights of a seed, normal and rounded to one decimal; both cells begin with the same ones.

    >>> sorted(drawn("mingru", symbols=4)), drawn("gru", symbols=4)["W_hz"].shape
    (['W_hq', 'W_xh', 'W_xz', 'b_h', 'b_q', 'b_z'], (4, 4))
    """
    generator, sizes = np.random.default_rng(seed), {"V": symbols, "H": UNITS}
    names = list(SHAPES)[: SEEN if cell == "mingru" else None]
    return {
        name: np.round(0.7 * generator.standard_normal([sizes[n] for n in SHAPES[name]]), 1) + 0.0
        for name in names
    }


def read(cell: Cell, p: Parameters, ids: list[int]) -> Read:
    """A network of `drawn`'s kind after each of `ids` (T,), from zeros on.

    >>> read("gru", drawn("gru", 3), [0, 1, 0]).state.shape
    (3, 4)
    """
    T = len(ids)
    update, from_input = p["W_xz"][ids] + p["b_z"], p["W_xh"][ids] + p["b_h"]  # (T, H)
    states = np.zeros((T + 1, UNITS))
    reset = np.ones((T, UNITS))
    if cell == "mingru":
        parts = cells.mingru(Numpy(), np.stack([update, from_input]))
        keep, candidate = parts["update"], parts["candidate"]
        for t in range(T):
            states[t + 1] = keep[t] * states[t] + (1 - keep[t]) * candidate[t]
    else:
        keep, candidate = np.empty_like(update), np.empty_like(update)
        seen = np.concatenate([update, p["W_xr"][ids] + p["b_r"]], axis=1)
        W = np.concatenate([p["W_hz"], p["W_hr"]], axis=1)
        for t, h in enumerate(states[:-1]):
            gates = 1 / (1 + np.exp(-(seen[t] + h @ W)))
            z, reset[t] = gates[:UNITS], gates[UNITS:]
            keep[t], candidate[t] = z, np.tanh(from_input[t] + (reset[t] * h) @ p["W_hh"])
            states[t + 1] = z * h + (1 - z) * candidate[t]
    scores = states[1:] @ p["W_hq"] + p["b_q"]
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    P = odds / odds.sum(axis=1, keepdims=True)
    return Read(states[:-1], reset, keep, candidate, states[1:], P)


def gradients(cell: Cell, p: Parameters, ids: list[int], targets: list[int]) -> Parameters:
    """∂L/∂ each parameter, of the mean loss of the labels `targets` (T,)."""
    run, T = read(cell, p, ids), len(ids)
    errors = run.probabilities.copy()  # (T, V), ∂L/∂O
    errors[np.arange(T), targets] -= 1
    errors /= T
    seeds, carry = errors @ p["W_hq"].T, np.zeros(UNITS)
    looks = cell == "gru"
    bent = (
        1 - run.candidate**2
        if looks
        else np.where(run.candidate < 0.5, run.candidate * (1 - run.candidate), 1.0)
    )
    through, asks = run.keep * (1 - run.keep) * (run.before - run.candidate), (1 - run.keep) * bent
    opened = run.reset * (1 - run.reset) * run.before
    d_z, d_h, d_r = (np.zeros((T, UNITS)) for _ in range(3))
    for t in reversed(range(T)):
        state = seeds[t] + carry
        d_z[t], d_h[t] = state * through[t], state * asks[t]
        carry = state * run.keep[t]  # all there is of the way back, where no gate looks at the state
        if looks:
            back = d_h[t] @ p["W_hh"].T
            d_r[t] = back * opened[t]
            carry += back * run.reset[t] + d_z[t] @ p["W_hz"].T + d_r[t] @ p["W_hr"].T
    x, h = np.eye(len(p["b_q"]))[ids].T, run.before.T
    found = {
        "W_xz": x @ d_z, "b_z": d_z.sum(0), "W_xh": x @ d_h, "b_h": d_h.sum(0),
        "W_hq": run.state.T @ errors, "b_q": errors.sum(0),
    }  # fmt: skip
    if not looks:
        return found
    state = {"W_hz": h @ d_z, "W_hr": h @ d_r, "W_hh": (run.reset * run.before).T @ d_h}
    return {**found, **state, "W_xr": x @ d_r, "b_r": d_r.sum(0)}


def spelled(word: str) -> tuple[list[str], list[int], list[int]]:
    """A word's symbols, the places of its inputs among them, and of its labels. ConfigError unless it has 3
    to LONGEST characters.

    >>> spelled("tea")
    (['t', 'e', 'a'], [0, 1], [1, 2])
    """
    if not 3 <= len(word) <= LONGEST:
        raise ConfigError(
            "a word of 3 to {longest} characters is wanted; received {count:,}",
            longest=LONGEST,
            count=len(word),
        )
    symbols = list(dict.fromkeys(word))
    ids = [symbols.index(character) for character in word]
    return symbols, ids[:-1], ids[1:]


@lru_cache(maxsize=64)
def network(
    cell: Cell, word: str, *, steps: int = STEPS, seed: int = SEED
) -> tuple[Cell, Parameters, list[int]]:
    """What `read` takes: a cell that learned `word` in `steps` training steps, its weights rounded to two
    decimals, and the word's inputs. Cached, not to be changed. Raises ConfigError as `spelled` does.

    >>> cell, p, ids = network("gru", "tea")
    >>> round(read(cell, p, ids).perplexity(spelled("tea")[2]), 1)
    1.0
    """
    symbols, ids, targets = spelled(word)
    p = drawn(cell, len(symbols), seed)
    adam = Adam(p, steps)
    for _ in range(steps):
        p = adam.step(p, gradients(cell, p, ids, targets))
    return cell, {name: np.round(values, 2) + 0.0 for name, values in p.items()}, ids


def rounds(keep: npt.ArrayLike, write: npt.ArrayLike) -> list[tuple[Doubles, Doubles]]:
    """All states of H_t = `keep`_t ⊙ H_{t-1} + `write`_t, (T, …) each, from zeros on, all steps at once.

    In round n each step is joined with the one 2^(n-1) before it, all of them at once: a joined step has the
    product of both factors, and as its addend what the earlier one wrote times the later one's factor, plus
    what that wrote (Hillis & Steele 1986, "Data parallel algorithms"). `torch_engine.scan` needs twice as
    many rounds, and half the work. Returns the factors and addends after each round, those before the first
    at [0]; the last addends are the states.

    >>> found = rounds([0.5] * 4, [1.0] * 4)
    >>> len(found) - 1, found[-1][1].tolist()
    (2, [1.0, 1.5, 1.75, 1.875])
    """
    A, B = np.asarray(keep, np.float64), np.asarray(write, np.float64)
    if A.shape != B.shape or not A.size:
        raise ConfigError(
            "a factor and an addend are wanted for each step; received {keep} and {write}",
            keep=A.shape,
            write=B.shape,
        )
    found, apart = [(A, B)], 1
    while apart < len(A):
        B = np.concatenate([B[:apart], A[apart:] * B[:-apart] + B[apart:]])
        A = np.concatenate([A[:apart], A[apart:] * A[:-apart]])
        found.append((A, B))
        apart *= 2
    return found

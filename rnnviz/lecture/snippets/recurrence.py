"""Scene 3's cells: the loop over time, on numbers that fit on a screen and in a real network."""

from collections.abc import Sequence

import numpy as np

from rnnviz.gradients.small import SmallRNN
from rnnviz.lecture.machine import WORD, numbers
from rnnviz.lecture.recurrence import Recurrence, walk
from rnnviz.lecture.snippets.cell import Cell, cell, literal, tensor

_NUMBERS = """
import torch

torch.set_printoptions(2, sci_mode=False)
W_xh = $W_xh
W_hh = $W_hh
b_h = $b_h
symbols = $symbols
"""


def loop(net: SmallRNN, text: str) -> Cell:
    """The state after each character of `text`: the same two matrices and bias at every step.

    >>> from rnnviz.lecture.machine import Machine
    >>> loop(Machine().net, "ma").printed.splitlines()[0][:9]
    'm tensor('
    """
    code = (
        _NUMBERS
        + """
H = torch.zeros(len(b_h))  # H_0
for x in $text:
    X = W_xh[symbols.index(x)]  # picks a row
    H = torch.tanh(X + H @ W_hh + b_h)
    print(x, H)
"""
    )
    return cell(code, _states(net, text), **_written(net), text=repr(text))


def joined(net: SmallRNN, text: str) -> Cell:
    """The same, each step in the two parts of the figure: concatenate, then one layer with φ."""
    code = (
        _NUMBERS
        + """
W = torch.cat((W_xh, W_hh))  # (7 + 4, 4)

def step(x, H):
    X = torch.zeros(len(symbols))
    X[symbols.index(x)] = 1
    return torch.tanh(torch.cat((X, H)) @ W + b_h)

H = torch.zeros(len(b_h))
for x in $text:
    H = step(x, H)
    print(x, H)
"""
    )
    return cell(code, _states(net, text), **_written(net), text=repr(text))


def rows(net: SmallRNN, texts: Sequence[str]) -> Cell:
    """Sequences side by side, a row each: the state after their last characters."""
    steps = walk(net, *map(numbers, texts))
    code = (
        _NUMBERS
        + """
texts = $texts
H = torch.zeros(len(texts), len(b_h))
for column in zip(*texts):
    ids = [symbols.index(x) for x in column]
    H = torch.tanh(W_xh[ids] + H @ W_hh + b_h)

print(tuple(H.shape))
print(H)
"""
    )
    printed = [str(steps.state[-1].shape), *tensor(steps.state[-1])]
    return cell(code, printed, **_written(net), texts=repr(list(texts)))


def sizes(net: SmallRNN) -> Cell:
    """The numbers that a network stores, for any number of time steps.

    >>> from rnnviz.lecture.machine import Machine
    >>> print(sizes(Machine().net).printed, end="")
    83 parameters
    T = 1: a table has 7 rows
    T = 3: a table has 343 rows
    T = 6: a table has 117,649 rows
    """
    d, (h, q) = len(net.W_xh), net.W_hq.shape
    code = """
        d, h, q = $d, $h, $q

        W_xh, W_hh, b_h = d * h, h * h, h
        W_hq, b_q = h * q, q
        total = W_xh + W_hh + b_h + W_hq + b_q
        print(total, "parameters")

        for T in (1, 3, 6):
            print(f"T = {T}: a table has {d**T:,} rows")
    """
    printed = [f"{d * h + h * h + h + h * q + q} parameters"]
    printed += [f"T = {T}: a table has {d**T:,} rows" for T in (1, 3, 6)]
    return cell(code, printed, d=d, h=h, q=q)


def _states(net: SmallRNN, text: str) -> list[str]:
    states = walk(net, numbers(text)).state[:, 0]
    return [f"{x} {tensor(state)[0]}" for x, state in zip(text, states, strict=True)]


def _written(net: SmallRNN) -> dict[str, str]:
    weights = {name: literal(getattr(net, name)) for name in ("W_xh", "W_hh", "b_h")}
    return {**weights, "symbols": repr(WORD)}


def unit(model_name: str, seen: Recurrence, text: str, t: int, unit: int) -> Cell:
    """One unit of a real network: input, state before and bias add up, then tanh."""
    parts = seen.parts(t, unit)
    code = """
        import torch
        import rnnviz

        model = rnnviz.load("$model")
        layer = model.recurrence
        text, t, j = $text, $t, $unit

        words = model.vocabulary
        ids = [words.start, *words.encode(text)]
        X = model.embedding.weight[ids]  # (T + 1, d)
        H, _ = layer(X)  # (T + 1, h), H_0 first

        w_xj = layer.weight_ih_l0[j]  # column j of W_xh
        w_hj = layer.weight_hh_l0[j]  # column j of W_hh
        b_j = layer.bias_ih_l0[j] + layer.bias_hh_l0[j]
        total = X[t] @ w_xj + H[t - 1] @ w_hj + b_j

        print(f"sum {total:.2f}")
        print(f"tanh {torch.tanh(total):.2f}")
    """
    total = parts.pre_activation
    printed = [f"sum {total:.2f}", f"tanh {np.tanh(total):.2f}"]
    return cell(code, printed, model=model_name, text=repr(text), t=t, unit=unit)

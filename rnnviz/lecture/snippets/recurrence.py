"""Scene 3's cells: the loop over time, on numbers that fit on a screen and in a real network."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rnnviz.lecture.recurrence import Recurrence
from rnnviz.lecture.snippets.cell import Cell, cell, literal, tensor

Doubles = npt.NDArray[np.float64]


def loop(symbols: str, text: str, W_xh: Doubles, W_hh: Doubles, b_h: Doubles) -> Cell:
    """The state after each character of `text`: the same two matrices and bias at every step.

    >>> zero = np.zeros((2, 2))
    >>> print(loop("ab", "aa", np.ones((2, 2)), zero, zero[0]).printed, end="")
    a tensor([0.76, 0.76])
    a tensor([0.76, 0.76])
    """
    code = """
        import torch

        torch.set_printoptions(2, sci_mode=False)
        W_xh = $W_xh
        W_hh = $W_hh
        b_h = $b_h

        H = torch.zeros($units)  # H_0
        for x in $text:
            X = W_xh[$symbols.index(x)]
            H = torch.tanh(X + H @ W_hh + b_h)
            print(x, H)
    """
    state, printed = np.zeros(len(b_h)), []
    for x in text:
        state = np.tanh(W_xh[symbols.index(x)] + state @ W_hh + b_h)
        printed.append(f"{x} {tensor(state)[0]}")
    matrices = {"W_xh": literal(W_xh), "W_hh": literal(W_hh), "b_h": literal(b_h)}
    return cell(code, printed, **matrices, units=len(b_h), text=repr(text), symbols=repr(symbols))


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

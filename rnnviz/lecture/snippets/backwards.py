"""Scene 7's cells: backward by autograd, clipping, a cut by detach, and cuts at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rnnviz.gradients import clip
from rnnviz.lecture import backwards
from rnnviz.lecture.machine import Machine
from rnnviz.lecture.snippets.cell import Cell, cell, tensor
from rnnviz.lecture.snippets.word import FORWARD, written
from rnnviz.networks.numpy_model import NumpyModel


def through_time(machine: Machine) -> Cell:
    """∂L/∂W_hh of the small network, by autograd.

    >>> len(through_time(Machine(steps=2)).printed.splitlines())
    5
    """
    back = machine.backward()
    code = (
        _with_gradients()
        + """
cross_entropy(O, labels).backward()
print(W_hh.grad)

g = torch.stack([w.grad.norm() for w in weights])
print(f"norm {g.norm():.2f}")
"""
    )
    return cell(code, [*tensor(back.gradients["W_hh"]), f"norm {back.norm:.2f}"], **written(machine))


def shortened(machine: Machine, threshold: float) -> Cell:
    """All gradients of the small network clipped together."""
    clipped, norm = machine.clipped(threshold), machine.backward().norm
    code = (
        _with_gradients()
        + """
from torch.nn.utils import clip_grad_norm_

cross_entropy(O, labels).backward()
norm = clip_grad_norm_(weights, $threshold)
print(f"norm {norm:.2f}")
print(W_hh.grad)
"""
    )
    printed = [f"norm {norm:.2f}", *tensor(clipped["W_hh"])]
    return cell(code, printed, threshold=threshold, **written(machine))


def detached(machine: Machine, cut: int) -> Cell:
    """∂L/∂W_hh where the state is detached every `cut` steps, counted from the end."""
    code = (
        _with_gradients(cut=True)
        + """
cross_entropy(O, labels).backward()
print(W_hh.grad)
"""
    )
    return cell(code, tensor(machine.backward(cut).gradients["W_hh"]), cut=cut, **written(machine))


_LEAVES = """
weights = [W_xh, W_hh, b_h, W_hq, b_q]
for w in weights:
    w.requires_grad_()
"""
_LOOP = """
for t, x in enumerate(ids[:-1]):
    if (len(labels) - t) % $cut == 0:
        H = H.detach()
"""


def _with_gradients(*, cut: bool = False) -> str:
    """FORWARD with gradients, and with a cut in its loop."""
    numbers, reading = FORWARD.split("\nsymbols, text", 1)
    if cut:
        reading = reading.replace("\nfor x in ids[:-1]:\n", _LOOP)
    return f"{numbers}{_LEAVES}\nsymbols, text{reading}"


def flow(models: Sequence[NumpyModel], text: str, factors: Sequence[float]) -> Cell:
    """How much of the last loss's gradient arrives at the first state, `factors` as the page has them."""
    code = """
        import rnnviz

        text = $text
        for cell in $cells:
            model = rnnviz.load(f"timemachine-{cell}")
            found = rnnviz.state_gradients(
                model, text, at=len(text) - 1
            )
            norm = found.hidden[:-1, 0]
            print(cell, f"{norm[-1] / norm[0]:.1e}")
    """
    cells = tuple(model.config.cell for model in models)
    printed = [f"{name} {factor:.1e}" for name, factor in zip(cells, factors, strict=True)]
    return cell(code, printed, text=repr(text), cells=cells)


def power(radius: float, seed: int, k: int) -> Cell:
    """The k-th power of a matrix of spectral radius ρ: its norm beside ρ^k.

    >>> print(power(0.9, seed=1, k=40).printed.splitlines()[0])
    rho 0.90
    """
    dial = backwards.dial(radius, seed)
    code = """
        import numpy as np
        import torch

        rng = np.random.default_rng($seed)
        W = rng.standard_normal(($units, $units))
        W = torch.tensor(W)
        W *= $radius / torch.linalg.eigvals(W).abs().max()

        k = $k
        W_k = torch.linalg.matrix_power(W, k)
        rho = torch.linalg.eigvals(W).abs().max()
        norm = torch.linalg.matrix_norm(W_k, ord=2)
        print(f"rho {rho:.2f}")
        print(f"|W^k| {norm:.1e}  rho^k {rho**k:.1e}")
    """
    norm = float(np.linalg.norm(np.linalg.matrix_power(dial.matrix, k), 2))
    printed = [f"rho {radius:.2f}", f"|W^k| {norm:.1e}  rho^k {radius**k:.1e}"]
    return cell(code, printed, seed=seed, units=backwards.UNITS, radius=radius, k=k)


def arrow(gradient: Sequence[float], threshold: float) -> Cell:
    """One gradient of two numbers, clipped.

    >>> print(arrow([3.0, 4.0], 1.0).printed, end="")
    norm 5.00
    tensor([0.60, 0.80])
    """
    code = """
        import torch

        torch.set_printoptions(2, sci_mode=False)
        w = torch.zeros(2, requires_grad=True)
        g = torch.tensor($gradient)
        (g @ w).backward()  # its gradient is g

        norm = torch.nn.utils.clip_grad_norm_(w, $threshold)
        print(f"norm {norm:.2f}")
        print(w.grad)
    """
    found = clip(np.array(gradient), threshold)
    given = [float(f"{v:.6g}") for v in gradient]
    printed = [f"norm {np.linalg.norm(gradient):.2f}", *tensor(found.gradient)]
    return cell(code, printed, gradient=given, threshold=threshold)


_CHAIN = """
import numpy as np
import torch

T = $steps
rng = np.random.default_rng($seed)
xs = torch.tensor(0.3 * rng.standard_normal(T))
"""
_CUT = """
def gradient(cut):  # through the last steps
    w = torch.tensor($w, requires_grad=True)
    h = torch.tensor(0.0)
    for t, x in enumerate(xs):
        if t == T - cut:
            h = h.detach()
        h = torch.tanh(x + w * h)
    h.backward()
    return w.grad
"""


def cut(seed: int, steps: int) -> Cell:
    """The chain's gradient in full and through its last steps alone.

    >>> print(cut(seed=1, steps=12).printed.splitlines()[0][:5])
    full
    """
    chain = backwards.chain(backwards.WEIGHT, seed)
    code = (
        _CHAIN
        + _CUT
        + """
print(f"full  {gradient(T):.3f}")
print(f"cut   {gradient($cut):.3f}")
"""
    )
    printed = [f"full  {chain.gradient:.3f}", f"cut   {chain.truncated(steps):.3f}"]
    return cell(code, printed, steps=backwards.STEPS, seed=seed, w=chain.w, cut=steps)


def random(seed: int, keep: float, draw: int, draws: int) -> Cell:
    """The mean of many gradients, each cut at random and weighed by 1/π at each step that it went."""
    chain = backwards.chain(backwards.WEIGHT, seed)
    estimates = backwards.random_truncation(chain, keep, draws, draw)
    code = (
        _CHAIN
        + _CUT
        + """
g = [gradient(k) for k in range(1, T + 1)]
g = torch.stack([torch.tensor(0.0), *g])
terms = g.diff()  # by lag

pi, draws = $keep, $draws
rng = np.random.default_rng($draw)
on = torch.tensor(rng.random((draws, T - 1)) < pi)
weights = (on / pi).cumprod(dim=1)  # 1/pi a step
z = terms[0] + weights.float() @ terms[1:]

print(f"full  {gradient(T):.3f}")
print(f"mean  {z.mean():.3f} of {draws:,} draws")
"""
    )
    printed = [f"full  {chain.gradient:.3f}", f"mean  {estimates.mean():.3f} of {draws:,} draws"]
    return cell(code, printed, steps=backwards.STEPS, seed=seed, w=chain.w, keep=keep, draws=draws, draw=draw)

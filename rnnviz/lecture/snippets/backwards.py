"""Scene 7's cells: backward by autograd, clipping, a cut by detach, and cuts at random."""

import math
from collections.abc import Sequence

import numpy as np

from rnnviz.lecture import backwards
from rnnviz.lecture.machine import Machine
from rnnviz.lecture.snippets.cell import Cell, cell, tensor
from rnnviz.lecture.snippets.word import FORWARD, written
from rnnviz.networks.numpy_model import NumpyModel


def through_time(machine: Machine) -> Cell:
    """∂L/∂W_hh of the small network by autograd; without a state ∂L/∂W_xh.

    >>> len(through_time(Machine(steps=2)).printed.splitlines())
    5
    """
    back, name = machine.backward(), "W_hh" if "W_hh" in machine.names else "W_xh"
    code = (
        _with_gradients(recurrent="W_hh" in machine.names)
        + """
cross_entropy(O, labels).backward()
print($name.grad + 0)  # for -0

g = torch.stack([w.grad.norm() for w in weights])
print(f"norm {g.norm():.2f}")
"""
    )
    printed = [*tensor(back.gradients[name]), f"norm {back.norm:.2f}"]
    return cell(code, printed, name=name, **written(machine))


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
print(W_hh.grad + 0)  # for -0
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
print(W_hh.grad + 0)  # for -0
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


def _with_gradients(*, cut: bool = False, recurrent: bool = True) -> str:
    """FORWARD with gradients, and with a cut in its loop; without W_hh if it isn't `recurrent`."""
    numbers, reading = FORWARD.split("\nsymbols, text", 1)
    if cut:
        reading = reading.replace("\nfor x in ids[:-1]:\n", _LOOP)
    code = f"{numbers}{_LEAVES}\nsymbols, text{reading}"
    if not recurrent:
        for part in ("W_hh = $W_hh\n", " + H @ W_hh", "W_hh, "):
            code = code.replace(part, "")
    return code


def flow(models: Sequence[NumpyModel], text: str, factors: Sequence[float]) -> Cell:
    """How much of the last loss's gradient arrives at the first state, `factors` as the page has them."""
    code = """
        import numpy as np
        import rnnviz

        text = $text
        for cell in $cells:
            model = rnnviz.load(f"timemachine-{cell}")
            found = rnnviz.state_gradients(
                model, text, at=len(text) - 1
            )
            norm = found.hidden[:-1, 0]
            if found.cell is not None:  # H with C
                norm = np.hypot(norm, found.cell[:-1, 0])
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


def gates(k: int) -> Cell:
    """What is left after `k` steps that multiply by a gate alone: one that begins at σ(1), one open for k.

    >>> print(gates(40).printed, end="")
    gate 0.73: 3.6e-06 left
    gate 0.98: 3.8e-01 left
    """
    code = """
        import torch

        k = $k
        usual = torch.tensor(1.0)  # the gate's bias
        open_for_k = torch.tensor(k + 1.0).log()
        for bias in (usual, open_for_k):
            gate = torch.sigmoid(bias)
            left = gate**k  # one factor a step, no W_hh
            print(f"gate {gate:.2f}: {left:.1e} left")
    """
    begun = [1 / (1 + math.exp(-1.0)), (k + 1) / (k + 2)]
    printed = [f"gate {gate:.2f}: {gate**k:.1e} left" for gate in begun]
    return cell(code, printed, k=k)


_CHAIN = """
import numpy as np
import torch

T = $steps
rng = np.random.default_rng($seed)
xs = torch.tensor(0.3 * rng.standard_normal(T))

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


def random(seed: int, keep: float, draw: int, draws: int, cut: int) -> Cell:
    """The mean of many gradients, each cut at random and weighed by 1/π at each step that it went.

    >>> print(random(seed=1, keep=0.7, draw=1, draws=10_000, cut=4).printed.splitlines()[0][:5])
    full
    """
    chain = backwards.chain(backwards.WEIGHT, seed)
    estimates = backwards.random_truncation(chain, keep, draws, draw)
    code = (
        _CHAIN
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
print(f"cut   {gradient($cut):.3f}")
print(f"mean  {z.mean():.3f} of {draws:,} draws")
"""
    )
    printed = [
        f"full  {chain.gradient:.3f}",
        f"cut   {chain.truncated(cut):.3f}",
        f"mean  {estimates.mean():.3f} of {draws:,} draws",
    ]
    chosen = {"seed": seed, "keep": keep, "draw": draw, "draws": draws, "cut": cut}
    return cell(code, printed, steps=backwards.STEPS, w=chain.w, **chosen)

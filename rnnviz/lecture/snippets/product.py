"""Scene 4's cells: two products added, and one product of what is put together."""

from rnnviz.lecture.machine import Machine
from rnnviz.lecture.product import Factors
from rnnviz.lecture.snippets.cell import Cell, cell, literal, tensor

_FACTORS = """
import torch

torch.set_printoptions(4, sci_mode=False)
X = $X
W_xh = $W_xh
H = $H
W_hh = $W_hh
"""
_TWO = """
print(X @ W_xh + H @ W_hh)
"""
_JOINED = """
XH = torch.cat((X, H), dim=1)
W = torch.cat((W_xh, W_hh), dim=0)
print(tuple(XH.shape), tuple(W.shape))
"""
_ONE = """
one = X @ W_xh + H @ W_hh
other = XH @ W
print(other)
print(torch.allclose(one, other, atol=1e-6))
"""


def two(factors: Factors) -> Cell:
    """The sum of the two products.

    >>> len(two(Factors.drawn(1)).printed.splitlines())
    3
    """
    return cell(_FACTORS + _TWO, tensor(factors.sum_of_products(), 4), **_written(factors))


def joined(factors: Factors) -> Cell:
    """[X, H] beside each other, and [W_xh; W_hh] one above the other.

    >>> joined(Factors.drawn(1)).printed
    '(3, 5) (5, 4)\\n'
    """
    return cell(_FACTORS + _JOINED, [_shapes(factors)], **_written(factors))


def one(factors: Factors) -> Cell:
    """The one product, and that it is the sum.

    >>> one(Factors.drawn(1)).printed.splitlines()[-1]
    'True'
    """
    printed = [_shapes(factors), *tensor(factors.product_of_concatenations(), 4), "True"]
    return cell(_FACTORS + _JOINED + _ONE, printed, **_written(factors))


def step(machine: Machine, t: int) -> Cell:
    """Step `t` of the word's network, in one product.

    >>> step(Machine(), 1).printed.splitlines()[0]
    '(1, 11) (11, 4)'
    """
    factors, net = Factors.of_word(t, machine), machine.net
    code = (
        _FACTORS.replace("(4, sci", "(2, sci")
        + "b_h = $b_h\n"
        + _JOINED
        + "print(torch.tanh(XH @ W + b_h))\n"
    )
    state = machine.forward.state[t - 1 : t]
    written = _written(factors) | {"H": literal(factors.H.round(4)), "b_h": literal(net.b_h)}
    return cell(code, [_shapes(factors), *tensor(state)], **written)


def _shapes(factors: Factors) -> str:
    return f"{factors.joined_inputs.shape} {factors.joined_weights.shape}"


def _written(factors: Factors) -> dict[str, str]:
    return {name: literal(getattr(factors, name)) for name in ("X", "W_xh", "H", "W_hh")}

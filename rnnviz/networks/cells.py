"""The cells: one time step of each recurrence, written once.

    mlp    H_t = φ(X_t W_xh + b_h)                                 no hidden state: sees only X_t
    rnn    H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h)                  Elman 1990
    gru    R_t, Z_t gates; H_t = Z_t ⊙ H_{t-1} + (1 - Z_t) ⊙ H̃_t   Cho et al. 2014
    lstm   I_t, F_t, O_t gates; C_t = F_t ⊙ C_{t-1} + I_t ⊙ C̃_t    Hochreiter & Schmidhuber 1997
           H_t = O_t ⊙ tanh(C_t)
    mingru Z_t a gate; H_t = Z_t ⊙ H_{t-1} + (1 - Z_t) ⊙ H̃_t      Feng et al. 2024, arXiv:2410.01201
           Z_t and H̃_t look at X_t alone: a linear recurrence, H_t = A_t ⊙ H_{t-1} + B_t

A cell is a function of an array namespace `xp` and of arrays; products with matrices are the engine's:

    x      (G, …, H)  X_t W_x + b by block; blocks first: they unpack by name, and one call serves several
    u      (G, …, H)  H_{t-1} W_h by block, with a GRU's second bias; None where there is no W_h
    h, c   (…, H)     H_{t-1}, and an LSTM's C_{t-1}

A cell returns the new state, `h` and `c`, and its other parts by name. A linear cell looks at x alone and
returns `keep` and `write`, A_t and B_t: a block of steps is computed at once. Beside + - and *, `xp` offers:

    sigmoid, tanh   elementwise
    phi             the activation of mlp and rnn: tanh or relu
    rest(z)         1 - z; slopes keep its digits where z is almost 1
    positive(a)     a + 1/2 from 0 on, σ(a) below: above 0, as the minGRU's paper has its candidate
    state(name, s)  s, a second state: an intervention changes it here, before what follows is computed

A cell is straight-line code: the numpy engine notes its calls once and replays them; slopes come from dual
numbers through it, gradients from autograd. A new cell is one function here, and its formulas once more in
the tests: see docs/cells.md.

All products with the state come first, `u`: no formula multiplies a matrix with something that the same step
has made. So a textbook GRU, which resets the state before the product with W_hh, is none of these cells. This
one resets after it, as torch's and cuDNN's do: one product serves all three blocks. No choice of parameters
makes the two equal.

Shape letters: G blocks of weights, H units, … any leading dimensions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rnnviz.i18n import N_

Parts = dict[str, Any]
"""The result of a step: the state, and its other parts by name, (…, H) each."""


@dataclass(frozen=True)
class CellKind:
    """A recurrence: its step, and how its weights and its state are made up.

    label     its name on a page
    step      (xp, x, u, h[, c]) -> Parts; of a linear cell (xp, x) -> Parts with keep and write
    blocks    the parts that have weights, in the order of x and u
    summary   the cell in a few words, with its name, where one is chosen to train; empty: the label alone
    stored    where each block stands in torch's tensors
    has_cell  whether there is a cell state C beside H
    gates     the parts that pages show: numbers from 0 to 1, and last the candidate
    keeps     the gate that multiplies a unit's previous value, or None
    mixes     whether a matrix W_hh carries the state on
    linear    whether the gates see X_t alone
    own_bias  whether the last block keeps torch's second bias beside its product with the state
    span      the range of the states: their activation's, or "positive"
    """

    label: str
    step: Callable[..., Parts] = dict
    blocks: tuple[str, ...] = ("hidden",)
    summary: str = ""
    stored: tuple[int, ...] = (0,)
    has_cell: bool = False
    keeps: str | None = None
    mixes: bool = True
    linear: bool = False
    own_bias: bool = False
    span: Literal["activation", "positive"] = "activation"

    @property
    def gates(self) -> tuple[str, ...]:
        """The names of all blocks; none where there is one block alone."""
        return self.blocks if len(self.blocks) > 1 else ()

    @property
    def faster_in_torch(self) -> bool:
        """Whether torch reads long texts faster than numpy on a processor: its LSTM layer is 1.5 times as
        fast, and it computes all steps of a linear cell at once.
        """
        return self.has_cell or self.linear

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities of such a network by name, the hidden state first."""
        return ("hidden", *(("cell",) if self.has_cell else ()), *self.gates)


CELLS: dict[str, CellKind] = {}
"""The cells that a model may have, by name."""


def cell(
    label: str, blocks: tuple[str, ...] = ("hidden",), **kind: Any
) -> Callable[..., Callable[..., Parts]]:
    """Register a step under its function's name; arguments as `CellKind` has them."""

    def add(step: Callable[..., Parts]) -> Callable[..., Parts]:
        kind.setdefault("stored", tuple(range(len(blocks))))
        CELLS[step.__name__] = CellKind(label, step, blocks, **kind)
        return step

    return add


@cell("MLP", summary=N_("MLP: no hidden state"), mixes=False)
def mlp(xp: Any, x: Any, u: None, h: None) -> Parts:
    """H_t = φ(X_t W_xh + b_h)."""
    return {"h": xp.phi(x[0])}


@cell("RNN", summary=N_("RNN: the simple recurrence"))
def rnn(xp: Any, x: Any, u: Any, h: Any) -> Parts:
    """H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h)."""
    return {"h": xp.phi(x[0] + u[0])}


@cell("GRU", ("reset", "update", "candidate"), summary=N_("GRU: two gates"), keeps="update", own_bias=True)
def gru(xp: Any, x: Any, u: Any, h: Any) -> Parts:
    """H_t = Z_t ⊙ H_{t-1} + (1 - Z_t) ⊙ H̃_t with H̃_t = tanh(X_t W_xh + b_h + R_t ⊙ (H_{t-1} W_hh + b_hh))."""
    r, z = xp.sigmoid(x[:2] + u[:2])
    n = xp.tanh(x[2] + r * u[2])
    return {"h": z * h + xp.rest(z) * n, "reset": r, "update": z, "candidate": n}


@cell(
    "LSTM",
    ("input", "forget", "output", "candidate"),
    summary=N_("LSTM: three gates and a cell state"),
    stored=(0, 1, 3, 2),
    has_cell=True,
    keeps="forget",
)
def lstm(xp: Any, x: Any, u: Any, h: Any, c: Any) -> Parts:
    """C_t = F_t ⊙ C_{t-1} + I_t ⊙ C̃_t and H_t = O_t ⊙ tanh(C_t)."""
    a = x + u
    i, f, o = xp.sigmoid(a[:3])
    g = xp.tanh(a[3])
    c = xp.state("cell", f * c + i * g)
    return {"h": o * xp.tanh(c), "c": c, "input": i, "forget": f, "output": o, "candidate": g}


@cell(
    "minGRU",
    ("update", "candidate"),
    summary=N_("minGRU: one gate that sees the input alone"),
    keeps="update",
    mixes=False,
    linear=True,
    span="positive",
)
def mingru(xp: Any, x: Any) -> Parts:
    """A_t = Z_t and B_t = (1 - Z_t) ⊙ g(X_t W_xh + b_h). The paper's gate is 1 - Z_t."""
    # 1 - Z_t is written as σ(-a): where σ(a) is almost 1, subtracting it from 1 would leave few digits, and
    # over ten thousand steps the error adds up.
    z, n = xp.sigmoid(x[0]), xp.positive(x[1])
    return {"keep": z, "write": xp.sigmoid(-x[0]) * n, "update": z, "candidate": n}  # 1 - z loses digits


def parameters(kind: CellKind, tensors: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
    """A layer's W_x (G·H, X), W_h (G·H, H), b (G·H,) and b_u (H,), in the order of the blocks.

    `tensors` are the layer's, as `ModelConfig.layer_names` lists them, numpy's or torch's. W_h and b_u are
    None for a cell without them.
    """
    H = len(tensors[0]) // len(kind.blocks)
    # Torch's tensors have the blocks on top of one another, in an order of its own for an LSTM: i, f, g, o.
    ordered = [tensor[[k * H + n for k in kind.stored for n in range(H)]] for tensor in tensors]
    if not kind.mixes:
        return ordered[0], None, ordered[1], None
    W_x, W_h, b_x, b_h = ordered
    b = b_x + b_h
    if not kind.own_bias:
        return W_x, W_h, b, None
    # The last block's second bias is added to its product with the state, before a gate scales both.
    b[-H:] = b_x[-H:]
    return W_x, W_h, b, b_h[-H:]

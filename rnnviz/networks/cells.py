"""The recurrences as the textbook writes them: one time step, every part by its name.

    mlp    H_t = φ(X_t W_xh + b_h)                                 no hidden state: sees only X_t
    rnn    H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h)                  Elman 1990
    gru    R_t, Z_t gates; H_t = Z_t ⊙ H_{t-1} + (1 - Z_t) ⊙ H̃_t   Cho et al. 2014
    lstm   I_t, F_t, O_t gates; C_t = F_t ⊙ C_{t-1} + I_t ⊙ C̃_t    Hochreiter & Schmidhuber 1997
           H_t = O_t ⊙ tanh(C_t)

and four in which no gate looks at the state, so that H_t = A_t ⊙ H_{t-1} + B_t (`rnnviz.networks.linear`):

    mingru   A_t = Z_t, a gate; H_t = A_t ⊙ H_{t-1} + (1 - A_t) ⊙ H̃_t     Feng et al. 2024, arXiv:2410.01201
    minlstm  A_t = F_t / (F_t + I_t), two gates; H_t as in mingru          the same
    rglru    A_t = σ(Λ)^(8 R_t), and a gate I_t                            De et al. 2024, arXiv:2402.19427
             H_t = A_t ⊙ H_{t-1} + sqrt(1 - A_t²) ⊙ I_t ⊙ H̃_t
    s6       A_t = exp(-Δ_t a), and a cell in H_t's place                 Gu & Dao 2023, arXiv:2312.00752
             C_t = A_t ⊙ C_{t-1} + (1 - A_t) / a ⊙ B_t ⊙ H̃_t
             H_t = V_t ⊙ C_t + D ⊙ H̃_t, with B_t and V_t from X_t

For reading and checking: the fast `rnnviz.networks.torch_model` equals it to 1e-5. Shapes: X_t (B, X), H and
C (B, H), weights from inputs W_x· (X, H), from the state W_h· (H, H), biases b_· (H,).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor

from rnnviz.errors import ConfigError
from rnnviz.networks import selective
from rnnviz.networks.config import CELLS, Activation, Cell, ModelConfig

Parameters = Mapping[str, Tensor]
"""A layer's parameters by the textbook's names: W_xh, W_hh, b_h, and for each gate r, z, i, f, o the same.

A GRU has b_hh too, its candidate's second bias: where the reset gate acts after the product with W_hh,
as in torch and cuDNN, it stands inside the gated part. The textbook has none. An RG-LRU has Λ, "decay", (H,).
An S6 has ln a, "decay", and D, "skip", (H,) each, and of a channel's or a state's weights a column a unit.
"""

LETTERS: Mapping[Cell, str] = {
    "mlp": "h", "rnn": "h", "gru": "rzh", "lstm": "ifco", "mingru": "zh", "minlstm": "ifh", "rglru": "rih",
    "s6": "dbch",
}  # fmt: skip
"""The parts of a cell, in the order in which torch stacks their weights."""


def activate(x: Tensor, activation: Activation) -> Tensor:
    """φ, elementwise."""
    return torch.tanh(x) if activation == "tanh" else torch.relu(x)


def of_torch(config: ModelConfig, tensors: Mapping[str, Tensor]) -> list[Parameters]:
    """Each layer's parameters, from tensors named as in `config.shapes()`; torch's two biases are added."""
    found: list[Parameters] = []
    for n in range(config.layers):
        layer = [tensors[name] for name in config.layer_names(n)]
        if config.cell == "mlp":
            found.append({"W_xh": layer[0].T, "b_h": layer[1]})
            continue
        p: dict[str, Tensor] = {}
        if not CELLS[config.cell].mixes:
            spread = selective.spread(config)
            w_b = layer[:2] if spread is None else [w[spread] for w in layer[:2]]
            for k, letter in enumerate(LETTERS[config.cell]):
                w_x, b = (w[k * config.hidden_size : (k + 1) * config.hidden_size] for w in w_b)
                p |= {f"W_x{letter}": w_x.T, f"b_{letter}": b}
            found.append(p | dict(zip(("decay", "skip"), layer[2:], strict=False)))
            continue
        for k, letter in enumerate(LETTERS[config.cell]):
            w_x, w_h, b_x, b_h = (w[k * config.hidden_size : (k + 1) * config.hidden_size] for w in layer)
            p |= {f"W_x{letter}": w_x.T, f"W_h{letter}": w_h.T, f"b_{letter}": b_x + b_h}
        if config.cell == "gru":
            p |= {"b_h": b_x, "b_hh": b_h}
        found.append(p)
    return found


def step(
    cell: Cell,
    p: Parameters,
    x: Tensor,
    h: Tensor,
    c: Tensor | None = None,
    *,
    activation: Activation = "tanh",
    reset: Literal["after", "before"] = "after",
) -> dict[str, Tensor]:
    """One time step, for X_t (B, X), H_{t-1} (B, H) and an LSTM's or S6's C_{t-1}: its parts, (B, H) each.

        mlp, rnn   from_input, from_state, pre_activation, state
        gru        reset, update, candidate, state
        lstm       input, forget, output, candidate, cell, state
        mingru     update, candidate, state
        minlstm    input, forget, decay, candidate, state
        rglru      recurrence, input, decay, candidate, state
        s6         step, decay, write, read, candidate, cell, state

    A textbook GRU resets the state *before* the product with W_hh; torch's and cuDNN's fused layers *after*
    it, which lets one product serve all three parts. No choice of parameters makes the two equal.

        after:   H̃_t = tanh(X_t W_xh + R_t ⊙ (H_{t-1} W_hh + b_hh) + b_h)
        before:  H̃_t = tanh(X_t W_xh + (R_t ⊙ H_{t-1}) W_hh + b_hh + b_h)

    Raises ConfigError for inputs and states that don't fit the parameters.
    """
    _check(cell, p, x, h, c)
    if cell in ("mlp", "rnn"):
        from_input = x @ p["W_xh"]
        from_state = h @ p["W_hh"] if cell == "rnn" else torch.zeros_like(from_input)
        pre = from_input + from_state + p["b_h"]
        names = ("from_input", "from_state", "pre_activation", "state")
        return dict(zip(names, (from_input, from_state, pre, activate(pre, activation)), strict=True))

    if CELLS[cell].linear:
        return _selective(p, x, h if c is None else c) if cell == "s6" else _linear(cell, p, x, h)

    def sums(letter: str) -> Tensor:
        return x @ p[f"W_x{letter}"] + h @ p[f"W_h{letter}"] + p[f"b_{letter}"]

    if cell == "gru":
        r, z = torch.sigmoid(sums("r")), torch.sigmoid(sums("z"))
        if reset == "after":
            from_state = r * (h @ p["W_hh"] + p["b_hh"])
        elif reset == "before":
            from_state = (r * h) @ p["W_hh"] + p["b_hh"]
        else:
            raise ConfigError(
                "reset is 'after' or 'before' the product with W_hh; received {reset!r}", reset=reset
            )
        candidate = torch.tanh(x @ p["W_xh"] + from_state + p["b_h"])
        return {"reset": r, "update": z, "candidate": candidate, "state": z * h + (1 - z) * candidate}
    assert c is not None
    i, f, o = (torch.sigmoid(sums(letter)) for letter in "ifo")
    candidate = torch.tanh(sums("c"))
    c = f * c + i * candidate
    return {
        "input": i,
        "forget": f,
        "output": o,
        "candidate": candidate,
        "cell": c,
        "state": o * torch.tanh(c),
    }


def _linear(cell: Cell, p: Parameters, x: Tensor, h: Tensor) -> dict[str, Tensor]:
    """One step of a cell whose gates are sums over X_t alone.

    In minGRU and minLSTM the candidate H̃_t = g(X_t W_xh + b_h) is above 0, as the paper has it where it
    computes in logarithms: g(x) = x + 1/2 from 0 on and σ(x) below. (The paper writes 1 - Z_t for what is Z_t
    here, as in the GRU above.) In RG-LRU H̃_t = X_t W_xh + b_h stands for the layer before it in Griffin.
    """
    sums = {letter: x @ p[f"W_x{letter}"] + p[f"b_{letter}"] for letter in LETTERS[cell]}
    if cell == "rglru":
        r, i, candidate = torch.sigmoid(sums["r"]), torch.sigmoid(sums["i"]), sums["h"]
        log_decay = 8 * r * torch.nn.functional.logsigmoid(p["decay"])
        decay, root = torch.exp(log_decay), torch.sqrt(-torch.expm1(2 * log_decay))  # sqrt(1 - A²)
        state = decay * h + root * i * candidate
        return {"recurrence": r, "input": i, "decay": decay, "candidate": candidate, "state": state}
    candidate = torch.where(sums["h"] >= 0, sums["h"] + 0.5, torch.sigmoid(sums["h"]))
    if cell == "mingru":
        z = torch.sigmoid(sums["z"])
        return {"update": z, "candidate": candidate, "state": z * h + (1 - z) * candidate}
    i, f = torch.sigmoid(sums["i"]), torch.sigmoid(sums["f"])
    decay = f / (f + i)
    state = decay * h + i / (f + i) * candidate
    return {"input": i, "forget": f, "decay": decay, "candidate": candidate, "state": state}


def _selective(p: Parameters, x: Tensor, c: Tensor) -> dict[str, Tensor]:
    """One step of a selective state space layer: dc/dt = A c + B u, y = C c + D u, where B, C and the step
    size Δ of the discretisation follow from the input.

    With u held for a step of Δ (zero-order hold, the paper's equation 4) and A = -a diagonal:

        c_t = e^(ΔA) c_{t-1} + (ΔA)⁻¹ (e^(ΔA) - 1) ΔB u = e^(-Δa) c_{t-1} + (1 - e^(-Δa)) / a · B u

    Each of H/N channels has its own Δ and u, and N states with an a each; B and C are N numbers for all
    channels. The paper adds up a channel's N products, y = Σ_n C_n c_n + D u. Here each stands for itself,
    and the next product with a matrix adds them up: H_t keeps H numbers, as all that looks at it expects. u
    is a product with X_t and its SiLU, as in the block around the paper's layer; the block's convolution, its
    gate and its normalisation are not here. "write" is B, "read" is C and "candidate" u.
    """
    d, b, read, u = (x @ p[f"W_x{letter}"] + p[f"b_{letter}"] for letter in LETTERS["s6"])
    a = torch.exp(p["decay"])
    delta, candidate = torch.nn.functional.softplus(d), u * torch.sigmoid(u)
    decay = torch.exp(-delta * a)
    cell = decay * c - torch.expm1(-delta * a) / a * b * candidate
    named = {"step": delta, "decay": decay, "write": b, "read": read, "candidate": candidate}
    return {**named, "cell": cell, "state": read * cell + p["skip"] * candidate}


def _check(cell: Cell, p: Parameters, x: Tensor, *states: Tensor | None) -> None:
    inputs, H = p[f"W_x{LETTERS[cell][0]}"].shape
    if x.dim() != 2 or x.shape[1] != inputs:
        raise ConfigError(
            "X_t must be (B, {inputs}), batch by inputs; received {shape}",
            inputs=inputs,
            shape=tuple(x.shape),
        )
    for state in states:
        if state is not None and tuple(state.shape) != (len(x), H):
            raise ConfigError(
                "a state must be (B, H) = {expected}; received {shape}",
                expected=(len(x), H),
                shape=tuple(state.shape),
            )

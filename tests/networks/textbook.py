"""The recurrences as the textbook writes them: one time step, every part by its name.

    mlp    H_t = φ(X_t W_xh + b_h)                                 no hidden state: sees only X_t
    rnn    H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h)                  Elman 1990
    gru    R_t, Z_t gates; H_t = Z_t ⊙ H_{t-1} + (1 - Z_t) ⊙ H̃_t   Cho et al. 2014
    lstm   I_t, F_t, O_t gates; C_t = F_t ⊙ C_{t-1} + I_t ⊙ C̃_t    Hochreiter & Schmidhuber 1997
           H_t = O_t ⊙ tanh(C_t)

and one whose gate doesn't look at the state (`rnnviz.networks.linear`):

    mingru Z_t a gate; H_t = Z_t ⊙ H_{t-1} + (1 - Z_t) ⊙ H̃_t      Feng et al. 2024, arXiv:2410.01201

For reading and checking: the fast `rnnviz.networks.torch_model` equals it to 1e-5. Shapes: X_t (B, X), H and
C (B, H), weights from inputs W_x· (X, H), from the state W_h· (H, H), biases b_· (H,).
"""

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor

from rnnviz.errors import ConfigError
from rnnviz.networks.config import CELLS, Activation, Cell, ModelConfig

Parameters = Mapping[str, Tensor]
"""A layer's parameters by the textbook's names: W_xh, W_hh, b_h, and for each gate r, z, i, f, o the same.

A GRU has b_hh too, its candidate's second bias: where the reset gate acts after the product with W_hh,
as in torch and cuDNN, it stands inside the gated part. The textbook has none.
"""

LETTERS: Mapping[Cell, str] = {"mlp": "h", "rnn": "h", "gru": "rzh", "lstm": "ifco", "mingru": "zh"}
"""The parts of a cell, in the order in which torch stacks their weights."""


def activate(x: Tensor, activation: Activation) -> Tensor:
    """φ, elementwise."""
    return torch.tanh(x) if activation == "tanh" else torch.relu(x)


def of_torch(config: ModelConfig, tensors: Mapping[str, Tensor]) -> list[Parameters]:
    """Each layer's parameters, from tensors named as in `config.shapes()`; torch's two biases are added."""
    found: list[Parameters] = []
    for n in range(config.layers):
        layer = [tensors[name] for name in config.layer_names(n)]
        p: dict[str, Tensor] = {}
        if not CELLS[config.cell].mixes:
            for k, letter in enumerate(LETTERS[config.cell]):
                w_x, b = (w[k * config.hidden_size : (k + 1) * config.hidden_size] for w in layer)
                p |= {f"W_x{letter}": w_x.T, f"b_{letter}": b}
            found.append(p)
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
    """One time step, for X_t (B, X), H_{t-1} (B, H) and an LSTM's C_{t-1}: its parts, (B, H) each.

        mlp, rnn   from_input, from_state, pre_activation, state
        gru        reset, update, candidate, state
        lstm       input, forget, output, candidate, cell, state
        mingru     update, candidate, state

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

    if cell == "mingru":
        return _min_gru(p, x, h)

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


def _min_gru(p: Parameters, x: Tensor, h: Tensor) -> dict[str, Tensor]:
    """One step. The candidate H̃_t = g(X_t W_xh + b_h) is above 0, as the paper has it where it computes in
    logarithms: g(x) = x + 1/2 from 0 on and σ(x) below. (The paper writes 1 - Z_t for what is Z_t here, as in
    the GRU above.)
    """
    z, last = torch.sigmoid(x @ p["W_xz"] + p["b_z"]), x @ p["W_xh"] + p["b_h"]
    candidate = torch.where(last >= 0, last + 0.5, torch.sigmoid(last))
    return {"update": z, "candidate": candidate, "state": z * h + (1 - z) * candidate}


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

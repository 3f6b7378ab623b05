"""The torch engine: any cell on tensors, on any device, with gradients where they are wanted.

    layers_of  all steps of all layers: torch's own layers for the cells that torch has, else the record
    Layer      one layer's steps by the record. torch's layers are faster, and keep neither the lower layers'
               states nor C

Shape letters: B texts, T time steps, G blocks of a cell's weights, H units, X inputs, L layers.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rnnviz.networks import cells
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import ModelConfig

State: TypeAlias = "tuple[Tensor, ...]"
"""The state between two time steps: (H,) of shape (L, B, H), for an LSTM (H, C)."""

linear = F.linear
"""Each product outside torch's own layers, X W^T + b. Its last bits depend on the processor and on the number
of rows: the tests replace it, to compute as on another processor.
"""

Between: TypeAlias = Callable[[Tensor], Tensor] | None
"""A function of a layer's H (B, T, H) before the next layer reads them, such as dropout; or None."""


class Torch:
    """The namespace `xp` of tensors; see `rnnviz.networks.cells`."""

    sigmoid, tanh = staticmethod(torch.sigmoid), staticmethod(torch.tanh)

    def __init__(self, activation: str = "tanh") -> None:
        self.phi = torch.tanh if activation == "tanh" else torch.relu

    def rest(self, z: Tensor) -> Tensor:
        return 1 - z

    def positive(self, a: Tensor) -> Tensor:
        return torch.relu(a) + torch.sigmoid(a.clamp_max(0))

    def state(self, name: str, value: Tensor) -> Tensor:
        return value


class TorchLayer:
    """One layer's weights in the order of its cell's record; `tensors` as `ModelConfig.layer_names` has
    them."""

    def __init__(self, cell: str, tensors: Sequence[Tensor], activation: str = "tanh") -> None:
        self.kind, self.xp = CELLS[cell], Torch(activation)
        self.W_x, self.W_h, self.b, self.b_u = cells.parameters(self.kind, tensors)

    def blocks(self, rows: Tensor) -> Tensor:
        """Rows (…, G·H) as a record takes them, (G, …, H)."""
        return rows.reshape(*rows.shape[:-1], len(self.kind.blocks), -1).movedim(-2, 0)

    def from_inputs(self, x: Tensor) -> Tensor:
        """X W_x + b, (…, G·H)."""
        return linear(x, self.W_x, self.b)

    def step(self, rows: Tensor, h: Tensor, c: Tensor | None = None) -> cells.Parts:
        """The parts after one step from the states h, c (B, H), with `rows` (B, G·H) of X W_x + b: h, for an
        LSTM c, and the rest by name."""
        x, u = self.blocks(rows), None
        if self.kind.linear:
            parts = self.kind.step(self.xp, x)
            return {"h": parts["keep"] * h + parts["write"], **parts}
        if self.W_h is not None:
            product = linear(h, self.W_h)
            if self.b_u is not None:
                product = F.pad(self.b_u, (len(self.W_h) - len(self.b_u), 0)) + product
            u = self.blocks(product)
        states: list[Any] = [h] if c is None else [h, c]
        return self.kind.step(self.xp, x, u, *states)


def scan(keep: Tensor, write: Tensor, first: Tensor) -> Tensor:
    """H (B, T, H) of H_t = `keep`_t ⊙ H_{t-1} + `write`_t, (B, T, H) each, from the state `first` (B, H),
    without a loop over time.

    Two steps are one step of the same kind, with factor A_t A_{t-1} and addend A_t B_{t-1} + B_t. So
    neighbours are joined, half as many steps are solved in the same way, and every other state follows from
    the state before. That takes about 2 log T calls, and work in proportion to T (Blelloch 1990, "Prefix sums
    and their applications"). Products and sums alone, no logarithm and no quotient, keep all digits of decays
    near 0 or 1.

    >>> keep, write = torch.full((1, 4, 1), 0.5), torch.ones(1, 4, 1)
    >>> scan(keep, write, torch.zeros(1, 1)).flatten().tolist()
    [1.0, 1.5, 1.75, 1.875]
    """
    return cast(Tensor, _Scan.apply(keep, write, first))  # type: ignore[no-untyped-call]


class _Scan(torch.autograd.Function):
    """Backwards it is a scan too, from the last step to the first: λ_t = ∂L/∂H_t + A_{t+1} ⊙ λ_{t+1}."""

    @staticmethod
    def forward(ctx: Any, keep: Tensor, write: Tensor, first: Tensor) -> Tensor:
        begun = torch.addcmul(write[:, :1], keep[:, :1], first[:, None])
        states = _solved(keep, torch.cat([begun, write[:, 1:]], dim=1))
        ctx.save_for_backward(keep, first, states)
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        keep, first, states = ctx.saved_tensors
        later = torch.cat([keep[:, 1:], torch.zeros_like(keep[:, :1])], dim=1)
        back = _solved(later.flip(1), gradients[0].flip(1)).flip(1)
        before = torch.cat([first[:, None], states[:, :-1]], dim=1)
        return back * before, back, back[:, 0] * keep[:, 0]


def _solved(keep: Tensor, write: Tensor) -> Tensor:
    """`scan` from a state of zeros."""
    T = write.shape[1]
    if T == 1:
        return write
    pairs, between = T // 2, (T + 1) // 2 - 1
    second = keep[:, 1 : 2 * pairs : 2]
    odd = _solved(
        second * keep[:, 0 : 2 * pairs : 2],
        torch.addcmul(write[:, 1 : 2 * pairs : 2], second, write[:, 0 : 2 * pairs : 2]),
    )
    states = torch.empty_like(write)
    states[:, 0] = write[:, 0]
    states[:, 1 : 2 * pairs : 2] = odd
    torch.addcmul(write[:, 2::2], keep[:, 2::2], odd[:, :between], out=states[:, 2::2])
    return states


class RecordLayers(nn.Module):
    """L layers of a cell that torch has no layers for: by a scan for a linear cell, else step by step.

    Parameters are named as in `ModelConfig.shapes`.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config, shapes = config, config.shapes()
        for n in range(config.layers):
            inputs = shapes[config.layer_names(n)[0]][1]
            # The initial range of `nn.Linear`, or of torch's recurrent layers.
            bound = 1 / math.sqrt(inputs if CELLS[config.cell].linear else config.hidden_size)
            for name in config.layer_names(n):
                values = nn.init.uniform_(torch.empty(shapes[name]), -bound, bound)
                self.register_parameter(name.removeprefix("recurrence."), nn.Parameter(values))

    def forward(self, x: Tensor, state: State, between: Between = None) -> tuple[Tensor, State]:
        """See `states`. Computes in the state's precision, under autocast too: in bfloat16 σ(8) would be 1,
        and a unit would never forget.
        """
        ends: list[list[Tensor]] = []
        for n in range(self.config.layers):
            tensors = [getattr(self, name.removeprefix("recurrence.")) for name in self.config.layer_names(n)]
            layer, after = (
                TorchLayer(self.config.cell, tensors, self.config.activation),
                [part[n] for part in state],
            )
            rows = layer.from_inputs(between(x) if n and between else x).to(state[0].dtype)
            if layer.kind.linear:
                parts = layer.kind.step(layer.xp, layer.blocks(rows))
                x = scan(parts["keep"], parts["write"], after[0])
                after = [x[:, -1]]
            else:
                top = []
                for row in rows.unbind(1):
                    parts = layer.step(row, *after)
                    after = [parts[name] for name in ("h", "c")[: len(after)]]
                    top.append(after[0])
                x = torch.stack(top, dim=1)
            ends.append(after)
        return x, tuple(torch.stack(part) for part in zip(*ends, strict=True))


def layers_of(config: ModelConfig) -> nn.Module:
    """The L layers of a model, untrained, with torch's own names."""
    H, x = config.hidden_size, config.input_size
    if config.cell == "mlp":
        return nn.ModuleList([nn.Linear(x if n == 0 else H, H) for n in range(config.layers)])
    if config.cell == "rnn":
        return nn.RNN(x, H, config.layers, nonlinearity=config.activation, batch_first=True)
    if config.cell in ("gru", "lstm"):
        layer = nn.GRU if config.cell == "gru" else nn.LSTM
        return layer(x, H, config.layers, batch_first=True)
    return RecordLayers(config)


def states(
    config: ModelConfig,
    layers: nn.Module,
    x: Tensor,
    state: State,
    between: Between = None,
    **dropped: Tensor,
) -> tuple[Tensor, State]:
    """The top layer's H (B, T, H) and the state after the last step, for X (B, T, X).

    `layers` are those of `layers_of`; `dropped` weights, by name, stand in for the layers' own.
    """
    if config.cell == "mlp":
        phi, last = Torch(config.activation).phi, []
        for n, dense in enumerate(cast(nn.ModuleList, layers)):
            x = phi(dense(between(x) if n and between else x))
            last.append(x[:, -1])
        return x, (torch.stack(last),)
    if isinstance(layers, RecordLayers):
        result: tuple[Tensor, State] = torch.func.functional_call(layers, dropped, (x, state, between))
        return result
    if x.is_cuda:
        # cuDNN's layers would round factors to 10 bits (TF32), and states be off by 0.002: float32 is float32
        # on every device, and bfloat16 is there for speed. The setting is the whole process's, and stays, as
        # the backward pass reads it too.
        torch.backends.cudnn.allow_tf32 = False
    start: Any = state if CELLS[config.cell].has_cell else state[0]
    if between is None or config.layers == 1:
        if dropped:
            x, start = torch.func.functional_call(layers, dropped, (x, start))
        else:
            x, start = layers(x, start)
        return x, start if isinstance(start, tuple) else (start,)
    # Layer after layer: dropout inside torch's layers would draw from torch's random numbers, not from ours.
    weights, ends = dict(layers.named_parameters()) | dropped, []
    run_layer = getattr(torch, f"rnn_{config.activation}" if config.cell == "rnn" else config.cell)
    for n in range(config.layers):
        tensors = [weights[name.removeprefix("recurrence.")] for name in config.layer_names(n)]
        begun = [part[n : n + 1] for part in state]
        x = between(x) if n else x
        x, *after = run_layer(
            x, begun if len(begun) > 1 else begun[0], tensors, True, 1, 0.0, True, False, True
        )
        ends.append(after)
    return x, tuple(torch.cat(part) for part in zip(*ends, strict=True))

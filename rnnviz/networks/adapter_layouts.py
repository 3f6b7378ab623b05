"""State dicts of other programs, renamed and reordered into torch's own layout.

    torch          rnn.weight_ih_l0 …, gates one after another: r z n of a GRU, i f g o of an LSTM
    char-rnn       i2h_1.weight, h2h_1.weight, their biases … decoder.weight, and inputs one-hot: Karpathy's
                   char-rnn (2015); an LSTM's gates are i f o g. Its GRU resets the state before the product
    min-char-rnn   Wxh, Whh, Why, bh, by: Karpathy's gist
    keras          …/kernel (X, G·H), …/recurrent_kernel (H, G·H) and …/bias of each recurrent layer, in their
                   order, …/embeddings, and the output's …/kernel and …/bias; a GRU's gates are z r h. A GRU
                   without biases is read as one with reset_after=True, the default; activations, and a
                   recurrent_activation that is no sigmoid, can't be told from weights: give `check`

Shape letters: X inputs, H units, G parts of a cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from rnnviz.errors import ConfigError, Phrase

Renamed = dict[str, Tensor]


def renamed(state: Mapping[str, Any], layout: str) -> Renamed:
    """The tensors by torch's names: rnn.weight_ih_l0 …, embedding.weight, output.weight and output.bias.

    Whatever is of no known layer keeps its name. Raises ConfigError for an unknown layout, a layer that is
    missing, and a GRU that resets before the product.
    """
    if layout not in LAYOUTS:
        raise ConfigError(
            "layout is one of {layouts}; received {layout!r}", layouts=", ".join(LAYOUTS), layout=layout
        )
    found = LAYOUTS[layout]({key: as_tensor(w) for key, w in state.items() if hasattr(w, "shape")})
    if "rnn.weight_hh_l0" not in found or "output.weight" not in found:
        raise ConfigError(
            "no {what} in the layout {layout} is among {keys}",
            what=Phrase("output layer") if "rnn.weight_hh_l0" in found else Phrase("recurrent layer"),
            layout=layout,
            keys=", ".join(state) or Phrase("none"),
        )
    return found


def as_tensor(w: Any) -> Tensor:
    """A copy in float32 on the CPU, of a tensor or an array."""
    tensor = w.detach() if isinstance(w, Tensor) else torch.as_tensor(w)
    return tensor.to("cpu", torch.float32, copy=True)


def _char_rnn(state: Renamed) -> Renamed:
    out: Renamed = {}
    for key, w in state.items():
        if match := re.fullmatch(r"(i2h|h2h)_(\d+)\.(weight|bias)", key):
            H = _units(state, f"h2h_{match[2]}.weight")
            if len(w) == 3 * H:
                raise _resets_first()
            kind = "ih" if match[1] == "i2h" else "hh"
            order = (0, 1, 3, 2) if len(w) == 4 * H else (0,)
            out[f"rnn.{match[3]}_{kind}_l{int(match[2]) - 1}"] = _blocks(w, order)
        else:
            out[re.sub(r"^decoder\.", "output.", key)] = w
    return out


def _min_char_rnn(state: Renamed) -> Renamed:
    names = {
        "Wxh": "rnn.weight_ih_l0",
        "Whh": "rnn.weight_hh_l0",
        "bh": "rnn.bias_ih_l0",
        "Why": "output.weight",
        "by": "output.bias",
    }
    return {names.get(k, k): w.flatten() if k in ("bh", "by") else w for k, w in state.items()}


def _keras(state: Renamed) -> Renamed:
    state = {key.removesuffix(":0"): w for key, w in state.items()}
    layers = [key.removesuffix("recurrent_kernel") for key in state if key.endswith("recurrent_kernel")]
    out: Renamed = {}
    for key, w in state.items():
        prefix, slash, last = key.rpartition("/")
        prefix += slash
        if prefix in layers and last in ("kernel", "recurrent_kernel", "bias"):
            n, H = layers.index(prefix), _units(state, f"{prefix}recurrent_kernel")
            out |= _keras_layer(last, w, n, H)
        elif last == "embeddings" and "embedding.weight" not in out:
            out["embedding.weight"] = w
        elif last in ("kernel", "bias") and w.dim() == (2 if last == "kernel" else 1):
            name = "output.weight" if last == "kernel" else "output.bias"
            out[key if name in out else name] = w.T if last == "kernel" else w
        else:
            out[key] = w
    return out


def _keras_layer(kind: str, w: Tensor, n: int, H: int) -> Renamed:
    """A recurrent layer's kernel, recurrent kernel or bias by torch's names."""
    gates = w.shape[-1] // H
    order = (1, 0, 2) if gates == 3 else tuple(range(gates))
    if kind == "bias":
        if gates == 3 and w.dim() == 1:
            raise _resets_first()
        both = w if w.dim() == 2 else torch.stack([w, torch.zeros_like(w)])  # input's, and the state's
        return {
            f"rnn.bias_{of}_l{n}": _blocks(each, order) for of, each in zip(("ih", "hh"), both, strict=True)
        }
    return {f"rnn.weight_{'ih' if kind == 'kernel' else 'hh'}_l{n}": _blocks(w.T, order)}


def _units(state: Renamed, key: str) -> int:
    """H, of a recurrent weight that has it as one of its sides."""
    return min(state[key].shape) if key in state and state[key].dim() == 2 else 1


def _blocks(w: Tensor, order: tuple[int, ...]) -> Tensor:
    """The blocks of rows of each gate in another order."""
    parts = w.chunk(len(order))
    return torch.cat([parts[k] for k in order]) if len(parts) == len(order) else w


def _resets_first() -> ConfigError:
    return ConfigError(
        "this GRU multiplies its state by the reset gate before the product with its weights, and torch's "
        "after it (Keras: reset_after=True): give its step to adapt(step=…), or train one that resets after"
    )


LAYOUTS: Mapping[str, Callable[[Renamed], Renamed]] = {
    "torch": dict,
    "char-rnn": _char_rnn,
    "min-char-rnn": _min_char_rnn,
    "keras": _keras,
}

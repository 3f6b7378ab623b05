"""The parts of a foreign network's state dict: found by their names, and checked to fit.

Shape letters: n symbols of the network, X inputs, L layers, H units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from rnnviz.errors import ConfigError, Phrase
from rnnviz.networks.adapter_layouts import as_tensor
from rnnviz.networks.adapter_weights import Symbols
from rnnviz.networks.config import Cell


def check_parts(
    parts: Mapping[str, dict[str, Tensor]], symbols: Symbols, called: Mapping[str, str], layers: int
) -> tuple[Cell, int]:
    """The cell and H; missing biases become zeros. Raises ConfigError unless all is there and fits."""
    recurrence, output, embedding = parts["recurrence"], parts["output"], parts["embedding"].get("weight")
    rows, H = recurrence["weight_hh_l0"].shape
    kinds: dict[int, Cell] = {H: "rnn", 3 * H: "gru", 4 * H: "lstm"}
    if rows not in kinds:
        raise ConfigError(
            "{called}.weight_hh_l0 has shape {shape}, which is no rnn's, gru's or lstm's",
            called=called["recurrence"],
            shape=(rows, H),
        )
    _check_rows(output.get("weight"), embedding, len(symbols.entries), H, called)
    X = len(symbols.entries) if embedding is None else int(embedding.shape[1])
    if recurrence["weight_ih_l0"].shape[1] != X:
        read = recurrence["weight_ih_l0"].shape[1]
        if embedding is None:
            raise ConfigError(
                "the recurrence reads {read} numbers and has {x} from one-hot vectors", read=read, x=X
            )
        raise ConfigError(
            "the recurrence reads {read} numbers and has {x} from the embedding", read=read, x=X
        )
    if symbols.start is None and layers > 1:
        raise ConfigError(
            "this network has {layers} layers, and no input leaves them all as they are before a text; "
            "name the character that is read first, such as start='\\n'",
            layers=layers,
        )
    for layer in range(layers):
        _check_shape(recurrence, f"weight_ih_l{layer}", (rows, H if layer else X), called["recurrence"])
        _check_shape(recurrence, f"weight_hh_l{layer}", (rows, H), called["recurrence"])
        _check_shape(recurrence, f"bias_ih_l{layer}", (rows,), called["recurrence"])
        _check_shape(recurrence, f"bias_hh_l{layer}", (rows,), called["recurrence"])
    _check_shape(output, "bias", (len(symbols.entries),), called["output"])
    return kinds[rows], H


def _check_rows(
    output: Tensor | None, embedding: Tensor | None, n: int, H: int, called: Mapping[str, str]
) -> None:
    if output is None or tuple(output.shape) != (n, H):
        raise ConfigError(
            "{called}.weight has a row for each of the {n} characters and {units} columns, one for "
            "each unit; received {received}",
            called=called["output"],
            n=n,
            units=H,
            received=Phrase("none") if output is None else tuple(output.shape),
        )
    if embedding is not None and len(embedding) != n:
        raise ConfigError(
            "{called}.weight has a row for each of the {n} characters; received {shape}",
            called=called["embedding"],
            n=n,
            shape=tuple(embedding.shape),
        )


def _check_shape(part: dict[str, Tensor], key: str, shape: tuple[int, ...], called: str) -> None:
    """Raise ConfigError for another shape; a missing bias becomes zeros."""
    if "bias" in key:
        part.setdefault(key, torch.zeros(shape))
    received = tuple(part[key].shape) if key in part else Phrase("none")
    if received != shape:
        raise ConfigError(
            "{called}.{key} should have shape {shape}; received {received}",
            called=called,
            key=key,
            shape=shape,
            received=received,
        )


def part_of(state: Mapping[str, Any], prefix: str) -> dict[str, Tensor]:
    """The tensors of one part by their own names, copied."""
    start = f"{prefix}." if prefix else ""
    return {
        key[len(start) :]: as_tensor(w)
        for key, w in state.items()
        if key.startswith(start) and hasattr(w, "shape")
    }


def used(
    state: Mapping[str, Any],
    parts: Mapping[str, dict[str, Tensor]],
    called: Mapping[str, str],
    layers: int,
    projected: bool,
) -> dict[str, dict[str, Tensor]]:
    """Of each part what a CharModel has. Raises ConfigError if there are other tensors in the state dict."""
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    own = {
        "recurrence": {f"{kind}_l{n}" for n in range(layers) for kind in kinds},
        "output": {"weight", "bias"},
        "embedding": {"weight"},
    }
    taken = {f"{called[part]}.{key}".removeprefix(".") for part, keys in own.items() for key in keys}
    if projected:
        taken |= {f"{called['recurrence']}.weight_hr_l{n}".removeprefix(".") for n in range(layers)}
    if unused := [key for key, value in state.items() if hasattr(value, "shape") and key not in taken]:
        raise ConfigError(
            "the state dict has tensors that a CharModel has no place for: {unused}. If they are its "
            "embedding's or another part's, say with keys={{…}} what that is called; if the predictions "
            "don't need them, leave them out. A network with another layer can be adapted as a Python "
            "function: adapt(step=…)",
            unused=", ".join(unused),
        )
    return {part: {key: w for key, w in parts[part].items() if key in keys} for part, keys in own.items()}


def count_layers(recurrence: Mapping[str, Tensor], called: str) -> int:
    """L. Raises ConfigError for a recurrence that is none, or reads in both directions."""
    if any(key.endswith("_reverse") for key in recurrence):
        raise ConfigError(
            "the recurrence is bidirectional: it reads what comes next to predict what comes next, "
            "so it is no language model; train it in one direction, or give its forward half to "
            "adapt(step=…)"
        )
    if not {"weight_ih_l0", "weight_hh_l0"} <= recurrence.keys():
        raise ConfigError(
            "there is no {called}.weight_ih_l0 with {called}.weight_hh_l0; say with "
            "keys={{'recurrence': …}} what the recurrent layer is called in the state dict",
            called=called,
        )
    return sum(key.startswith("weight_hh_l") for key in recurrence)

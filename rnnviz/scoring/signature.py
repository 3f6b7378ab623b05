"""Signature: the bytes by which a compressed text names its model, so that the same model restores it."""

import hashlib
from typing import Any

import numpy as np

from rnnviz.arrays import Array
from rnnviz.errors import ConfigError
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import weights_of

LENGTH = 8
"""Bytes of a digest."""


def signature(model: Any) -> bytes:
    """LENGTH bytes that name a model. Raises ConfigError for Python functions, and for other values."""
    kind, arrays = ("", model.to_tensors()) if isinstance(model, NgramModel) else _of_network(model)
    parts = [np.array(model.vocabulary.to_json(), "<u4").tobytes(), model.normaliser.encode(), kind.encode()]
    for name, array in sorted(arrays.items()):
        if array is not None:
            parts += [f"{name} {array.dtype.str} {array.shape}".encode(), array.tobytes()]
    return digest_of(*parts)


def digest_of(*parts: bytes) -> bytes:
    """LENGTH bytes of the SHA-256 of these parts."""
    return hashlib.sha256(b"".join(parts)).digest()[:LENGTH]


def _of_network(model: Any) -> tuple[str, dict[str, Array | None]]:
    """The kinds of a network's layers, and its numbers as they are multiplied, from which probabilities come;
    stored numbers may be others.
    """
    weights = weights_of(model)
    if weights.cell == "custom":
        raise ConfigError(
            "compressing needs a model with stored weights, and {name!r} is a Python function; use another "
            "model",
            name=model.name,
        )
    arrays = {name: getattr(weights, name) for name in ("embedding", "readout", "bias")}
    for n, layer in enumerate(weights.layers):
        arrays |= {f"{n} {name}": getattr(layer, name) for name in ("table", "W_x", "b", "W_h", "b_u")}
    return " ".join(f"{layer.cell} {layer.activation}" for layer in weights.layers), arrays

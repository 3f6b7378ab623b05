"""What a compressed text (`rnnviz.reading.compression`) names, so that the same model restores it."""

import hashlib
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import weights_of

LENGTH = 8
"""Bytes of a digest."""


@runtime_checkable
class Signed(Protocol):
    """A model made of others that says itself what names it."""

    def signature(self) -> bytes:
        """`digest_of` what it is made of, and how."""
        ...


def signature(model: Any) -> bytes:
    """LENGTH bytes that name a model. Raises ConfigError for a Python function, and for what is no model."""
    return model.signature() if isinstance(model, Signed) else _digest(model)


def digest_of(*parts: bytes) -> bytes:
    """LENGTH bytes of the SHA-256 of these parts."""
    return hashlib.sha256(b"".join(parts)).digest()[:LENGTH]


def _digest(model: Any) -> bytes:
    """LENGTH bytes that name a model's numbers and its characters."""
    if isinstance(model, NgramModel):
        digest = _of_characters(model)
        for name, tensor in sorted(model.to_tensors().items()):
            _hash(digest, name, tensor)
        return bytes(digest.digest()[:LENGTH])
    # As they are multiplied, not as they are stored: it is these that the probabilities come from.
    weights, digest = weights_of(model), _of_characters(model)
    if weights.cell == "custom":
        raise ConfigError(
            "a text is compressed with a model that can be told from every other by its weights, and "
            "{name!r} is a Python function; use another model",
            name=model.name,
        )
    for number, layer in enumerate(weights.layers):
        digest.update(f"{number} {layer.cell} {layer.activation}".encode())
        for name in ("table", "W_x", "b", "W_h", "b_u"):
            _hash(digest, name, getattr(layer, name))
    for name in ("embedding", "readout", "bias"):
        _hash(digest, name, getattr(weights, name))
    return bytes(digest.digest()[:LENGTH])


def _of_characters(model: Any) -> Any:
    digest = hashlib.sha256(np.array(model.vocabulary.to_json(), "<u4").tobytes())
    digest.update(model.normaliser.encode())
    return digest


def _hash(digest: Any, name: str, array: npt.NDArray[Any] | None) -> None:
    if array is not None:
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array))

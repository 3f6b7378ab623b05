"""What a compressed text (`rnnviz.reading.compression`) names, so that the same model restores it."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import weights_of

LENGTH = 6
"""Bytes of a digest."""


MIXED, LEARNS = 1, 2
"""What may be done with a model: it is mixed with another; it goes on learning from what it reads."""


class Signature(NamedTuple):
    """What names a model.

    model  LENGTH bytes of the SHA-256 of its numbers
    done   the sum of what is done with it
    how    LENGTH bytes that name the models and settings of that, none where nothing is done
    """

    model: bytes
    done: int = 0
    how: bytes = b""

    def with_more(self, done: int, *data: bytes) -> Signature:
        """The same, and more is done with it, which `data` names."""
        how = hashlib.sha256(b"".join((self.how, bytes([done]), *data))).digest()[:LENGTH]
        return Signature(self.model, self.done | done, how)

    def to_bytes(self) -> bytes:
        """All of it, in 6 or 13 bytes."""
        return self.model + (bytes([self.done]) + self.how if self.done else b"")


@runtime_checkable
class Signed(Protocol):
    """A model made of others that says itself what names it."""

    def signature(self) -> Signature:
        """That of what it is made of, `with_more`."""
        ...


def signature(model: Any) -> Signature:
    """What names a model. Raises ConfigError for one that is a Python function, and for what is no model."""
    return model.signature() if isinstance(model, Signed) else Signature(_digest(model))


def _digest(model: Any) -> bytes:
    """Six bytes that name a model's numbers and its characters."""
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
        for name in ("table", "W_x", "b", "W_h", "b_n", "rate"):
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

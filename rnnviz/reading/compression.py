"""A text compressed with a model: the perplexity as a file.

An entropy coder writes a character of probability p in -log2 p bits, so a text takes

    size = n · log2(perplexity) bits        within 0.1 % and 32 bytes

The range coder is that of the `constriction` package (R. Bamler, "Understanding Entropy Coding With
Asymmetric Numeral Systems", 2022; range coding is G. N. N. Martin's, 1979). Both sides need the same
probabilities to the last bit, so both read one character at a time, in numpy, through the same code.

A file, numbers little-endian:

    4 bytes   magic and format            6 bytes   of the SHA-256 of the model
    1 to 3    varint: twice the number of characters, plus 1 if normalising changed the text
    4 bytes   CRC-32 of the text's code points, as uint32
    4 bytes   CRC-32 of the rest          the rest      what the range coder wrote, zeros at its end left out

A text of more than `SHORT` characters has format 2: its varint may have up to 6 bytes, and the second CRC-32
is of the varint and the rest.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from array import array
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.errors import CheckpointError, ConfigError, DecodingError
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import Model, weights_of
from rnnviz.networks.progress import Clock, run
from rnnviz.reading.range_coding import Decoder, Encoder, Steps, Unknown, unrestorable
from rnnviz.reading.reader import Reader, reader
from rnnviz.text.normalising import Normaliser
from rnnviz.text.vocabulary import UNKNOWN, code_points

SHORT = 200_000
"""Characters up to which a file has format 1, which every version reads."""

MAGIC = b"rnz"
LENGTH_BYTES = {1: 3, 2: 6}
"""The formats, and how many bytes a text's length may take in each."""

FIXED = len(MAGIC) + 1 + 6 + 1 + 4 + 4  # bytes of the shortest header
BLOCK = 1 << 16  # characters prepared at a time


@dataclass(frozen=True)
class Header:
    """A compressed text's length, and whether normalising had changed it."""

    characters: int
    normalised: bool
    digest: bytes
    text_checksum: int
    payload: bytes


def compress(model: Model, text: str, *, progress: Callable[[float], None] | None = None) -> bytes:
    """`text`, normalised, as bytes from which `decompress` restores it with the same model.

    `progress` gets the share done about ten times a second; characters are read one by one, 10,000 in about
    a second. Raises TextError for half a surrogate pair, CheckpointError for a model that gives no
    probabilities, ConfigError for one that is a Python function.
    """
    return run(compressing(model, text), progress)


def decompress(model: Model, data: bytes, *, progress: Callable[[float], None] | None = None) -> str:
    """The normalised text that `compress` was given; `progress` as there.

    Raises DecodingError for what is no compressed text, or cut off, or damaged, and for a text that this
    machine's arithmetic can't restore; ConfigError for one of another model.
    """
    return run(decompressing(model, data), progress)


def compressing(model: Model, text: str) -> Generator[float, None, bytes]:
    """`compress` step by step: yields the share done about ten times a second, returns the bytes."""
    normaliser = Normaliser(model.normaliser)
    text = normaliser.feed(text) + normaliser.finish()
    digest, vocabulary, clock = _digest(model), model.vocabulary, Clock()
    before, unknown = reader(model), Unknown(vocabulary)
    steps, checksum = Steps(Encoder()), 0
    for start in range(0, len(text), BLOCK):
        points = code_points(text[start : start + BLOCK])
        checksum = zlib.crc32(points.tobytes(), checksum)
        ids = vocabulary.encode(text[start : start + BLOCK])
        for place, (symbol, point) in enumerate(zip(ids.tolist(), points.tolist(), strict=True), start):
            if clock.due():
                yield place / len(text)
            steps.symbol(_log_probs(before, model.name), symbol)
            if symbol == UNKNOWN:
                unknown.code(steps.coder, point)
            before.read(np.array([symbol]))
    payload = steps.coder.finish()
    yield 1.0
    length = _varint(2 * len(text) + (normaliser.changed > 0))
    version = 1 if len(text) <= SHORT else 2
    checksums = struct.pack("<II", checksum, _checksum(version, length, payload))
    return b"".join((MAGIC, bytes([version]), digest, length, checksums, payload))


def decompressing(model: Model, data: bytes) -> Generator[float, None, str]:
    """`decompress` step by step: yields the share done about ten times a second, returns the text."""
    header = read_header(data)
    if header.digest != _digest(model):
        raise ConfigError(
            "this text was compressed with another model than {name!r} (its weights "
            "differ, or their preparation on this machine); choose the model it was compressed with",
            name=model.name or "this one",
        )
    vocabulary = model.vocabulary
    point_of = [0, *map(ord, vocabulary.characters)]
    before, unknown = reader(model), Unknown(vocabulary)
    steps = Steps(Decoder(header.payload))
    clock = Clock()
    points = array("I")  # it grows: a file may only say that it is long
    for place in range(header.characters):
        if clock.due():
            yield place / header.characters
        symbol = steps.symbol(_log_probs(before, model.name))
        points.append(unknown.code(steps.coder) if symbol == UNKNOWN else point_of[symbol])
        before.read(np.array([symbol]))
    if zlib.crc32(points.tobytes()) != header.text_checksum:
        raise unrestorable()
    yield 1.0
    return points.tobytes().decode("utf-32-le")


def read_header(data: bytes) -> Header:
    """A compressed text's header. Raises DecodingError if it is none, or incomplete."""
    if not data.startswith(MAGIC):
        raise DecodingError(
            "this is no text that rnnviz compressed: it doesn't begin as one; choose a file that was "
            "made with “compress this text with the model”"
        )
    cut_off = DecodingError("this compressed text is cut off or damaged; make or copy it again")
    if len(data) < FIXED:
        raise cut_off
    version = data[len(MAGIC)]
    if version not in LENGTH_BYTES:
        raise DecodingError(
            "this compressed text has format {format} and this version reads {newest}; update rnnviz",
            format=version,
            newest=max(LENGTH_BYTES),
        )
    start = len(MAGIC) + 1 + 6
    number, end = 0, start
    for nth in range(LENGTH_BYTES[version]):
        number |= (data[end] & 0x7F) << 7 * nth
        end += 1
        if data[end - 1] < 0x80:
            break
        if end == len(data):
            raise cut_off
    if len(data) < end + 8 or (version == 1 and number // 2 > SHORT):
        raise cut_off
    of_text, of_payload = struct.unpack_from("<II", data, end)
    payload = data[end + 8 :]
    if _checksum(version, data[start:end], payload) != of_payload:
        raise cut_off
    return Header(number // 2, bool(number % 2), data[len(MAGIC) + 1 : start], of_text, payload)


def _checksum(version: int, length: bytes, payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(length) if version > 1 else 0)


def _log_probs(before: Reader, name: str) -> npt.NDArray[np.float64]:
    log_probs = before.log_probs()
    if not np.isfinite(log_probs.max()):
        raise CheckpointError(
            "the model {name!r} gives no probability for the next character: its weights are "
            "damaged, or its training diverged; use another model",
            name=name,
        )
    return log_probs


def _digest(model: Model) -> bytes:
    """Six bytes that name a model's numbers and its characters."""
    digest = hashlib.sha256(np.array(model.vocabulary.to_json(), "<u4").tobytes())
    digest.update(model.normaliser.encode())
    if isinstance(model, NgramModel):
        for name, tensor in sorted(model.to_tensors().items()):
            _hash(digest, name, tensor)
    else:
        # As they are multiplied, not as they are stored: it is these that the probabilities come from.
        weights = weights_of(model)
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
    return digest.digest()[:6]


def _hash(digest: Any, name: str, array: npt.NDArray[Any] | None) -> None:
    if array is not None:
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)

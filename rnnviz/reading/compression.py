"""A text compressed with a model: the perplexity as a file.

A model that gives the character that came the probability p lets an entropy
coder write it in -log2 p bits, so a text takes as many bits as its perplexity
promises,

    size = n · log2(perplexity) bits        within 0.1 % and 32 bytes

and whoever has the same model gets the text back. The coder is the range coder
of the `constriction` package (R. Bamler, "Understanding Entropy Coding With
Asymmetric Numeral Systems", 2022; range coding is G. N. N. Martin's, 1979).

Both sides must arrive at the same probabilities, to the last bit. So both read
one character at a time, in numpy, through the same code; scoring a batch
elsewhere may round otherwise. The file names the weights it was written with and carries
checksums of itself and of its text, so that what can't be restored is refused.

A file, numbers little-endian:

    4 bytes   magic and format            6 bytes   of the SHA-256 of the model
    1 to 3    varint: twice the number of characters, plus 1 if normalising changed the text
    4 bytes   CRC-32 of the text's code points, as uint32
    4 bytes   CRC-32 of the rest          the rest      what the range coder wrote, zeros at its end left out

This module does not know files, pages or how a model is trained.
"""

from __future__ import annotations

import hashlib
import math
import struct
import time
import zlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from rnnviz.errors import CheckpointError, ConfigError, DecodingError
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel, prepare
from rnnviz.networks.stepping import Reader, Weights
from rnnviz.reading.range_coding import Decoder, Encoder, Steps, Unknown, unrestorable
from rnnviz.text.normalising import Normaliser
from rnnviz.text.vocabulary import UNKNOWN, code_points

if TYPE_CHECKING:
    from rnnviz.networks.torch_model import CharModel

Floats = npt.NDArray[np.float64]
R = TypeVar("R")

LIMIT = 200_000
"""Characters: a second and more for every ten thousand of them is what reading one by one takes."""

MAGIC = b"rnz\x01"  # the last byte is the format
FIXED = len(MAGIC) + 6 + 1 + 4 + 4  # bytes of the shortest header
INTERVAL = 0.1  # seconds between two reports of progress


@dataclass(frozen=True)
class Header:
    """What a compressed text says of itself: how long it is, and whether normalising had changed it."""

    characters: int
    normalised: bool
    digest: bytes
    text_checksum: int
    payload: bytes


def compress(
    model: CharModel | NumpyModel | NgramModel,
    text: str,
    *,
    progress: Callable[[float], None] | None = None,
) -> bytes:
    """`text` as bytes from which `decompress` restores it, with the same model.

    What is compressed is the text as the model reads and scores it, that is
    normalised (line ends). `progress` is called about ten times a second with the share done, 0 to 1.

    Raises ConfigError for more than `LIMIT` characters, TextError for half a surrogate pair,
    CheckpointError for a model that gives no probabilities.
    """
    return _finish(compressing(model, text), progress)


def decompress(
    model: CharModel | NumpyModel | NgramModel,
    data: bytes,
    *,
    progress: Callable[[float], None] | None = None,
) -> str:
    """The text that `compress` was given, normalised; `progress` as there.

    Raises DecodingError for what is no compressed text, or cut off, or damaged, and for a text that
    this machine's arithmetic can't restore; ConfigError for one of another model.
    """
    return _finish(decompressing(model, data), progress)


def compressing(model: CharModel | NumpyModel | NgramModel, text: str) -> Generator[float, None, bytes]:
    """`compress` step by step: yields the share done about ten times a second, returns the bytes."""
    if len(text) > LIMIT:
        raise ConfigError(
            "up to {limit:,} characters are compressed at a time; received {count:,}. Take a part of it",
            limit=LIMIT,
            count=len(text),
        )
    normaliser = Normaliser(model.normaliser)
    text = normaliser.feed(text) + normaliser.finish()
    points = code_points(text)
    vocabulary = model.vocabulary
    ids = vocabulary.encode(text)
    predictor, digest = _predictor(model)
    unknown = Unknown(vocabulary)
    steps = Steps(Encoder())
    clock = _Clock()
    for place, (symbol, point) in enumerate(zip(ids.tolist(), points.tolist(), strict=True)):
        if clock.ticks():
            yield place / len(text)
        steps.symbol(predictor.log_probs(), symbol)
        if symbol == UNKNOWN:
            unknown.code(steps.coder, point)
        predictor.read(symbol)
    payload = steps.coder.finish()
    yield 1.0
    return b"".join(
        (
            MAGIC,
            digest,
            _varint(2 * len(text) + (normaliser.changed > 0)),
            struct.pack("<II", zlib.crc32(points.tobytes()), zlib.crc32(payload)),
            payload,
        )
    )


def decompressing(model: CharModel | NumpyModel | NgramModel, data: bytes) -> Generator[float, None, str]:
    """`decompress` step by step: yields the share done about ten times a second, returns the text."""
    header = read_header(data)
    predictor, digest = _predictor(model)
    if header.digest != digest:
        raise ConfigError(
            "this text was compressed with another model than {name!r} (its weights "
            "differ, or their preparation on this machine); choose the model it was compressed with",
            name=model.name or "this one",
        )
    vocabulary = model.vocabulary
    known = [0, *map(ord, vocabulary.characters)]
    unknown = Unknown(vocabulary)
    steps = Steps(Decoder(header.payload))
    clock = _Clock()
    points = np.empty(header.characters, np.uint32)
    for place in range(header.characters):
        if clock.ticks():
            yield place / header.characters
        symbol = steps.symbol(predictor.log_probs())
        points[place] = unknown.code(steps.coder) if symbol == UNKNOWN else known[symbol]
        predictor.read(symbol)
    if zlib.crc32(points.tobytes()) != header.text_checksum:
        raise unrestorable()
    yield 1.0
    return points.tobytes().decode("utf-32-le")


def read_header(data: bytes) -> Header:
    """The beginning of a compressed text, checked. Raises DecodingError if it is none, or not all there."""
    if data[: len(MAGIC) - 1] != MAGIC[:-1]:
        raise DecodingError(
            "this is no text that rnnviz compressed: it doesn't begin as one; choose a file that was "
            "made with “compress this text with the model”"
        )
    cut_off = DecodingError("this compressed text is cut off or damaged; make or copy it again")
    if len(data) < FIXED:
        raise cut_off
    if data[: len(MAGIC)] != MAGIC:
        raise DecodingError(
            "this compressed text has format {data} and this version reads {magic}; update rnnviz",
            data=data[len(MAGIC) - 1],
            magic=MAGIC[-1],
        )
    start = len(MAGIC) + 6
    number, end = 0, start
    for shift in (0, 7, 14):
        number |= (data[end] & 0x7F) << shift
        end += 1
        if data[end - 1] < 0x80:
            break
    if len(data) < end + 8 or number // 2 > LIMIT:
        raise cut_off
    of_text, of_payload = struct.unpack_from("<II", data, end)
    payload = data[end + 8 :]
    if zlib.crc32(payload) != of_payload:
        raise cut_off
    return Header(number // 2, bool(number % 2), data[len(MAGIC) : start], of_text, payload)


# What the model says next


class _Predictor(Protocol):
    """Reads a text character by character; before each, says what it expects."""

    def log_probs(self) -> Floats:
        """log P of each symbol, (V,), in nats, given what was read."""

    def read(self, symbol: int) -> None:
        """Read the symbol that came."""


class _Network:
    def __init__(self, weights: Weights, start: int, name: str) -> None:
        self._reader, self._weights, self._name = Reader(weights), weights, name
        self.read(start)

    def log_probs(self) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):  # said below, in words
            logits, log_sum = self._weights.predict(self._top)
        if not math.isfinite(log_sum[0]):
            raise CheckpointError(
                "the model {name!r} gives no probability for the next character: its weights are "
                "damaged, or its training diverged; use another model",
                name=self._name,
            )
        out: Floats = logits[0].astype(np.float64) - log_sum[0]
        return out

    def read(self, symbol: int) -> None:
        self._top = self._reader.read(np.array([symbol]))


class _Ngram:
    def __init__(self, model: NgramModel) -> None:
        self._model = model
        self._context: list[int] = []

    def log_probs(self) -> Floats:
        return self._model.log_probs(np.array(self._context, np.int64))

    def read(self, symbol: int) -> None:
        self._context = [*self._context, symbol][-max(self._model.order - 1, 1) :]


def _predictor(model: CharModel | NumpyModel | NgramModel) -> tuple[_Predictor, bytes]:
    """A reader at the start of a text, and six bytes that name its numbers and its characters."""
    digest = hashlib.sha256(np.array(model.vocabulary.to_json(), "<u4").tobytes())
    digest.update(model.normaliser.encode())
    predictor: _Predictor
    if isinstance(model, NgramModel):
        predictor = _Ngram(model)
        for name, tensor in sorted(model.to_tensors().items()):
            _hash(digest, name, tensor)
    else:
        # As they are prepared, not as they are stored: it is these that the probabilities come from.
        weights = prepare(model)
        predictor = _Network(weights, model.vocabulary.start, model.name)
        for number, layer in enumerate(weights.layers):
            digest.update(f"{number} {layer.cell} {layer.activation}".encode())
            for name in ("table", "W_x", "b", "W_h", "b_n"):
                _hash(digest, name, getattr(layer, name))
        for name in ("embedding", "readout", "bias"):
            _hash(digest, name, getattr(weights, name))
    return predictor, digest.digest()[:6]


def _hash(digest: Any, name: str, array: npt.NDArray[Any] | None) -> None:
    if array is not None:
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array))


class _Clock:
    """Says about ten times a second that it is time for a report."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def ticks(self) -> bool:
        now = time.perf_counter()
        if now - self._last < INTERVAL:
            return False
        self._last = now
        return True


def _finish(steps: Generator[float, None, R], progress: Callable[[float], None] | None) -> R:
    while True:
        try:
            done = next(steps)
        except StopIteration as end:
            result: R = end.value
            return result
        if progress is not None:
            progress(done)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)

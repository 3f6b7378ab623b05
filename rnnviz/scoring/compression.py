"""Compression of a text with a model: the perplexity as a file's size.

An entropy coder writes a character of probability p in -log2 p bits, so a text takes

    size = n · log2(perplexity) bits        within 0.1 % and 32 bytes

The range coder is that of the `constriction` package (R. Bamler, "Understanding Entropy Coding With
Asymmetric Numeral Systems", 2022; range coding is G. N. N. Martin's, 1979). Both sides need the same
probabilities to the last bit, so both read one character at a time, in numpy, through the same code.

A file, numbers little-endian:

    4 bytes   "rnz" and FORMAT                4 bytes   CRC-32 of all that follows
    8 bytes   of a SHA-256 that names the model: see `rnnviz.scoring.signature`
    8 bytes   of the SHA-256 of the text's code points, as uint32
    4 bytes   the number of characters
    the rest  the range coder's output, without the zeros at its end

So another model is refused before anything is read, and only the text that was written ever comes back. The
CRC tells a damaged file at once from one whose probabilities come out differently on this machine.
"""

import math
import struct
import zlib
from array import array
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnnviz.checks import checked
from rnnviz.errors import CheckpointError, ConfigError, DecodingError
from rnnviz.networks.numpy_model import Model
from rnnviz.networks.progress import Clock, Share, mapped, run
from rnnviz.scoring.range_coding import LEAST, Decoder, Encoder, Steps, Unknown, unrestorable
from rnnviz.scoring.reader import Reader, reader
from rnnviz.scoring.signature import LENGTH, digest_of, signature
from rnnviz.text.characters import normalise
from rnnviz.text.vocabulary import UNKNOWN, code_points

MAGIC, FORMAT = b"rnz", 4

START = struct.Struct("<3sBI")  # MAGIC, FORMAT, and the checksum of all that follows
NAMED = struct.Struct(f"<{LENGTH}s{LENGTH}sI")  # model, text, number of characters
FIXED = START.size + NAMED.size  # bytes before the payload

FREE = 4  # bytes that a payload may be short of its characters' least bits, as `_least` counts them


@dataclass(frozen=True)
class Header:
    """A compressed text, taken apart: `signature` names the model, `digest` the text."""

    signature: bytes
    digest: bytes
    characters: int
    payload: bytes


@checked
def compress(model: Model, text: str, *, progress: Callable[[Share], None] | None = None) -> bytes:
    """`text` as bytes, from which `decompress` restores it with the same model, as that model reads it: line
    ends become LF, and a model whose normaliser changes more, such as “ ” to straight quotes, loses that too.

    n characters take n log2(perplexity) bits, within 0.1 % and 32 bytes. Needs the package constriction.

    `progress` is called about ten times a second with the share done, `.fraction`. Characters are read one by
    one, 10,000 in about a second. Raises TextError for half a surrogate pair, CheckpointError for a model
    that gives no probabilities, ConfigError for a model that is a Python function.

    >>> import rnnviz
    >>> model = rnnviz.load("timemachine-gru")
    >>> packed = rnnviz.compress(model, "The Time Traveller smiled.")
    >>> len(packed) < 48, rnnviz.decompress(model, packed)
    (True, 'The Time Traveller smiled.')
    """
    return run(mapped(compressing(model, text), Share), progress)


@checked
def decompress(model: Model, data: bytes, *, progress: Callable[[Share], None] | None = None) -> str:
    """The normalised text that `compress` was given; `progress` as there.

    Raises ConfigError for a text of another model. Raises DecodingError for bytes that are no compressed
    text, are cut off or damaged, and for a text that this machine's arithmetic can't restore.
    """
    return run(mapped(decompressing(model, data), Share), progress)


def compressing(model: Model, text: str) -> Generator[float, None, bytes]:
    """`compress` step by step: yields the share done about ten times a second, returns the bytes."""
    before, named = reader(model), signature(model)
    text = normalise(text, model.normaliser)
    vocabulary, clock = model.vocabulary, Clock()
    unknown = Unknown(vocabulary)
    steps = Steps(Encoder())
    points, ids = code_points(text), vocabulary.encode(text)
    for place, (symbol, point) in enumerate(zip(ids.tolist(), points.tolist(), strict=True)):
        if clock.due():
            yield place / len(text)
        steps.symbol(_log_probs(before, model.name), symbol)
        if symbol == UNKNOWN:
            unknown.code(steps.coder, point)
        before.read(np.array([symbol]))
    payload = steps.coder.finish().ljust(_least(len(text)), b"\0")
    yield 1.0
    checked: bytes = NAMED.pack(named, digest_of(points.tobytes()), len(text)) + payload
    return START.pack(MAGIC, FORMAT, zlib.crc32(checked)) + checked


def decompressing(model: Model, data: bytes) -> Generator[float, None, str]:
    """`decompress` step by step: yields the share done about ten times a second, returns the text."""
    header = read_header(data)
    if header.signature != signature(model):
        raise ConfigError(
            "this text was compressed with another model than {name!r} (its weights differ, or their "
            "preparation on this machine, or rnnviz 2.0.0 mixed it with another or let it learn); choose the "
            "model it was compressed with",
            name=model.name or "this one",
        )
    vocabulary = model.vocabulary
    point_of = [0, *map(ord, vocabulary.characters)]
    before, unknown = reader(model), Unknown(vocabulary)
    steps = Steps(Decoder(header.payload))
    clock = Clock()
    points = array("I")  # grows with the text: the header's length may be a mere claim
    for place in range(header.characters):
        if clock.due():
            yield place / header.characters
        symbol = steps.symbol(_log_probs(before, model.name))
        points.append(unknown.code(steps.coder) if symbol == UNKNOWN else point_of[symbol])
        before.read(np.array([symbol]))
    if digest_of(points.tobytes()) != header.digest:
        raise unrestorable()
    yield 1.0
    return points.tobytes().decode("utf-32-le")


def read_header(data: bytes) -> Header:
    """A compressed text, taken apart. Raises DecodingError for other, damaged and older or newer files."""
    if not isinstance(data, bytes) or not data.startswith(MAGIC):
        raise DecodingError(
            "this is no text that rnnviz compressed: it doesn't begin as one; choose a file that was "
            "made with “compress this text with the model”"
        )
    version = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 1])
    if 0 < version < FORMAT:
        raise DecodingError(
            "this compressed text has format {format}, which this version doesn't read any more; "
            "rnnviz 1.0.0 reads it; get it from where you got this version",
            format=version,
        )
    if version > FORMAT:
        raise DecodingError(
            "this compressed text has format {format} and this version reads {newest}; update rnnviz",
            format=version,
            newest=FORMAT,
        )
    body = data[START.size :]
    if len(data) >= FIXED and zlib.crc32(body) == START.unpack_from(data)[2]:
        named, digest, characters = NAMED.unpack_from(body)
        payload = body[NAMED.size :]
        if len(payload) >= _least(characters):  # a file that claims more would be read for days
            return Header(named, digest, characters, payload)
    raise DecodingError("this compressed text is cut off or damaged; make or copy it again")


def _least(characters: int) -> int:
    """The fewest bytes of a payload, so that a file's length bounds the text's.

    The bound is 524,288 characters, and 131,072 more for each byte. Only a text that is almost certain
    throughout would have fewer bytes: zeros fill it up.
    """
    return max(math.ceil(characters * LEAST / 8) - FREE, 0)


def _log_probs(before: Reader, name: str) -> npt.NDArray[np.float64]:
    log_probs = before.log_probs()
    if not np.isfinite(log_probs.max()):
        raise CheckpointError(
            "the model {name!r} gives no probability for the next character: its weights are "
            "damaged, or its training diverged; use another model",
            name=name,
        )
    return log_probs

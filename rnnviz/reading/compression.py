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
is of the varint and the rest. With a model made of others (`rnnviz.mix`) it has format 3, whatever its
length: as format 2, and after the model's 6 bytes come

    1 byte    what is done with it: 1 mixed with another model, 2 goes on learning; 3 both
    6 bytes   of the SHA-256 of that other model and of the settings: see `rnnviz.reading.signature`

The second CRC-32 is of these 7 too.
"""

from __future__ import annotations

import math
import struct
import zlib
from array import array
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnnviz.errors import CheckpointError, ConfigError, DecodingError
from rnnviz.networks.progress import Clock, run
from rnnviz.reading.range_coding import LEAST, Decoder, Encoder, Steps, Unknown, unrestorable
from rnnviz.reading.reader import Readable, Reader, reader
from rnnviz.reading.signature import LENGTH, MIXED, Signature, signature
from rnnviz.text.normalising import Normaliser
from rnnviz.text.vocabulary import UNKNOWN, code_points

SHORT = 200_000
"""Characters up to which a file has format 1, which every version reads."""

MAGIC = b"rnz"
LENGTH_BYTES = {1: 3, 2: 6, 3: 6}
"""The formats, and how many bytes a text's length may take in each."""

FREE = 4  # bytes' worth of characters that need no payload: zeros at its end were left out, however many

FIXED = len(MAGIC) + 1 + 6 + 1 + 4 + 4  # bytes of the shortest header
BLOCK = 1 << 16  # characters prepared at a time


@dataclass(frozen=True)
class Header:
    """A compressed text's length, whether normalising had changed it, and the model it was written with."""

    characters: int
    normalised: bool
    signature: Signature
    text_checksum: int
    payload: bytes


def compress(model: Readable, text: str, *, progress: Callable[[float], None] | None = None) -> bytes:
    """`text`, normalised, as bytes from which `decompress` restores it with the same model.

    `progress` gets the share done about ten times a second; characters are read one by one, 10,000 in about
    a second. Raises TextError for half a surrogate pair, CheckpointError for a model that gives no
    probabilities, ConfigError for one that is a Python function.
    """
    return run(compressing(model, text), progress)


def decompress(model: Readable, data: bytes, *, progress: Callable[[float], None] | None = None) -> str:
    """The normalised text that `compress` was given; `progress` as there.

    Raises DecodingError for what is no compressed text, or cut off, or damaged, and for a text that this
    machine's arithmetic can't restore; ConfigError for one of another model.
    """
    return run(decompressing(model, data), progress)


def compressing(model: Readable, text: str) -> Generator[float, None, bytes]:
    """`compress` step by step: yields the share done about ten times a second, returns the bytes."""
    normaliser = Normaliser(model.normaliser)
    text = normaliser.feed(text) + normaliser.finish()
    named, vocabulary, clock = signature(model), model.vocabulary, Clock()
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
    payload = steps.coder.finish().ljust(_least(len(text)), b"\0")
    yield 1.0
    length = _varint(2 * len(text) + (normaliser.changed > 0))
    version = 3 if named.done else 1 if len(text) <= SHORT else 2
    header = named.to_bytes() + length
    checksums = struct.pack("<II", checksum, _checksum(version, header[LENGTH:], payload))
    return b"".join((MAGIC, bytes([version]), header, checksums, payload))


def decompressing(model: Readable, data: bytes) -> Generator[float, None, str]:
    """`decompress` step by step: yields the share done about ten times a second, returns the text."""
    header = read_header(data)
    if header.signature != (here := signature(model)):
        raise _another_model(header.signature, here, model.name or "this one")
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
    start = len(MAGIC) + 1 + LENGTH
    named, at = Signature(data[start - LENGTH : start]), start
    if version == 3:
        at += 1 + LENGTH
        named = Signature(named.model, data[start], data[start + 1 : at])
    number, end = _number(data, at, LENGTH_BYTES[version])
    if len(data) < end + 8 or (version == 1 and number // 2 > SHORT):
        raise cut_off
    of_text, of_payload = struct.unpack_from("<II", data, end)
    payload = data[end + 8 :]
    if len(payload) < _least(number // 2):  # it would be read for days
        raise cut_off
    if _checksum(version, data[start:end], payload) != of_payload:
        raise cut_off
    return Header(number // 2, bool(number % 2), named, of_text, payload)


def _least(characters: int) -> int:
    """Bytes of the payload at least, so that a file's length bounds its text's: to 524,288 characters, and
    131,072 more for each byte. Only a text near certain throughout has fewer, before zeros fill it up.
    """
    return max(math.ceil(characters * LEAST / 8) - FREE, 0)


def _number(data: bytes, at: int, most: int) -> tuple[int, int]:
    """The varint of at most `most` bytes at `at`, and where it ends."""
    number = 0
    for nth, byte in enumerate(data[at : at + most]):
        number |= (byte & 0x7F) << 7 * nth
        if byte < 0x80:
            return number, at + nth + 1
    return number, at + most


def _another_model(written: Signature, here: Signature, name: str) -> ConfigError:
    """What to raise where a text was written with another model, or with something else done with it."""
    if not written.done and here.done:
        return ConfigError(
            "this text was compressed with a model alone; received {name!r}: leave out the mixing, and what "
            "lets a network go on learning",
            name=name,
        )
    if written.done & MIXED > here.done & MIXED:
        return ConfigError(
            "this text was compressed with two models, mixed; received {name!r}: mix it with the other one",
            name=name,
        )
    if written.done != here.done:
        return ConfigError(
            "this text was compressed with other options than those of {name!r}: mixing with another model, "
            "or a network that goes on learning; use the same ones",
            name=name,
        )
    return ConfigError(
        "this text was compressed with another model than {name!r} (its weights "
        "differ, or their preparation on this machine); choose the model it was compressed with",
        name=name,
    )


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


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)

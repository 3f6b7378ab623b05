"""Compression of a text with a model: the perplexity as a file's size.

An entropy coder writes a character of probability p in -log2 p bits, so a text takes

    size = n · log2(perplexity) bits        within 0.1 % and 32 bytes

The range coder is that of the `constriction` package (R. Bamler, "Understanding Entropy Coding With
Asymmetric Numeral Systems", 2022; range coding is G. N. N. Martin's, 1979). Both sides need the same
probabilities to the last bit, so both read one character at a time, in numpy, through the same code.

A file, numbers little-endian:

    4 bytes   "rnz" and FORMAT                4 bytes   CRC-32 of all that follows
    8 bytes   of a SHA-256 that names the model: see `signature`
    8 bytes   of the SHA-256 of the text's code points, as uint32
    4 bytes   the number of characters
    the rest  the range coder's output, without the zeros at its end

So another model is refused before anything is read, and only the text that was written ever comes back. The
CRC tells a damaged file at once from one whose probabilities come out differently on this machine.
"""

import hashlib
import math
import struct
import zlib
from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Array, Doubles
from rnnviz.checks import checked
from rnnviz.errors import CheckpointError, ConfigError, DecodingError, install
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import Model, weights_of
from rnnviz.networks.progress import Progress, Reporter
from rnnviz.scoring.sampling import Reader, make_reader
from rnnviz.text.characters import normalise
from rnnviz.text.vocabulary import UNICODE_SCALAR_VALUES, UNKNOWN_ID, Vocabulary, code_points

NEAR_NATS = 14 * math.log(2)
"""Nats: symbols less probable than 2^-14 are coded in a second step."""
SPREAD_NATS = 4 * math.log(
    2
)  # nats: symbols this close to the most probable one are always in the first step
MAX_ESCAPES = 1 << 10  # bounds the cost of one character, whatever a damaged model predicts

MIN_CHARACTER_BITS = 2.0**-14
"""The fewest bits of a character. The escape symbol has a share of at least 2^-14, so a certain character
takes log2(1 + 2^-14) bits, 1.44 · 2^-14, less the rounding of 24 bits. Without a vocabulary every character
is unknown, and takes 20 bits."""


def _constriction() -> Any:
    try:
        import constriction
    except ImportError:
        raise ConfigError(
            "compressing needs the package constriction, which is not installed; install it with: {command}",
            command=install("compress"),
        ) from None
    return constriction.stream


class Encoder:
    """Writes symbols; `code(distribution, symbol)` returns the symbol, as the decoder's does.

    So writing and reading are the same code: a call takes a symbol to write, or None to read.
    """

    def __init__(self) -> None:
        self.stream = _constriction()
        self._coder = self.stream.queue.RangeEncoder()

    def code(self, distribution: Any, symbol: int | None = None) -> int:
        assert symbol is not None
        self._coder.encode(symbol, distribution)
        return symbol

    def finish(self) -> bytes:
        """All that was written, most significant bytes first, so that zeros at the end can be left out."""
        return bytes(self._coder.get_compressed().astype(">u4").tobytes().rstrip(b"\0"))


class Decoder:
    """Reads symbols; ignores the `symbol` it is given."""

    def __init__(self, payload: bytes) -> None:
        self.stream = _constriction()
        # Whole words again: `finish` left out the zeros at the end.
        words = np.frombuffer(payload + b"\0" * (-len(payload) % 4), ">u4").astype(np.uint32)
        self._coder = self.stream.queue.RangeDecoder(words)

    def code(self, distribution: Any, symbol: int | None = None) -> int:
        try:
            return int(self._coder.decode(distribution))
        except AssertionError:  # the coder's own: no text ends in such numbers
            raise unrestorable_error() from None


class SymbolCode:
    """Codes a symbol under a model's probabilities.

    The coder's probabilities have 24 bits. So symbols below 2^-14 share an escape symbol and are then coded
    among themselves, repeatedly if needed. A rarer escape is coded as several likelier ones in a row.
    """

    def __init__(self, coder: Any) -> None:
        self.coder = coder
        self._categorical = coder.stream.model.Categorical

    def symbol(self, log_p: Doubles, symbol: int | None = None) -> int:
        """Write `symbol`, or read one. `log_p` (V,) in nats sum to one, up to rounding."""
        # Of P = 0.9, 0.1 and 2^-20 the first step codes 0.9, 0.1 or an escape. The escape is two symbols of
        # 2^-10 in a row. After it the third symbol is the only one left, and takes no bits.
        remaining = np.arange(len(log_p))  # the symbols of `log_p`, of which each step leaves fewer
        while True:
            # The second bound is for large vocabularies, in which every symbol may be rarer than 2^-14.
            is_near = log_p >= min(-NEAR_NATS, log_p.max() - SPREAD_NATS)
            near, rest = remaining[is_near], remaining[~is_near]
            shares, escapes, escape = np.exp(log_p[is_near]), 0, 0.0
            if len(rest):  # their sum, e^log_rest, is coded as `escapes` symbols in a row, none below 2^-14
                log_p = log_p[~is_near]
                highest = float(log_p.max())
                # From the largest: the exponentials of them all might be 0.
                log_rest = highest + math.log(float(np.exp(log_p - highest).sum()))
                escapes = min(max(1, math.ceil(-log_rest / NEAR_NATS)), MAX_ESCAPES)
                escape = max(math.exp(log_rest / escapes), math.exp(-NEAR_NATS))
                shares = np.append(shares, escape)
                log_p = log_p - log_rest
            place = None
            if symbol is not None:
                place = int(np.searchsorted(near, symbol)) if symbol in near else len(near)
            # The coder scales the shares to a sum of one and gives each at least 2^-24, so rounding makes no
            # symbol impossible.
            place = self.coder.code(self._categorical(shares, lazy=True), place) if len(shares) > 1 else 0
            if place < len(near):
                return int(near[place])
            for _ in range(escapes - 1):
                if not self.coder.code(self._categorical(np.array([1 - escape, escape]), lazy=True), 1):
                    raise unrestorable_error()
            remaining = rest


class UnknownCode:
    """The characters outside a vocabulary: all other Unicode scalar values, equally likely."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        points = np.array(vocabulary.to_json(), np.int64)
        # D7FF stays and E000 becomes D800: so the numbers of all scalar values follow one another.
        self._known = points - 0x800 * (points >= 0xE000)  # numbered without the surrogates
        self._before = self._known - np.arange(len(points))  # unknown characters before each known one
        self._size = UNICODE_SCALAR_VALUES - len(points)

    def code(self, coder: Any, point: int | None = None) -> int:
        """Write the code point, or read one."""
        number = None
        if point is not None:
            number = point - 0x800 * (point >= 0xE000)
            number -= int(np.searchsorted(self._known, number))
        number = coder.code(coder.stream.model.Uniform(self._size), number)
        number += int(np.searchsorted(self._before, number, side="right"))
        return int(number + 0x800 * (number >= 0xD800))


def unrestorable_error() -> DecodingError:
    """The error for an undamaged file that this machine's arithmetic can't restore."""
    return DecodingError(
        "this text can't be restored here: the model's probabilities come out differently from where it was "
        "compressed (another processor, or other versions of numpy); decompress it there"
    )


DIGEST_BYTES = 8
"""Bytes of a digest."""


def signature(model: Any) -> bytes:
    """DIGEST_BYTES bytes that name a model. Raises ConfigError for Python functions, and other values."""
    kind, arrays = ("", model.to_tensors()) if isinstance(model, NgramModel) else _network_parts(model)
    parts = [np.array(model.vocabulary.to_json(), "<u4").tobytes(), model.normaliser.encode(), kind.encode()]
    for name, numbers in sorted(arrays.items()):
        if numbers is not None:
            parts += [f"{name} {numbers.dtype.str} {numbers.shape}".encode(), numbers.tobytes()]
    return short_digest(*parts)


def short_digest(*parts: bytes) -> bytes:
    """DIGEST_BYTES bytes of the SHA-256 of these parts."""
    return hashlib.sha256(b"".join(parts)).digest()[:DIGEST_BYTES]


def _network_parts(model: Any) -> tuple[str, dict[str, Array | None]]:
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


MAGIC, FORMAT = b"rnz", 4

START_STRUCT = struct.Struct("<3sBI")  # MAGIC, FORMAT, and the checksum of all that follows
NAME_STRUCT = struct.Struct(f"<{DIGEST_BYTES}s{DIGEST_BYTES}sI")  # model, text, number of characters
HEADER_BYTES = START_STRUCT.size + NAME_STRUCT.size  # bytes before the payload

FREE_BYTES = 4  # bytes that a payload may be short of its characters' least bits, as `_least` counts them


@dataclass(frozen=True)
class Header:
    """A compressed text, taken apart: `signature` names the model, `digest` the text."""

    signature: bytes
    digest: bytes
    characters: int
    payload: bytes


@checked
def compress(model: Model, text: str, *, progress: Progress | None = None) -> bytes:
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
    before, model_signature = make_reader(model), signature(model)
    text = normalise(text, model.normaliser)
    vocabulary, report = model.vocabulary, Reporter(progress)
    unknown = UnknownCode(vocabulary)
    symbol_code = SymbolCode(Encoder())
    points, ids = code_points(text), vocabulary.encode(text)
    for place, (symbol, point) in enumerate(zip(ids.tolist(), points.tolist(), strict=True)):
        report(place / len(text), place)
        symbol_code.symbol(_log_probs(before, model.name), symbol)
        if symbol == UNKNOWN_ID:
            unknown.code(symbol_code.coder, point)
        before.read(np.array([symbol]))
    # A reader refuses a header that claims more characters than its payload can hold.
    payload = symbol_code.coder.finish().ljust(_min_payload_bytes(len(text)), b"\0")
    report.end(len(text))
    checked: bytes = NAME_STRUCT.pack(model_signature, short_digest(points.tobytes()), len(text)) + payload
    return START_STRUCT.pack(MAGIC, FORMAT, zlib.crc32(checked)) + checked


@checked
def decompress(model: Model, data: bytes, *, progress: Progress | None = None) -> str:
    """The normalised text that `compress` was given; `progress` as there.

    Raises ConfigError for a text of another model. Raises DecodingError for bytes that are no compressed
    text, are cut off or damaged, and for a text that this machine's arithmetic can't restore.
    """
    header = read_header(data)
    if header.signature != signature(model):
        raise ConfigError(
            "this text was compressed with another model than {name!r} (its weights differ, or their "
            "preparation on this machine, or rnnviz 2.0.0 mixed it with another or let it learn); choose the "
            "model it was compressed with",
            name=model.name or "this one",
        )
    vocabulary = model.vocabulary
    point_of = [0, *map(ord, vocabulary.decode(range(1, vocabulary.size)))]
    before, unknown = make_reader(model), UnknownCode(vocabulary)
    symbol_code = SymbolCode(Decoder(header.payload))
    report = Reporter(progress)
    points = array("I")  # grows with the text: the header's length may be a mere claim
    for place in range(header.characters):
        report(place / header.characters, place)
        symbol = symbol_code.symbol(_log_probs(before, model.name))
        points.append(unknown.code(symbol_code.coder) if symbol == UNKNOWN_ID else point_of[symbol])
        before.read(np.array([symbol]))
    # Other rounding may decode other symbols without an error: only the digest tells.
    if short_digest(points.tobytes()) != header.digest:
        raise unrestorable_error()
    report.end(header.characters)
    return points.tobytes().decode("utf-32-le")


def read_header(data: bytes) -> Header:
    """A compressed text, taken apart. Raises DecodingError for other, damaged and older or newer files."""
    if not isinstance(data, bytes) or not data.startswith(MAGIC):
        raise DecodingError(
            "rnnviz did not compress this text: it doesn't begin like one; choose a file that was made with "
            "“compress this text with the model”"
        )
    # Before the checksum, as another format may keep it elsewhere.
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
    body = data[START_STRUCT.size :]
    if len(data) >= HEADER_BYTES and zlib.crc32(body) == START_STRUCT.unpack_from(data)[2]:
        model_signature, digest, characters = NAME_STRUCT.unpack_from(body)
        payload = body[NAME_STRUCT.size :]
        if len(payload) >= _min_payload_bytes(characters):  # a file that claims more would be read for days
            return Header(model_signature, digest, characters, payload)
    raise DecodingError("this compressed text is cut off or damaged; make or copy it again")


def _min_payload_bytes(characters: int) -> int:
    """The fewest bytes of a payload, so that a file's length bounds the text's.

    The bound is 524,288 characters, and 131,072 more for each byte. Only a text that is almost certain
    throughout would have fewer bytes: zeros fill it up.
    """
    return max(math.ceil(characters * MIN_CHARACTER_BITS / 8) - FREE_BYTES, 0)


def _log_probs(before: Reader, name: str) -> npt.NDArray[np.float64]:
    # NaN is the largest of an array that holds one.
    log_probs = before.log_probs()
    if not np.isfinite(log_probs.max()):
        raise CheckpointError(
            "the model {name!r} gives no probability for the next character: its weights are "
            "damaged, or its training diverged; use another model",
            name=name,
        )
    return log_probs

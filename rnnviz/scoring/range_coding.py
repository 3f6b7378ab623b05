"""Range coding: symbols written and read with the coder of the `constriction` package, loaded at first use.

Writing and reading are the same code: a call takes a symbol to write, or None to read, and returns the
symbol.
"""

import math
from typing import Any

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError, DecodingError, install
from rnnviz.text.vocabulary import UNICODE_SCALAR_VALUES, Vocabulary

NEAR = 14 * math.log(2)
"""Nats: symbols less probable than 2^-14 are coded in a second step."""
SPREAD = 4 * math.log(2)  # nats: symbols this close to the most probable one are always in the first step
MOST_STEPS = 1 << 10  # bounds the cost of one character, whatever a damaged model predicts

LEAST = 2.0**-14
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
    """Writes symbols; `code(distribution, symbol)` returns the symbol, as the decoder's does."""

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
        words = np.frombuffer(payload + b"\0" * (-len(payload) % 4), ">u4").astype(np.uint32)
        self._coder = self.stream.queue.RangeDecoder(words)

    def code(self, distribution: Any, symbol: int | None = None) -> int:
        try:
            return int(self._coder.decode(distribution))
        except AssertionError:  # the coder's own: no text ends in such numbers
            raise unrestorable() from None


class Steps:
    """Codes a symbol under a model's probabilities.

    The coder's probabilities have 24 bits. So symbols below 2^-14 share an escape symbol and are then coded
    among themselves, repeatedly if needed. A rarer escape is coded as several likelier ones in a row.
    """

    def __init__(self, coder: Any) -> None:
        self.coder = coder
        self._categorical = coder.stream.model.Categorical

    def symbol(self, log_p: Doubles, symbol: int | None = None) -> int:
        """Write `symbol`, or read one. `log_p` (V,) in nats sum to one, up to rounding."""
        left = np.arange(len(log_p))  # the symbols of `log_p`, of which each step leaves fewer
        while True:
            is_near = log_p >= min(-NEAR, log_p.max() - SPREAD)
            near, rest = left[is_near], left[~is_near]
            shares, escapes, escape = np.exp(log_p[is_near]), 0, 0.0
            if len(rest):  # their sum, e^log_rest, is coded as `escapes` symbols in a row, none below 2^-14
                log_p = log_p[~is_near]
                highest = float(log_p.max())
                log_rest = highest + math.log(float(np.exp(log_p - highest).sum()))
                escapes = min(max(1, math.ceil(-log_rest / NEAR)), MOST_STEPS)
                escape = max(math.exp(log_rest / escapes), math.exp(-NEAR))
                shares = np.append(shares, escape)
                log_p = log_p - log_rest
            place = None
            if symbol is not None:
                place = int(np.searchsorted(near, symbol)) if symbol in near else len(near)
            place = self.coder.code(self._categorical(shares, lazy=True), place) if len(shares) > 1 else 0
            if place < len(near):
                return int(near[place])
            for _ in range(escapes - 1):
                if not self.coder.code(self._categorical(np.array([1 - escape, escape]), lazy=True), 1):
                    raise unrestorable()
            left = rest


class Unknown:
    """The characters outside a vocabulary: all other Unicode scalar values, equally likely."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        points = np.array(vocabulary.to_json(), np.int64)
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


def unrestorable() -> DecodingError:
    """The error for an undamaged file that this machine's arithmetic can't restore."""
    return DecodingError(
        "this text can't be restored here: the model's probabilities come out differently from where it was "
        "compressed (another processor, or other versions of numpy); decompress it there"
    )

"""Contamination: whether a model was trained on a text, by a sketch that holds no text; and whether a text is
foreign to a model.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from rnnviz.networks.modelfile import Sketch
from rnnviz.text.vocabulary import code_points

NGRAM_CHARS = 24
"""Characters of an n-gram: enough that two texts of the same language share hardly any by chance."""

MAX_HASHES = 1 << 14
"""Hashes of a sketch at most, of 4 bytes each."""

BLOCK_CHARS = 1 << 16  # characters hashed at a time

Hashes = npt.NDArray[np.uint64]
Unsigned = TypeVar("Unsigned", np.uint32, np.uint64)

# Odd numbers without a pattern, which must never change: every stored sketch was made with them.
# 2^64 divided by the golden ratio, and the factors of SplitMix64.
_HASH_BASE = 0x9E3779B97F4A7C15
_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_SPACE = np.array([chr(point).isspace() for point in range(0x3002)])  # no space lies beyond


@dataclass(frozen=True)
class Contamination:
    """The `share` of a text, 0 to 1, that a model was trained on: an estimate from `sampled` n-grams of the
    text; 0 for a text too short to have any.
    """

    share: float
    sampled: int

    @property
    def error(self) -> float:
        """The estimate's standard error for independent n-grams; 1 if there are none."""
        n = self.sampled
        return float(np.sqrt(self.share * (1 - self.share) / n)) if n else 1.0


def sketch(text: str) -> Sketch:
    """The sketch of a training text: the hashes of its n-grams that `modulus` divides, at most MAX_HASHES."""
    # Hashes that a number divides are a random sample, and the same sample in every text: so a text can be
    # compared with a sketch without the other text. The modulus grows with the text, and the sketch stays
    # small.
    chosen = _unique(np.concatenate([np.empty(0, np.uint64), *_hashes([text])]))
    modulus = max(1, -(-len(chosen) // MAX_HASHES))
    # The quotient keeps about as many as wanted; a file's size needs the exact bound.
    while np.count_nonzero(chosen % np.uint64(modulus) == 0) > MAX_HASHES:
        modulus += 1
    return Sketch(_sampled(chosen, modulus), modulus)


def share(text: str | Iterable[str], sketch: Sketch) -> Contamination:
    """The share of `text`, a str or its pieces, that is in `sketch`; repeated n-grams count each time."""
    sampled = matched = 0
    for hashes in _hashes([text] if isinstance(text, str) else text):
        chosen = _bits(hashes[hashes % np.uint64(sketch.modulus) == 0])
        sampled += len(chosen)
        if len(sketch.hashes):
            places = np.searchsorted(sketch.hashes, chosen)
            matched += int((sketch.hashes[np.minimum(places, len(sketch.hashes) - 1)] == chosen).sum())
    return Contamination(matched / sampled if sampled else 0.0, sampled)


def _sampled(hashes: Hashes, modulus: int) -> npt.NDArray[np.uint32]:
    return _unique(_bits(hashes[hashes % np.uint64(modulus) == 0]))


def _unique(numbers: npt.NDArray[Unsigned]) -> npt.NDArray[Unsigned]:
    """The numbers in order, each once. With counts NumPy 2.4 sorts, fifty times as fast as it hashes."""
    return np.unique(numbers, return_counts=True)[0]


def _bits(hashes: Hashes) -> npt.NDArray[np.uint32]:
    """The hashes' upper halves: of 16,384, a strange n-gram passes for a known one 4 times in a million."""
    return (hashes >> np.uint64(32)).astype(np.uint32)


def _hashes(pieces: Iterable[str]) -> Iterator[Hashes]:
    """The hashes of a text's n-grams, in order; a run of white space counts as one space."""
    carried = np.empty(0, np.uint32)  # the last n - 1 characters
    in_space = False
    for piece in pieces:
        for start in range(0, len(piece), BLOCK_CHARS):
            points = code_points(piece[start : start + BLOCK_CHARS])
            # Texts that differ in line breaks or indentation alone count as the same.
            white = _SPACE[np.minimum(points, len(_SPACE) - 1)]
            repeated = white & np.concatenate([[in_space], white[:-1]])
            in_space = bool(white[-1])
            points = np.concatenate([carried, np.where(white, np.uint32(32), points)[~repeated]])
            if len(points) >= NGRAM_CHARS:
                yield _mixed(_rolled(points))
            carried = points[-(NGRAM_CHARS - 1) :]


def _rolled(points: npt.NDArray[np.uint32]) -> Hashes:
    """Σ_j B^(23-j) x_{i+j} modulo 2^64 of every n-gram, from sums of 1, 2, 4, 8 and 16 terms."""
    # 24 = 16 + 8 terms. Doubling the length takes one product and one sum for all positions at once, so five
    # of them stand for a rolling hash, which would be a loop in Python.
    sums, base = _mixed(points.astype(np.uint64)), _HASH_BASE
    for length in (1, 2, 4):
        sums = sums[:-length] * np.uint64(base) + sums[length:]
        base = base * base % (1 << 64)
    sixteen = sums[:-8] * np.uint64(base) + sums[8:]  # base is B^8 here
    return sixteen[:-8] * np.uint64(base) + sums[16:]


def _mixed(values: Hashes) -> Hashes:
    """SplitMix64's finaliser (G. Steele and others, 2014)."""
    values = values + np.uint64(_HASH_BASE)
    for shift, factor in ((30, _MIX[0]), (27, _MIX[1])):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values ^ (values >> np.uint64(31))


# Whether a text is foreign to a model: another language, or another kind of text than its training text.


MAX_UNKNOWN_SHARE = 0.1
"""Share of characters outside the vocabulary above which a text is foreign."""

MIN_JUDGED_CHARS = 10
"""Characters of a text below which nothing is said."""

ForeignReason = Literal["", "unknown", "surprise"]


def foreign_reason(
    card: Mapping[str, Any], characters: int, unknown: int, bits: float | None
) -> ForeignReason:
    """The reason why a text is foreign to the model with this card; "" if it isn't.

    characters  of the text; `unknown` of them are outside the model's vocabulary
    bits        per character, as the model read it

    "surprise" begins max(2, b / 2) + 40 / n bits above b, the bits per character of the model's own held-out
    text, with n for `characters`. Short texts scatter, and so do texts with many different characters.

    >>> card = {"held_out": {"perplexity": 4.0}}
    >>> reasons = [foreign_reason(card, 80, 9, 3.0), foreign_reason(card, 80, 0, 4.4)]
    >>> [*reasons, foreign_reason(card, 80, 0, 4.6), foreign_reason({}, 80, 0, 40.0)]
    ['unknown', '', 'surprise', '']
    """
    if characters < MIN_JUDGED_CHARS:
        return ""
    if unknown > MAX_UNKNOWN_SHARE * characters:
        return "unknown"
    usual_bits = held_out_bits(card)
    if bits is None or usual_bits is None:
        return ""
    return "surprise" if bits - usual_bits > max(2.0, usual_bits / 2) + 40 / characters else ""


def held_out_bits(card: Mapping[str, Any]) -> float | None:
    """Bits per character of the model's own held-out text; None if its card doesn't tell.

    >>> held_out_bits({"held_out": {"perplexity": 8.0}})
    3.0
    """
    figures = card.get("held_out")
    perplexity = figures.get("perplexity") if isinstance(figures, Mapping) else None
    if not isinstance(perplexity, int | float) or not 1 <= perplexity < math.inf:
        return None
    return math.log2(perplexity)

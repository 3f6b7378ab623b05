"""What a text costs without a language model, in bits per character of the normalised text. All streams."""

import lzma
import math
import zlib
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from rnnviz.errors import EmptyTextError
from rnnviz.reading.scoring import of_sum
from rnnviz.reports.column_files import ColumnFiles
from rnnviz.text.vocabulary import Vocabulary, code_points

Text = ColumnFiles | str | Iterable[str]
"""A scored text, a text, or a text in chunks; read once."""

CHUNK = 1 << 16  # characters handed to the compressors at a time

XZ_WINDOW = 1 << 24
"""xz looks back this many bytes, not the 64 MB of its highest preset, which takes 600 MB of memory."""


@dataclass(frozen=True)
class Baseline:
    """One way to encode a text; `bytes` is a compressed file's size, None for the others."""

    name: str
    bits_per_character: float
    perplexity: float
    bytes: int | None = None


def uniform(vocabulary: Vocabulary, text: ColumnFiles | None = None) -> Baseline:
    """Every symbol has probability 1 / V; the unknown characters of a scored `text` keep their cost."""
    n = len(text) if text is not None else 1
    unknown = 0
    if text is not None:
        unknown = sum(int(np.count_nonzero(rank < 0)) for _, rank in text.stretches("rank"))
    return _baseline("uniform", n * math.log(vocabulary.size) + unknown * vocabulary.unknown_cost, n)


def unigram(text: Text) -> Baseline:
    """The entropy of the text's own frequencies, a lower bound. Raises EmptyTextError for no text."""
    counts = np.zeros(0x110000, np.int64)
    for codes in _codes(text):
        here = np.bincount(codes)
        counts[: len(here)] += here
    counts = counts[counts > 0]
    n = int(counts.sum())
    if not n:
        raise _nothing()
    # n log n - Σ c log c; a text of one character repeated must come to 0, not to a rounding error below it.
    nats = float((counts * np.log(n / counts)).sum())
    return _baseline("unigram", nats, n)


def measuring(text: ColumnFiles, vocabulary: Vocabulary) -> Generator[int, None, list[Baseline]]:
    """A scored text's cost by chance, its own frequencies, gzip and xz, with the model's `vocabulary`; yields
    the characters done.
    """
    found = [uniform(vocabulary, text), unigram(text)]
    return found + (yield from compressing(text))


def compressing(text: Text) -> Generator[int, None, list[Baseline]]:
    """gzip -9 and xz -9e on the UTF-8 text; yields the characters done. Raises EmptyTextError."""
    gzip = zlib.compressobj(9, zlib.DEFLATED, 31)  # 31: a gzip file's header and checksum
    xz: lzma.LZMACompressor | None = None
    size = len(text) if isinstance(text, ColumnFiles | str) else None
    gzip_bytes = xz_bytes = n = 0
    for chunk in _chunks(text):
        data = chunk.encode("utf-8")
        if xz is None:
            # A window beyond the text's end gains nothing and takes memory; a character has at most 4 bytes.
            window = XZ_WINDOW if size is None else min(XZ_WINDOW, max(1 << 16, 4 * size))
            filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": window}]
            xz = lzma.LZMACompressor(lzma.FORMAT_XZ, filters=filters)
        gzip_bytes += len(gzip.compress(data))
        xz_bytes += len(xz.compress(data))
        n += len(chunk)
        yield n
    if xz is None:
        raise _nothing()
    gzip_bytes += len(gzip.flush())
    xz_bytes += len(xz.flush())
    return [
        _baseline(name, size * 8 * math.log(2), n, size)
        for name, size in (("gzip", gzip_bytes), ("xz", xz_bytes))
    ]


def _baseline(name: str, nats: float, characters: int, size: int | None = None) -> Baseline:
    return Baseline(name, nats / math.log(2) / characters, of_sum(nats, characters), size)


def _codes(text: Text) -> Iterator[np.ndarray[tuple[int], np.dtype[np.uint32]]]:
    if isinstance(text, ColumnFiles):
        for _, codes in text.stretches("codes"):
            yield codes
    else:
        for chunk in _chunks(text):
            yield code_points(chunk)


def _chunks(text: Text) -> Iterator[str]:
    parts = text.texts() if isinstance(text, ColumnFiles) else [text] if isinstance(text, str) else text
    for part in parts:
        for start in range(0, len(part), CHUNK):
            yield part[start : start + CHUNK]


def _nothing() -> EmptyTextError:
    return EmptyTextError("a text of no characters costs nothing; choose another text")

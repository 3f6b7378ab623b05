"""Baselines: a text's cost by a uniform guess, by letter frequencies, and by compressors."""

import lzma
import math
import zlib
from collections.abc import Generator
from typing import Any

import numpy as np

from rnnviz.scoring.record import Record
from rnnviz.scoring.score import Compared
from rnnviz.scoring.totals import of_sum
from rnnviz.text.vocabulary import Vocabulary

CHUNK = 1 << 16  # characters handed to the compressors at a time

XZ_WINDOW = 1 << 24
"""xz looks back this many bytes, not the 64 MB of its highest preset, which takes 600 MB of memory."""


def measuring(scored: Record, vocabulary: Vocabulary) -> Generator[int, None, list[Compared]]:
    """The cost of a scored text under each baseline. Streams; yields the characters done.

    The baselines are a uniform guess over the model's `vocabulary`; the entropy of the text's own letter
    frequencies, a lower bound; and the size in UTF-8 after gzip -9 and xz -9e.
    """
    n = len(scored)
    counts = np.zeros(0x110000, np.int64)
    # A window beyond the text's end gains nothing and takes memory; a character has at most 4 bytes.
    window = min(XZ_WINDOW, max(1 << 16, 4 * n))
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": window}]
    compressors: dict[str, Any] = {
        "gzip": zlib.compressobj(9, zlib.DEFLATED, 31),  # 31: a gzip file's header and checksum
        "xz": lzma.LZMACompressor(lzma.FORMAT_XZ, filters=filters),
    }
    sizes = dict.fromkeys(compressors, 0)
    for start, codes in scored.stretches("codes"):
        here = np.bincount(codes)
        counts[: len(here)] += here
        for at in range(0, len(codes), CHUNK):
            chunk = codes[at : at + CHUNK]
            data = chunk.tobytes().decode("utf-32-le").encode()
            for name, compressor in compressors.items():
                sizes[name] += len(compressor.compress(data))
            yield start + at + len(chunk)
    counts = counts[counts > 0]
    # n log n - Σ c log c; a text of one character repeated must come to 0, not to a rounding error below it.
    entropy = float((counts * np.log(n / counts)).sum()) / n
    guess = math.log(scored.score.guess)
    found = [
        _cost("uniform", "uniform", f"a uniform guess among {vocabulary.size:,}", guess),
        _cost("unigram", "unigram", "the file's own frequencies, for free", entropy),
    ]
    for name, compressor in compressors.items():
        nats = (sizes[name] + len(compressor.flush())) * 8 * math.log(2) / n
        found.append(_cost(name, "compressor", "a compressor at its best", nats))
    return found


def _cost(name: str, kind: str, about: str, nats: float) -> Compared:
    """A baseline's cost, from nats a character."""
    return Compared(name, kind, about, of_sum(nats, 1), nats / math.log(2))

"""Baselines: a text's cost by a uniform guess, by letter frequencies, and by compressors.

The uniform guess is over the symbols that a model read. The others are of the text's own characters, not
normalised, whichever model is chosen; they too cost bits per character as read, so that rows compare.
"""

import lzma
import math
import zlib
from dataclasses import replace
from typing import Any

import numpy as np

from rnnviz.networks.progress import Progress, Reporter
from rnnviz.scoring.score import CostRow, Score
from rnnviz.scoring.totals import perplexity_from_sum
from rnnviz.text.decoding import CRLF, SourceText
from rnnviz.text.vocabulary import Vocabulary, code_points

CHUNK_CHARS = 1 << 16  # characters handed to the compressors at a time

XZ_WINDOW = 1 << 24
"""xz looks back this many bytes, not the 64 MB of its highest preset, which takes 600 MB of memory."""


def measure(
    score: Score, source: SourceText, vocabulary: Vocabulary, progress: Progress | None = None
) -> list[CostRow]:
    """The cost of a scored text under each baseline. Streams `source`, as far as it was scored.

    The baselines are a uniform guess over the model's `vocabulary`; the entropy of the text's own letter
    frequencies, a lower bound; and the size in UTF-8 after gzip -9 and xz -9e.
    """
    n, done, report = score.characters, 0, Reporter(progress)
    counts = np.zeros(0x110000, np.int64)
    # A window beyond the text's end gains nothing and takes memory.
    window = min(XZ_WINDOW, max(1 << 16, score.bytes))
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": window}]
    compressors: dict[str, Any] = {
        "gzip": zlib.compressobj(9, zlib.DEFLATED, 31),  # 31: a gzip file's header and checksum
        "xz": lzma.LZMACompressor(lzma.FORMAT_XZ, filters=filters),
    }
    sizes = dict.fromkeys(compressors, 0)
    for piece in source.raw_pieces(CHUNK_CHARS, n):  # the reader may have stopped the scoring
        done += len(piece)
        original = piece.replace(CRLF, "\r\n")
        piece_counts = np.bincount(code_points(original))
        counts[: len(piece_counts)] += piece_counts
        for name, compressor in compressors.items():
            sizes[name] += len(compressor.compress(original.encode()))
        report(done / n, done)
    report.end(done)
    counts = counts[counts > 0]
    # N log N - Σ c log c; a text of one character repeated must come to 0, not to a rounding error below it.
    entropy = float((counts * np.log(counts.sum() / counts)).sum()) / n
    guess = math.log(score.guess)
    rows = [
        replace(
            _baseline_row("uniform", "uniform", f"a uniform guess among {vocabulary.size:,}", guess),
            reading=score.reading,
        ),
        _baseline_row("unigram", "unigram", "the file's own frequencies, for free", entropy),
    ]
    for name, compressor in compressors.items():
        nats = (sizes[name] + len(compressor.flush())) * 8 * math.log(2) / n
        rows.append(_baseline_row(name, "compressor", "a compressor at its best, of the file as it is", nats))
    return rows


def _baseline_row(name: str, kind: str, about: str, nats: float) -> CostRow:
    """A baseline's cost, from nats a character."""
    return CostRow(name, kind, about, perplexity_from_sum(nats, 1), nats / math.log(2))

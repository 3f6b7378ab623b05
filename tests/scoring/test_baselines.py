"""What a text costs without a model: against the definitions and against the compressors' own files."""

import gzip
import lzma
import math
from collections import Counter

import pytest

from rnnviz.networks.progress import Share
from rnnviz.scoring.baselines import measure
from rnnviz.scoring.perplexity import UniformModel, perplexity, score
from rnnviz.text.characters import NORMALISERS
from rnnviz.text.vocabulary import Vocabulary
from tests.support.decoded import source_of
from tests.support.models import TEXT

VOCABULARY = Vocabulary(("a", "b"))


@pytest.mark.parametrize("text", ["abab", "ab道a😀", TEXT, "道" * 1000, "naïve\n" * 30_000], ids=len)
def test_baseline_costs_what_its_definition_or_its_file_says(text: str) -> None:
    n, data, score = len(text), text.encode(), perplexity(UniformModel(VOCABULARY), text)
    rows = {row.name: row for row in measure(score, source_of(text), VOCABULARY)}
    assert rows["uniform"].bits_per_character == pytest.approx(score.bits_per_character)
    entropy = sum(c / n * math.log2(n / c) for c in Counter(text).values())
    assert rows["unigram"].bits_per_character == pytest.approx(entropy, rel=1e-12)
    assert rows["gzip"].bits_per_character == pytest.approx(8 * len(gzip.compress(data, 9)) / n)
    best = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
    assert rows["xz"].bits_per_character == pytest.approx(8 * len(best) / n)
    for row in rows.values():
        assert math.log2(row.perplexity) == pytest.approx(row.bits_per_character, abs=1e-12)


def test_baselines_report_progress_and_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    score = perplexity(UniformModel(VOCABULARY), "ab" * 100_000)
    whole = measure(score, source_of("ab" * 100_000), VOCABULARY)
    monkeypatch.setattr("rnnviz.scoring.baselines.CHUNK_CHARS", 65_536)
    monkeypatch.setattr("rnnviz.networks.progress.REPORT_INTERVAL_S", 0.0)
    shares: list[Share] = []
    in_pieces = measure(score, source_of("ab" * 100_000), VOCABULARY, shares.append)
    assert [share.characters for share in shares] == [65_536, 131_072, 196_608, 200_000, 200_000]
    assert in_pieces[:2] == whole[:2]


def test_file_figures_are_equal_under_every_normaliser() -> None:
    text = "“Wait…” – he said.\r\n「走」\rIt’s late.\n" * 40
    figures = []
    for normaliser in NORMALISERS:
        score = perplexity(UniformModel(VOCABULARY, normaliser=normaliser), text)
        rows = {row.name: row for row in measure(score, source_of(text), VOCABULARY)}
        assert rows["uniform"].reading == score.reading == ("" if normaliser == "newlines" else normaliser)
        assert {rows[name].reading for name in ("unigram", "gzip", "xz")} == {""}
        figures.append((score.bytes, score.characters, *(rows[name] for name in ("unigram", "gzip", "xz"))))
    assert figures == figures[:1] * len(NORMALISERS)
    assert score.bytes == len(text.encode())
    packed = 8 * len(gzip.compress(text.encode(), 9))
    assert rows["gzip"].bits_per_character == pytest.approx(packed / score.characters)
    entropy = sum(c * math.log2(len(text) / c) for c in Counter(text).values())
    assert rows["unigram"].bits_per_character == pytest.approx(entropy / score.characters, rel=1e-12)


def test_stopped_text_is_measured_as_far_as_it_was_read() -> None:
    text = "ab\r\nb" * 3_000
    short = perplexity(UniformModel(VOCABULARY), text=text[:5_000])
    stopped = score(UniformModel(VOCABULARY), text=text, max_characters=short.characters)
    assert (stopped.characters, stopped.bytes) == (4_000, 5_000)
    assert measure(stopped, source_of(text), VOCABULARY) == measure(
        short, source_of(text[:5_000]), VOCABULARY
    )

"""What a text costs without a model: against the definitions and against the compressors' own files."""

import gzip
import lzma
import math
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.networks.progress import run
from rnnviz.reading.scoring import UniformModel, perplexity
from rnnviz.reports.baselines import Baseline, Text, compressing, measuring, uniform, unigram
from rnnviz.text.vocabulary import Vocabulary
from tests.conftest import TEXT
from tests.reports.recorded import recorded, told


def test_uniform_is_the_size_of_the_vocabulary() -> None:
    found = uniform(Vocabulary(tuple("abcdefg")))
    assert (found.name, found.bits_per_character, found.bytes) == ("uniform", 3, None)
    assert found.perplexity == pytest.approx(8, rel=1e-12)


def test_uniform_on_a_text_is_what_scoring_says(tmp_path: Path) -> None:
    vocabulary = Vocabulary(("a", "b"))
    made = recorded(tmp_path, UniformModel(vocabulary), "ab道a😀")
    expected = perplexity(UniformModel(vocabulary), text="ab道a😀")
    found = uniform(vocabulary, made)
    assert found.perplexity == pytest.approx(expected.perplexity, rel=1e-12)
    assert found.bits_per_character == pytest.approx(expected.bits_per_character, rel=1e-12)


def compressors(text: Text) -> list[Baseline]:
    return run(compressing(text))


def test_unigrams_on_paper() -> None:
    assert unigram("abab") == Baseline("unigram", 1.0, 2.0)
    assert unigram("aabc").bits_per_character == pytest.approx(1.5)
    assert unigram("道" * 1000) == Baseline("unigram", 0.0, 1.0)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
def test_unigram_is_the_entropy_of_the_frequencies(text: str) -> None:
    n = len(text)
    expected = sum(c / n * math.log2(n / c) for c in Counter(text).values())
    found = unigram(iter([text[: n // 2], "", text[n // 2 :]]))
    assert found.bits_per_character == pytest.approx(expected, abs=1e-12)
    assert found.perplexity == pytest.approx(2**expected)


@pytest.mark.parametrize("text", ["a", TEXT, "道可道，非常道。" * 50, "naïve\n" * 30_000], ids=len)
def test_compressors_are_as_large_as_the_files_they_write(text: str, tmp_path: Path) -> None:
    data = text.encode()
    by_gzip, by_xz = compressors(text)
    assert (by_gzip.name, by_xz.name) == ("gzip", "xz")
    assert by_gzip.bytes == len(gzip.compress(data, 9))
    assert by_xz.bytes == len(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    for found in (by_gzip, by_xz):
        assert found.bytes is not None
        assert found.bits_per_character == pytest.approx(8 * found.bytes / len(text))
        assert math.log2(found.perplexity) == pytest.approx(found.bits_per_character)
    assert compressors(told(tmp_path, text, np.ones(len(text)))) == [by_gzip, by_xz]
    assert compressors(text[i : i + 7] for i in range(0, len(text), 7))[
        0
    ].bits_per_character == pytest.approx(by_gzip.bits_per_character, rel=0.01)


def test_compressing_tells_how_far_it_is_and_can_be_stopped() -> None:
    steps = compressing("ab" * 100_000)
    assert [next(steps) for _ in range(3)] == [65_536, 131_072, 196_608]
    steps.close()
    assert list(compressing("abc")) == [3]


def test_all_of_them_are_measured_on_a_scored_text(tmp_path: Path) -> None:
    vocabulary = Vocabulary.from_text(TEXT)
    made = recorded(tmp_path, UniformModel(vocabulary), TEXT)
    assert run(measuring(made, vocabulary)) == [uniform(vocabulary, made), unigram(TEXT), *compressors(TEXT)]


def _chunks(n: int) -> Iterator[str]:
    return ("it was the best of times, it was the worst\n" * 1000 for _ in range(n))


@pytest.mark.parametrize("measure", [unigram, compressors])
def test_memory_does_not_grow_with_the_text(measure) -> None:
    def peak(n: int) -> int:
        tracemalloc.start()
        try:
            measure(_chunks(n))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)
    assert peak(100) < peak(2) * 1.1 + 200_000

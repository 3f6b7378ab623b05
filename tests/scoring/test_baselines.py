"""What a text costs without a model: against the definitions and against the compressors' own files."""

import gzip
import lzma
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from rnnviz.networks.progress import run
from rnnviz.scoring.baselines import measuring
from rnnviz.scoring.perplexity import UniformModel
from rnnviz.scoring.score import Compared
from rnnviz.text.vocabulary import Vocabulary
from tests.conftest import TEXT
from tests.scoring.recorded import recorded

VOCABULARY = Vocabulary(("a", "b"))
Measured = Callable[[str], dict[str, Compared]]


@pytest.fixture
def measured(tmp_path: Path) -> Measured:
    def costs(text: str) -> dict[str, Compared]:
        made = recorded(tmp_path, UniformModel(VOCABULARY), text)
        return {one.name: one for one in run(measuring(made, VOCABULARY))}

    return costs


@pytest.mark.parametrize("text", ["abba", "ab道a😀"])
def test_uniform_is_what_scoring_says(text: str, tmp_path: Path, measured: Measured) -> None:
    score = recorded(tmp_path, UniformModel(VOCABULARY), text).score
    found = measured(text)["uniform"]
    assert found.kind == "uniform"
    assert found.perplexity == pytest.approx(score.perplexity, rel=1e-5)
    assert found.bits_per_character == pytest.approx(score.bits_per_character, rel=1e-5)


@pytest.mark.parametrize("text", ["abab", "aabc", TEXT, "道" * 1000, "naïve\n" * 30_000], ids=len)
def test_each_costs_what_its_definition_or_its_file_says(text: str, measured: Measured) -> None:
    n, data = len(text), text.encode()
    found = measured(text)
    entropy = sum(c / n * math.log2(n / c) for c in Counter(text).values())
    assert found["unigram"].bits_per_character == pytest.approx(entropy, rel=1e-12)
    assert found["gzip"].bits_per_character == pytest.approx(8 * len(gzip.compress(data, 9)) / n)
    best = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
    assert found["xz"].bits_per_character == pytest.approx(8 * len(best) / n)
    for one in found.values():
        assert math.log2(one.perplexity) == pytest.approx(one.bits_per_character, abs=1e-12)


def test_it_tells_how_far_it_is_and_a_text_in_pieces_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = recorded(tmp_path, UniformModel(VOCABULARY), "ab" * 100_000)
    whole = run(measuring(made, VOCABULARY))
    for module in ("column_files.STRETCH", "baselines.CHUNK"):
        monkeypatch.setattr(f"rnnviz.scoring.{module}", 65_536)
    assert list(measuring(made, VOCABULARY)) == [65_536, 131_072, 196_608, 200_000]
    assert run(measuring(made, VOCABULARY))[:2] == whole[:2]

"""Perplexity: by hand, by a plain loop, for every way of cutting a text."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rnnviz.networks.progress import Share
from rnnviz.scoring.perplexity import UniformModel, perplexity, running_perplexity, score
from rnnviz.scoring.totals import Sum, character_costs
from rnnviz.text.vocabulary import UNICODE_SCALAR_VALUES, UNKNOWN_ID, Vocabulary
from tests.support.closeness import close
from tests.support.paper import AB, Paper

UNKNOWN_CHARACTERS = UNICODE_SCALAR_VALUES - 2


def by_hand(model: Paper, text: str) -> tuple[float, float | None, int]:
    """Perplexity, that of the known characters, and the number of unknown ones, one character at a time."""
    is_known = [character in model.characters for character in text]
    read = ["", *text]
    nats = np.array([-math.log(model.probability(*pair)) for pair in itertools.pairwise(read)])
    return (
        math.exp(nats.mean()),
        math.exp(nats[is_known].mean()) if any(is_known) else None,
        is_known.count(False),
    )


@pytest.mark.parametrize(
    ("text", "p", "p_known"),
    [
        ("a", 0.5, 0.5),  # the first character counts
        ("b", 0.25, 0.25),
        ("abba", 0.5 * 0.7 * 0.5 * 0.3, 0.5 * 0.7 * 0.5 * 0.3),
        ("a道b", 0.5 * 0.1 * 0.25 / UNKNOWN_CHARACTERS, 0.5 * 0.25),  # the unknown one is one of so many
        ("道道", 0.25 * 0.5 / UNKNOWN_CHARACTERS**2, None),
    ],
)
def test_a_perplexity_computed_on_paper(text: str, p: float, p_known: float | None) -> None:
    n, unknown = len(text), text.count("道")
    expected = {
        "perplexity": p ** (-1 / n),
        "perplexity_known": None if p_known is None else p_known ** (-1 / (n - unknown)),
        "bits_per_character": -math.log2(p) / n,
        "bits_per_byte": -math.log2(p) / (n + 2 * unknown),
        "characters": n,
        "unknown": unknown,
        "bytes": n + 2 * unknown,
    }
    figures = perplexity(AB, text=text).to_json()
    assert close({name: figures[name] for name in expected}, expected, rel=1e-12)


@pytest.mark.parametrize("model", [AB, UniformModel(Vocabulary(("a", "b")))], ids=lambda model: model.name)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_probabilities_of_all_strings_sum_to_one(model, length: int) -> None:
    # Every unknown character is as likely as the next: one stands for all of them.
    total, alphabet = 0.0, model.vocabulary.characters
    for symbols in itertools.product([*alphabet, "?"], repeat=length):
        probability = perplexity(model, text="".join(symbols)).perplexity ** -length
        total += probability * (UNICODE_SCALAR_VALUES - len(alphabet)) ** symbols.count("?")
    assert total == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("size", [1, 2, 26, 69, 4506])
def test_a_uniform_model_scores_exactly_its_vocabulary(size: int) -> None:
    vocabulary = Vocabulary(tuple(map(chr, range(0x4E00, 0x4E00 + size))))
    text = "".join(vocabulary.characters) * (20_000 // size)
    score = perplexity(UniformModel(vocabulary), text=text)
    assert score.perplexity == pytest.approx(vocabulary.size, rel=1e-12)


@given(st.text(alphabet="ab道\r\n", min_size=1, max_size=60), st.integers(1, 70))
def test_perplexity_equals_a_plain_loop_however_the_text_is_cut(text: str, piece: int) -> None:
    normalised = text.replace("\r\n", "\n").replace("\r", "\n")
    expected = dict(zip(("perplexity", "perplexity_known", "unknown"), by_hand(AB, normalised), strict=True))
    expected |= {
        "characters": len(normalised),
        "normalised": text.count("\r"),
        "bytes": len(text.encode("utf-8")),
    }
    for figures in (score(AB, text=text, piece_chars=piece).to_json(), perplexity(AB, text=text).to_json()):
        assert close({name: figures[name] for name in expected}, expected, rel=1e-12)


def test_a_file_a_path_and_a_text_give_the_same_number(tmp_path: Path) -> None:
    text = "abba\r\n道ab\rb" * 5_000
    path = tmp_path / "book.txt"
    path.write_bytes(text.encode("utf-8"))
    expected = perplexity(AB, text=text)
    with path.open("rb") as file:
        scores = [
            perplexity(AB, path),
            perplexity(AB, path=str(path)),
            perplexity(AB, file, name="upload.txt"),
        ]
    same = {"file": expected.file, "seconds": expected.seconds, "encoding": None, "certainty": None}
    for file_score, name in zip(scores, (str(path), str(path), "upload.txt"), strict=True):
        assert (file_score.file, file_score.encoding, file_score.certainty) == (name, "utf-8", "verified")
        assert close(asdict(replace(file_score, **same)), asdict(expected), rel=1e-12)  # type: ignore[arg-type]
    assert (expected.file, expected.encoding, expected.certainty) == ("this text", None, None)


def test_costs_and_running_perplexity() -> None:
    vocabulary = Vocabulary(("a", "b"))
    nll = character_costs(np.log([0.5, 0.25]).astype(np.float32), np.array([1, UNKNOWN_ID]), vocabulary)
    assert nll.dtype == np.float64
    assert nll.tolist() == pytest.approx([math.log(2), math.log(4) + vocabulary.unknown_cost])
    assert running_perplexity(nll).tolist() == pytest.approx([2, math.sqrt(8 * UNKNOWN_CHARACTERS)])
    assert running_perplexity([]).shape == (0,)
    assert running_perplexity([1.0, 1e4]).tolist() == [pytest.approx(math.e), math.inf]


@given(st.lists(st.floats(-1e12, 1e12)))
@example([1e16, *[1.0] * 1000])
def test_a_sum_loses_nothing(values: list[float]) -> None:
    total = Sum()
    for value in values:
        total.add(value)
    assert total.value == pytest.approx(math.fsum(values), rel=1e-16, abs=1e-3)


def test_progress_is_reported_as_the_text_is_read(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_bytes(b"abba" * 50_000)
    steps: list[Share] = []

    score = perplexity(AB, path, progress=steps.append)
    assert steps[-1] == Share(1.0, 200_000, pytest.approx(score.perplexity, rel=1e-12))
    assert [share.characters for share in steps] == sorted(share.characters for share in steps)
    for share in steps:
        # Reading runs ahead of scoring by a little more than a piece.
        assert share.characters <= share.fraction * 200_000 <= share.characters + 20_000


def _peak(path: Path) -> int:
    tracemalloc.start()
    try:
        perplexity(UniformModel(Vocabulary(("a", "b"))), path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*read as cp1252, a guess:UserWarning")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_memory_does_not_grow_with_the_file(encoding: str, tmp_path: Path) -> None:
    small, large = tmp_path / "small.txt", tmp_path / "large.txt"
    block = ("It was a naïve café.\r\n" * 4_000).encode(encoding.replace("utf-16", "utf-16-le"))
    mark = b"\xff\xfe" if encoding == "utf-16" else b""
    for path, size in ((small, 500_000), (large, 3_000_000)):
        with path.open("wb") as file:
            file.write(mark)
            for _ in range(size // len(block)):
                file.write(block)
    _peak(small)  # what is imported and cached on first use is not the file's
    before = _peak(small)
    after = _peak(large)
    assert after < before * 1.1 + 100_000
    assert after < 5_000_000

"""Where a perplexity comes from: every part against a plain computation over the whole text."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.errors import ConfigError
from rnnviz.scoring import column_files as columns_module
from rnnviz.scoring.breakdown import Passage, compare_records
from rnnviz.scoring.perplexity import running_perplexity
from rnnviz.scoring.record import Record
from tests.support.models import tiny
from tests.support.recorded import NGRAM, make_record, record_costs


@pytest.fixture(params=[1 << 18, 7, 64], ids="stretches of {}".format)
def stretch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Where the text is cut while it is read must change nothing."""
    for module in ("scoring.column_files", "scoring.breakdown"):
        monkeypatch.setattr(f"rnnviz.{module}.STRETCH_CHARS", request.param)
    return request.param


@pytest.fixture
def book(tmp_path: Path) -> Record:
    return make_record(tmp_path, NGRAM, "A traveller! He is 道 quiet;\n\nthe Time.\n" * 100)


@pytest.mark.parametrize("window", [1, 50, 100_000])
@pytest.mark.parametrize("points", [2, 100, 2000, 10_000])
def test_curve_holds_running_perplexity_at_its_points(book: Record, points: int, window: int) -> None:
    curve = book.curve(points, window)
    n = len(book)
    assert len(curve.position) == min(points, n)
    assert (curve.position[0], curve.position[-1], curve.window) == (1, n, window)
    assert np.all(np.diff(curve.position) > 0)
    np.testing.assert_allclose(
        curve.running, running_perplexity(book.read("nll"))[curve.position - 1], rtol=1e-12
    )
    assert curve.running[-1] == pytest.approx(book.score.perplexity, rel=1e-7)
    nll = book.read("nll").astype(np.float64)
    rolling = [math.exp(nll[max(p - window, 0) : p].mean()) for p in curve.position]
    np.testing.assert_allclose(curve.rolling, rolling, rtol=1e-9)


@pytest.mark.parametrize(("n", "window"), [(1, 50), (9_999, 50), (10_000, 100), (49_000, 200), (70_000, 500)])
def test_default_window_is_a_round_hundredth_of_the_text(n: int, window: int, tmp_path: Path) -> None:
    assert record_costs(tmp_path, "ab" * (n // 2) + "c" * (n % 2), np.ones(n)).curve(2).window == window


def test_planted_passage_is_found(stretch: int, tmp_path: Path) -> None:
    words = "some words that are easy and then "
    text = words * 20 + "a dreadful\n" + "Jabberwock came whiffling\n" + words * 20
    start = text.index("Jabberwock")
    costs = np.ones(len(text))
    costs[start : start + 25] = 5
    record = record_costs(tmp_path, text, costs)
    (passage_found,) = record.surprising_passages(1, 24)
    assert passage_found == Passage(start, start + 25, "Jabberwock came whiffling", pytest.approx(5))
    assert passage_found.perplexity == pytest.approx(math.exp(5))
    least = record.surprising_passages(5, 24, least=True)
    assert len(least) == 5
    for passage in least:
        assert passage.mean == pytest.approx(1)
        around = text[passage.start - 1 : passage.start] + text[passage.stop : passage.stop + 1]
        assert around.strip() == ""
        assert passage.text == passage.text.strip()


@given(st.integers(1, 400), st.integers(1, 30), st.integers(1, 12), st.booleans(), st.integers(0, 2**32))
def test_passages_without_borders_are_the_greedy_choice(
    tmp_path: Path, n: int, length: int, count: int, least: bool, seed: int
) -> None:
    costs = np.random.default_rng(seed).exponential(size=n).astype(np.float32)
    record = record_costs(tmp_path, "x" * n, costs)
    passages = record.surprising_passages(count, length, least)
    length = min(length, n)
    reach = length // 8
    sums = np.convolve(costs.astype(np.float64), np.ones(length), "valid") * (-1 if least else 1)
    chosen: list[tuple[int, int]] = []
    for start in np.argsort(-sums, kind="stable").tolist():
        stop = start + length
        if all(stop <= a or b <= start for a, b in chosen) and len(chosen) < count:
            # The ends of the text are the only borders here.
            low = max([0, *(b for _, b in chosen if b <= start)])
            high = min([n, *(a for a, _ in chosen if a >= stop)])
            begin = 0 if start <= reach and low == 0 else start
            end = n if n - stop <= reach and high == n else stop
            chosen.append((begin, end))
    assert sorted((p.start, p.stop) for p in passages) == sorted(chosen)
    for passage in passages:
        assert passage.mean == pytest.approx(costs[passage.start : passage.stop].mean(), rel=1e-5)
    means = [p.mean for p in passages]
    assert means == sorted(means, reverse=not least)


def test_passages_stay_apart_and_within_reach(book: Record, stretch: int) -> None:
    passages = book.surprising_passages(20, 40)
    assert len(passages) == 20
    spans = sorted((p.start, p.stop) for p in passages)
    assert all(b <= c for (_, b), (c, _) in pairwise(spans))
    assert all(30 <= b - a <= 50 for a, b in spans)


def test_equal_passages_come_in_text_order(tmp_path: Path) -> None:
    level = record_costs(tmp_path, "道" * 1000, np.ones(1000))
    assert sorted((p.start, p.stop) for p in level.surprising_passages(3, 10)) == [
        (0, 10),
        (10, 20),
        (20, 30),
    ]


@given(st.text(alphabet="ab\n", min_size=1, max_size=80), st.sampled_from([1, 2, 3, 1 << 18]))
def test_lines_are_the_text(tmp_path: Path, text: str, stretch: int) -> None:
    costs = np.random.default_rng(len(text)).exponential(size=len(text))
    record = record_costs(tmp_path, text, costs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns_module, "STRETCH_CHARS", stretch)
        lines, total = record.lines()
    assert [record.text(s.start, s.stop) for s in lines] == text.splitlines(keepends=True)
    assert total == len(lines)
    for s in lines:
        assert s.perplexity == pytest.approx(math.exp(costs[s.start : s.stop].mean()), rel=1e-5)
        assert s.bits == pytest.approx(costs[s.start : s.stop].sum() / math.log(2), rel=1e-5)


def test_many_lines_are_counted_and_the_first_shown(tmp_path: Path, stretch: int) -> None:
    record = record_costs(tmp_path, "a\n" * 12_000, np.arange(24_000) / 1000)
    lines, total = record.lines()
    assert (len(lines), total) == (10_000, 12_000)
    assert (lines[-1].start, lines[-1].characters) == (19_998, 2)
    first, total = record.lines(limit=3)
    assert (len(first), total) == (3, 12_000)


def test_difference_subtracts_costs_of_two_models(book: Record, stretch: int) -> None:
    text = book.text(0, len(book))
    other = make_record(book.folder.parent, tiny("gru"), text)
    difference = compare_records(book, other)
    assert len(difference) == len(book)
    values = difference.values(0, len(difference))
    np.testing.assert_array_equal(values, other.read("nll").astype(np.float64) - book.read("nll"))
    np.testing.assert_array_equal(difference.values(5, 9), values[5:9])
    assert difference.total == pytest.approx(values.sum(), rel=1e-5)
    assert compare_records(other, book).total == -difference.total
    passages = difference.passages(10, 30)
    assert len(passages) == 10
    for passage in passages:
        assert passage.mean == pytest.approx(values[passage.start : passage.stop].mean())
        assert passage.text == text[passage.start : passage.stop]
    sizes = [abs(passage.mean) for passage in passages]
    assert sizes == sorted(sizes, reverse=True)


def test_passages_of_difference_show_which_model_is_better(tmp_path: Path) -> None:
    text = "word " * 100
    a, b = np.ones(500), np.ones(500)
    a[100:120] = 4  # B is better by 3 nats per character
    b[300:320] = 3  # A is better by 2
    first, second = compare_records(
        record_costs(tmp_path, text, a), record_costs(tmp_path, text, b)
    ).passages(2, 20)
    assert (first.start, first.stop, second.start, second.stop) == (100, 119, 300, 319)
    assert (first.mean, second.mean) == (pytest.approx(-3), pytest.approx(2))


def test_different_texts_are_refused_with_the_place(tmp_path: Path, stretch: int) -> None:
    first, second = (record_costs(tmp_path, "a" * 70 + c + "a" * 29, np.ones(100)) for c in "ab")
    with pytest.raises(ConfigError, match="differ at character 71: score the same text"):
        compare_records(first, second)

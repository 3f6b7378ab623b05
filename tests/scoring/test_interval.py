"""Intervals: what they hold of what comes next, what they are made of, and when there is none."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnviz.scoring.interval import (
    MIN_INTERVAL_CHARS,
    MIN_SUM_CELLS,
    CostSums,
    PerplexityInterval,
    cell_length,
    interval,
)
from tests.support.recorded import noise, record_costs


def slow(n: int, seed: int, exponent: float) -> np.ndarray:
    """Costs above 0 whose mean over b characters varies as b ** exponent."""
    return 2 + noise(n, seed, exponent) / 2


def width(text_interval: PerplexityInterval) -> float:
    return math.log(text_interval.high / text_interval.low)


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [-0.75, -0.5, -0.25])
@pytest.mark.parametrize("n", [2_000, 10_000])
def test_interval_holds_the_next_text_as_often_as_it_says(n: int, exponent: float) -> None:
    holds_next = []
    for seed in range(200):
        costs = slow(2 * n, seed, exponent)
        text_interval = interval(costs[:n])
        if text_interval.low is not None:
            holds_next.append(text_interval.low <= math.exp(costs[n:].mean()) <= text_interval.high)
    # 200 trials tell 95 in 100 to within 3; a text of less memory than most is given more room than it needs.
    assert len(holds_next) > 180
    assert np.mean(holds_next) > 0.90
    assert exponent < -0.6 or np.mean(holds_next) < 0.99


def test_interval_is_wider_where_length_averages_little_out() -> None:
    widths = [width(interval(slow(20_000, 0, s))) for s in (-1.0, -0.5, -0.2)]
    assert widths[0] * 2 < widths[1] < widths[2] / 1.5


def test_interval_contains_the_texts_own_perplexity() -> None:
    costs = np.random.default_rng(0).exponential(1.5, 5000)
    text_interval = interval(costs)
    assert text_interval.low < math.exp(costs.mean()) < text_interval.high  # type: ignore[operator]
    assert (text_interval.characters, text_interval.reason) == (5000, "")
    assert width(interval(2 * costs)) == pytest.approx(2 * width(text_interval))
    assert text_interval.halves == pytest.approx([math.exp(half.mean()) for half in costs.reshape(2, -1)])


def test_drifting_text_has_halves_and_no_interval() -> None:
    rng = np.random.default_rng(0)
    costs = np.concatenate([rng.exponential(1.0, 5000), rng.exponential(2.0, 5000)])
    text_interval = interval(costs)
    halves = (pytest.approx(math.e, rel=0.1), pytest.approx(math.e**2, rel=0.1))
    assert text_interval == PerplexityInterval(None, None, 10_000, "drifts", halves)
    assert interval(rng.permutation(costs)).low is not None


def test_short_and_uneven_texts_have_no_interval() -> None:
    uneven = np.repeat(np.random.default_rng(1).exponential(3.0, 20), 200)
    for costs, reason in (
        (np.ones(0), "short"),
        (np.ones(MIN_INTERVAL_CHARS - 1), "short"),
        (uneven, "uneven"),
    ):
        text_interval = interval(costs)
        assert (text_interval.low, text_interval.high, text_interval.reason) == (None, None, reason)
        assert (text_interval.halves is None) == (reason == "short")
    assert interval(np.random.default_rng(0).exponential(size=MIN_INTERVAL_CHARS)).low is not None


def test_equal_costs_leave_nothing_uncertain() -> None:
    text_interval = interval(np.full(2000, math.log(26)))
    assert (text_interval.low, text_interval.high) == (pytest.approx(26), pytest.approx(26))
    assert interval(np.zeros(3000)).low == interval(np.zeros(3000)).high == 1


def test_a_perplexity_is_never_below_one() -> None:
    text_interval = interval(np.repeat(np.random.default_rng(0).exponential(0.2, 40), 100))
    assert text_interval.low == 1 < text_interval.high


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 9000), min_size=1, max_size=12), st.integers(0, 5))
def test_costs_in_pieces_are_those_of_the_whole(lengths: list[int], seed: int) -> None:
    costs = np.random.default_rng(seed).exponential(size=sum(lengths))
    sums = CostSums()
    for piece in np.split(costs, np.cumsum(lengths)[:-1]):
        sums.add(piece)
    n, cell = len(costs), cell_length(len(costs))
    assert len(sums) == n
    assert n // cell < 2 * MIN_SUM_CELLS
    places = np.append(np.arange(0, n, cell), n)
    np.testing.assert_allclose(sums.sums(places), np.append(0, np.cumsum(costs))[places], rtol=1e-9)


@pytest.mark.parametrize("n", [2_000, 8_191, 8_192, 40_001])
def test_record_has_the_interval_of_its_costs(n: int, tmp_path: Path) -> None:
    costs = np.random.default_rng(0).exponential(1.5, n)
    record = record_costs(tmp_path, "ab" * (n // 2) + "a" * (n % 2), costs)
    of_record, of_costs = interval(record), interval(record.read("nll"))
    assert (of_record.low, of_record.high) == (pytest.approx(of_costs.low), pytest.approx(of_costs.high))
    assert of_record.low < record.score.perplexity < of_record.high

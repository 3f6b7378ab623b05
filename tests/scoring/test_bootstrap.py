"""Intervals over passages: known blocks, coverage where the truth is known, none of too little text."""

import numpy as np
import numpy.typing as npt
import pytest

from rnnviz.scoring.bootstrap import FEWEST, from_correlation, resample, starts

Doubles = npt.NDArray[np.float64]


def wandering(n: int, keep: float, seed: int) -> Doubles:
    """Numbers about 0, each `keep` times the one before plus noise."""
    noise = np.random.default_rng(seed).standard_normal(n + 200)
    out = np.zeros(n + 200)
    for t in range(1, n + 200):
        out[t] = keep * out[t - 1] + noise[t]
    return out[200:]


@pytest.mark.slow
@pytest.mark.parametrize(("keep", "naive"), [(0.0, 0.9), (0.9, 0.5)])
def test_it_covers_the_truth_about_as_often_as_it_says(keep: float, naive: float) -> None:
    held = {None: 0, 1: 0}
    for seed in range(120):
        values = wandering(2000, keep, seed)
        for block in held:
            found = resample(values, block=block, samples=300, seed=seed)
            held[block] += int(not found.excludes(0.0))  # type: ignore[call-overload]
    assert held[None] / 120 > 0.88  # 0.95, give or take three standard errors of 120 trials
    # One position a block, as if neighbours were independent, is right only where they are.
    assert held[1] / 120 > 0.88 if keep == 0 else held[1] / 120 < naive


def test_the_quick_mean_is_the_mean_of_the_drawn_texts() -> None:
    rows = np.random.default_rng(3).standard_normal((400, 3))
    quick = resample(rows, block=8, samples=50, seed=5)
    texts = [rows[(begin[:, None] + np.arange(8)).ravel()] for begin in starts(400, 8, 50, seed=5)]
    np.testing.assert_allclose(quick.draws, [text.mean(axis=0) for text in texts], atol=1e-12)
    np.testing.assert_allclose(quick.estimate, rows.mean(axis=0))
    assert (quick.low < quick.estimate).all()
    assert (quick.estimate < quick.high).all()
    again = resample(rows, block=8, samples=50, seed=5)
    np.testing.assert_array_equal(again.draws, quick.draws)
    assert (resample(rows, block=8, samples=50, seed=6).draws != quick.draws).any()


def test_a_lower_level_is_narrower_and_a_constant_has_no_width() -> None:
    values = wandering(1000, 0.5, 0)
    wide, narrow = (resample(values, level=level, block=10) for level in (0.95, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high
    still = resample(np.full(500, 2.0))
    assert still.low == still.high == 2.0
    assert still.block == 1


def test_too_few_blocks_have_no_interval() -> None:
    short = resample(np.arange(30.0), block=2)
    assert not short.enough
    assert np.isnan(short.low)
    assert not short.excludes(-1e9)
    assert short.estimate == 14.5
    assert resample(np.arange(2.0 * FEWEST), block=2).enough


def test_the_block_is_that_of_politis_and_white() -> None:
    # By arch.bootstrap.optimal_block_length (7.2), circular, rounded up.
    drawn = [from_correlation(wandering(450, keep, 1)) for keep in (0.0, 0.5, 0.9)]
    assert drawn == [1, 11, 34]
    wide = np.stack([wandering(450, 0.0, 1), wandering(450, 0.9, 1)], axis=1)
    assert from_correlation(wide) == 34
    assert from_correlation(np.ones(50)) == from_correlation([1.0]) == 1

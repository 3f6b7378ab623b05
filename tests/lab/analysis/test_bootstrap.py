"""Intervals over passages: known blocks, coverage where the truth is known, none of too little text."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from rnnviz.lab.analysis import bootstrap
from rnnviz.lab.analysis.bootstrap import MIN_BLOCKS, block_length, draw_starts, resample

Doubles = npt.NDArray[np.float64]


def wandering(n: int, keep: float, seed: int) -> Doubles:
    """Numbers about 0, each `keep` times the one before plus noise."""
    noise = np.random.default_rng(seed).standard_normal(n + 200)
    out = np.zeros(n + 200)
    for t in range(1, n + 200):
        out[t] = keep * out[t - 1] + noise[t]
    return out[200:]


def test_the_quick_mean_is_the_mean_of_the_drawn_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(3).standard_normal((400, 3))
    quick = resample(rows, block=8, samples=50, seed=5)
    texts = [rows[(begin[:, None] + np.arange(8)).ravel()] for begin in draw_starts(400, 8, 50, seed=5)]
    np.testing.assert_allclose(quick.draws, [text.mean(axis=0) for text in texts], atol=1e-12)
    np.testing.assert_allclose(quick.estimate, rows.mean(axis=0))
    assert (quick.low < quick.estimate).all()
    assert (quick.estimate < quick.high).all()
    monkeypatch.setattr(bootstrap, "MAX_GATHERED_NUMBERS", 7 * 50 * 3)  # seven of the texts at a time
    np.testing.assert_allclose(resample(rows, block=8, samples=50, seed=5).draws, quick.draws)
    assert (resample(rows, block=8, samples=50, seed=6).draws != quick.draws).any()


def test_a_lower_level_is_narrower_and_a_constant_has_no_width() -> None:
    values = wandering(1000, 0.5, 0)
    wide, narrow = (resample(values, level=level, block=10) for level in (0.95, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high
    still = resample(np.full(500, 2.0))
    assert still.low == still.high == 2.0
    assert [bool(still.excludes(value)) for value in (1.0, 2.0, 3.0)] == [True, False, True]


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_few_blocks_move_the_ends_outwards_as_students_t_does(level: float) -> None:
    values = np.random.default_rng(2).exponential(1.0, 400)
    resampled = resample(values, block=20, level=level)
    low, middle, high = np.quantile(resampled.draws, [(1 - level) / 2, 0.5, (1 + level) / 2])
    t, normal = stats.t(19).ppf((1 + level) / 2), stats.norm.ppf((1 + level) / 2)
    wider = t / normal * np.sqrt(20 / 19)
    assert middle - resampled.low == pytest.approx(wider * (middle - low), rel=0.01)
    assert resampled.high - middle == pytest.approx(wider * (high - middle), rel=0.01)
    assert high - middle != pytest.approx(middle - low, rel=0.02)


def test_a_figure_of_the_means_has_their_interval() -> None:
    resampled = resample(wandering(400, 0.5, 0), block=10, level=0.8)
    doubled = resampled.map(lambda means: 2 * means)
    np.testing.assert_allclose(doubled.draws, 2 * resampled.draws)
    assert (doubled.low, doubled.high) == (
        pytest.approx(2 * resampled.low),
        pytest.approx(2 * resampled.high),
    )


def test_blocks_begin_anywhere_where_there_is_room_for_one() -> None:
    block_starts = draw_starts(10, 4, 100)
    assert block_starts.shape == (100, 3)
    assert set(block_starts.ravel().tolist()) == set(range(7))


def test_too_few_blocks_have_no_interval() -> None:
    short = resample(np.arange(30.0), block=2)
    assert not short.enough
    assert np.isnan(short.low)
    assert not short.excludes(-1e9)
    assert short.estimate == 14.5
    assert resample(np.arange(2.0 * MIN_BLOCKS), block=2).enough


@pytest.mark.parametrize(
    ("n", "keep", "seed", "block"),
    [
        (450, 0.0, 1, 1),
        (450, 0.5, 1, 11),
        (450, 0.9, 1, 34),
        (450, -0.5, 1, 10),  # neighbours that are opposites
        (40, 0.7, 2, 14),  # at most n / 3
        (100, -0.9, 2, 30),  # at most 3 √n
        (12, 0.5, 2, 2),
        (8, 0.0, 2, 1),
        (8, -0.9, 1, 3),
    ],
)
def test_the_block_is_that_of_politis_and_white(n: int, keep: float, seed: int, block: int) -> None:
    # By arch.bootstrap.optimal_block_length (7.2), circular, rounded up.
    values = wandering(n, keep, seed)
    assert block_length(values) == block
    # In other units, from another zero.
    assert block_length(1e-6 * values) == block
    assert block_length(100 - 1000 * values) == block


def test_constant_or_short_rows_have_blocks_of_1() -> None:
    assert block_length(np.ones(50)) == block_length([1.0]) == 1
    assert block_length(1e9 + np.sin(np.arange(50) / 9) * 1e-7) == 1, "nothing varies but rounding"
    assert block_length(wandering(7, -0.9, 1)) == 1


def test_longest_block_of_the_most_varying_columns_counts() -> None:
    quiet, slow = wandering(450, 0.0, 1), wandering(450, 0.9, 1)
    assert block_length(np.stack([quiet, slow], axis=1)) == 34
    assert block_length(np.stack([100 * quiet, slow], axis=1)) == 34
    for count, block in ((15, 34), (16, 1)):
        assert block_length(np.stack([*[100 * quiet] * count, slow], axis=1)) == block

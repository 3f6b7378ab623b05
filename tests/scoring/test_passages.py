"""How far a mean lies from that of more text: known values, and texts whose truth is known."""

import math

import numpy as np
import pytest

from rnnviz.scoring.interval import OCTAVE_COUNT, Spread, _log_chi_square, all_text_spread, next_text_spread
from tests.support.recorded import noise

SLOPE = (-0.6, 0.2)


@pytest.mark.parametrize(
    ("k", "mean", "variance"),
    [
        (1, -1.270362845, math.pi**2 / 2),
        (2, -0.577215665, math.pi**2 / 6),
        (3, -0.368975, 0.934802),
        (4, -0.270362845, 0.644934067),
        (32, -0.031575, 0.064494),
    ],
)
def test_log_chi_square_has_known_moments(k: int, mean: float, variance: float) -> None:
    assert _log_chi_square(k) == (pytest.approx(mean, abs=1e-4), pytest.approx(variance, abs=1e-4))


def test_half_width_is_that_of_draws() -> None:
    assert Spread(math.log(4), 0.0).half_width(0.95) == pytest.approx(2 * 1.959964, rel=1e-6)
    rng = np.random.default_rng(0)
    sample = rng.standard_normal(400_000) * np.exp(rng.standard_normal(400_000) * 0.8 / 2)
    assert Spread(0.0, 0.8).half_width(0.95) == pytest.approx(np.quantile(sample, 0.975), rel=0.02)
    assert Spread(0.0, 0.8).tail_probability(1.5) == pytest.approx(np.mean(np.abs(sample) > 1.5), abs=0.005)
    assert Spread(0.0, 0.8).tail_probability(0.0) == pytest.approx(1)


def test_the_line_is_carried_on_to_the_next_length() -> None:
    # Mean squares that come to 4 at the next length. Where they fall as in most texts, it is found.
    def width(ratio: float, times: float = 1.0) -> float:
        usual = [math.exp(_log_chi_square(2**j)[0]) for j in range(6)]
        squares = [np.full(2**j, times * 4.0 * ratio ** -(j + 1) * u) for j, u in enumerate(usual)]
        return next_text_spread(squares, SLOPE).half_width(0.95)

    usual = width(2 ** SLOPE[0])
    assert 2 * 1.96 < usual < 2 * 2.3  # a little more than if the variance were known
    # Else it is taken to be nearer to most texts: too wide where passages are independent.
    assert 1.2 * usual < width(0.5) < 3 * usual
    assert 0.5 * usual < width(1.0) < usual
    assert width(1.0, times=1e-20) == pytest.approx(1e-10 * width(1.0), rel=1e-9, abs=0)
    # One mean of k squares alone: the slope's doubt, and that of its logarithm.
    for k, of_mean in ((1, math.pi**2 / 2), (2, math.pi**2 / 6)):
        assert next_text_spread([np.ones(k)], SLOPE).doubt ** 2 == pytest.approx(
            of_mean + (SLOPE[1] * math.log(2)) ** 2
        )


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [-1.0, -0.7, -0.4])
def test_interval_holds_the_mean_of_all_such_text_as_often_as_it_says(exponent: float) -> None:
    series = [noise(1_000, seed, exponent) for seed in range(200)]
    holds_mean = [
        abs(values.mean()) <= all_text_spread(values, (exponent, 0.1)).half_width(0.95) for values in series
    ]
    assert 0.9 <= np.mean(holds_mean) <= 0.995
    # Blocks of neighbours, however independent they are taken to be, hold the slow ones far less often.
    alone = [abs(values.mean()) <= 1.96 * values.std() / math.sqrt(len(values)) for values in series]
    assert exponent < -0.9 or np.mean(alone) < 0.6


@pytest.mark.parametrize("exponent", [-1.0, -0.7, -0.4])
def test_the_variance_of_a_mean_is_that_of_such_noise(exponent: float) -> None:
    # That of n positions is n ** exponent, by the noise's definition.
    log_variances = [
        all_text_spread(noise(1_000, seed, exponent), (exponent, 0.01)).log_variance for seed in range(100)
    ]
    assert np.mean(log_variances) == pytest.approx(exponent * math.log(1_000), abs=0.1)


def test_constant_text_is_certain() -> None:
    for same in (np.zeros(2 << OCTAVE_COUNT), np.tile([1.0, -1.0], 1 << OCTAVE_COUNT)):  # in each 64th
        assert all_text_spread(same, SLOPE).half_width() == pytest.approx(0, abs=1e-12)
        assert all_text_spread(same, SLOPE).tail_probability(0.01) == 0

"""How far back predictions reach: known answers, the same by two ways, and no more on a longer text."""

import numpy as np
import pytest

from rnnviz.gradients import connectivity, memory_length
from rnnviz.lab.analysis.memory_length import square_reach
from rnnviz.networks.cells import CELLS
from tests.support.autograd import fading
from tests.support.models import TEXT
from tests.support.torch_models import tiny_torch


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("count", [50, 81, 100])
def test_going_back_by_stretches_is_the_whole_connectivity(cell: str, count: int) -> None:
    model, text = tiny_torch(cell, layers=2), TEXT[:count]
    reach, other = memory_length(model, text, lags=20), square_reach(connectivity(model, text), 20)
    assert reach.predictions == other.predictions == count - 19
    np.testing.assert_allclose(reach.beyond.estimate, other.beyond.estimate, rtol=1e-4, atol=1e-9)
    assert reach.half.estimate == pytest.approx(float(other.half.estimate), rel=1e-4)
    rows = connectivity(model, text).norms[19:].astype(float)
    shares = [row[t] / row[max(0, t - 19) : t + 1].sum() for t, row in enumerate(rows, 19)]
    assert reach.beyond.estimate[0] == pytest.approx(1 - np.mean(shares), rel=1e-4, abs=1e-9)
    if cell == "mlp":
        assert reach.half.estimate == 0.5
        assert not reach.beyond.estimate.any()


@pytest.mark.parametrize("factor", [0.5, 0.9])
@pytest.mark.parametrize("count", [60, 400])
def test_an_exponential_reaches_as_far_on_a_short_text_as_on_a_long_one(factor: float, count: int) -> None:
    reach = memory_length(fading(factor), ("ab" * count)[:count], lags=40)
    whole = (1 - factor**40) / (1 - factor)
    within = (1 - factor ** np.arange(1, 41)) / (1 - factor) / whole
    np.testing.assert_allclose(reach.beyond.estimate, np.maximum(1 - within, 0), atol=1e-3)
    half = np.interp(0.5, [0, *within], np.arange(41))
    assert float(reach.half.estimate) == pytest.approx(half, rel=1e-5)


def test_a_prediction_without_a_gradient_counts_for_nothing() -> None:
    reach = memory_length(fading(0.0), "ab" * 20, lags=5)
    assert reach.half.estimate == 0.5

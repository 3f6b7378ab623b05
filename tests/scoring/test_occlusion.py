"""What a character rests on: the same as reading each of the shorter texts afresh."""

from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz.networks.checkpoint import load_numpy, save
from rnnviz.scoring.occlusion import MAX_OMISSIONS, occlusion_bits
from tests.support.models import NETWORKS, TEXT, tiny, with_tensors

READ = TEXT[:80] + "é🐒" + TEXT[80:120]  # two that no vocabulary here has


def afresh(model: Any, text: str, t: int) -> list[float]:
    """Bits, by a plain loop."""
    first = max(0, t - MAX_OMISSIONS)
    shorter = [rnnviz.trace(model, text[:s] + text[s + 1 : t + 1]).nll[-1] for s in range(first, t)]
    return [(nll - rnnviz.trace(model, text).nll[t]) / np.log(2) for nll in shorter]


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "options"), NETWORKS, ids=str)
def test_occlusion_equals_reading_each_shorter_text_afresh(
    cell: str, options: dict[str, Any], tmp_path: Any
) -> None:
    model = tiny(cell, **options)
    trace, numpy_model = rnnviz.trace(model, READ), load_numpy(save(model, tmp_path / "it.safetensors"))
    for t in (0, 1, 81, len(READ) - 1):
        bits = occlusion_bits(trace, t)
        assert len(bits) == min(t, MAX_OMISSIONS)
        np.testing.assert_allclose(bits, afresh(model, READ, t), atol=1e-4)
        np.testing.assert_allclose(bits, occlusion_bits(rnnviz.trace(numpy_model, READ), t), atol=1e-4)
    assert abs(bits).max() > 1e-3


def test_occlusion_of_an_exploding_network_is_nan() -> None:
    model = tiny("rnn", activation="relu")
    W_h = 1e9 * model.tensors["recurrence.weight_hh_l0"]
    model = with_tensors(model, recurrence_weight_hh_l0=W_h)
    assert np.isnan(occlusion_bits(rnnviz.trace(model, READ), 60)).any()

"""A snapshot: what Trace says, in a file that needs no torch."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnnviz.reading.trace import trace
from rnnviz.runs.journal import snapshot_steps
from rnnviz.runs.snapshots import read, take, to_bytes
from tests.conftest import tiny


@pytest.mark.parametrize(
    ("cell", "options"),
    [
        ("gru", {}),
        ("lstm", {"layers": 2}),
        ("rnn", {"embedding_size": 0, "activation": "relu"}),
        ("mlp", {}),
        ("mlp", {"embedding_size": 0}),
        ("gru", {"embedding_size": 12, "tied": True, "layers": 2}),
    ],
)
def test_it_is_the_trace_of_the_text(tmp_path: Path, cell: str, options: dict[str, Any]) -> None:
    model, text = tiny(cell, **options), "The lever – half of us…\n"
    expected = trace(model, text)
    made = take(model, text, step=7, characters=99)
    (tmp_path / "probe.safetensors").write_bytes(to_bytes(made))
    found = read(tmp_path / "probe.safetensors")
    assert (found.text, found.step, found.characters) == (text, 7, 99)
    np.testing.assert_allclose(found.hidden, expected.hidden, atol=1e-6)
    np.testing.assert_allclose(found.log_probs, expected.log_probs, atol=1e-5)
    np.testing.assert_allclose(found.nll, expected.nll, rtol=1e-5)
    np.testing.assert_allclose(found.perplexity, expected.perplexity, rtol=1e-5)
    assert (found.cell is None) == (cell != "lstm")
    assert found.symbols == ("<unk>", *model.vocabulary.characters)
    assert found.log_probs.dtype == found.hidden.dtype == np.float32


def test_half_the_size_is_near_enough(tmp_path: Path) -> None:
    made = take(tiny("lstm"), "a machine", step=0, characters=0)
    (tmp_path / "0.safetensors").write_bytes(to_bytes(made, half=True))
    found = read(tmp_path / "0.safetensors")
    np.testing.assert_allclose(found.hidden, made.hidden, atol=1e-3)
    np.testing.assert_allclose(np.exp(found.log_probs).sum(axis=1), 1, atol=5e-3)
    np.testing.assert_array_equal(found.nll, made.nll)


@pytest.mark.parametrize("total", [1, 2, 3, 40, 600, 12_345, 10_000_000])
def test_snapshots_are_few_and_lie_on_a_log_scale(total: int) -> None:
    steps = snapshot_steps(total)
    assert steps[0] == 0
    assert steps[-1] == total
    assert len(steps) == len(set(steps)) <= 40
    assert steps == sorted(steps)
    late = [b / a for a, b in pairwise(steps[8:-1])]
    assert all(1.1 < ratio < 1.7 for ratio in late)

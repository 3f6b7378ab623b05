"""What flows back to the characters: against autograd in float64, and nets whose answer is known."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from rnnviz.gradients import connectivity, jacobian
from rnnviz.lab.analysis import backward
from rnnviz.lab.analysis.connectivity import GradientRows
from rnnviz.lab.analysis.slopes import Dual
from rnnviz.networks.cells import CELLS
from tests.support.autograd import Doubles, by_autograd, fading
from tests.support.models import NETWORKS, TEXT, tiny
from tests.support.torch_models import tiny_torch


def assert_close(norms: Any, expected: Doubles) -> None:
    """Each entry to 5e-6 of itself and 5e-7 for each step back, and to 5e-7 of its row's largest."""
    norms = norms.astype(np.float64)
    np.testing.assert_array_less(np.abs(norms - expected).max(axis=-1), 5e-7 * expected.max(axis=-1) + 1e-300)
    is_zero = expected == 0
    assert not norms[is_zero].any()
    error = np.abs(norms / np.where(is_zero, 1, expected) - 1) * ~is_zero
    steps = np.subtract.outer(np.arange(len(error)), np.arange(error.shape[1])) + 1
    # Each step back is a product that rounds: with OpenBLAS's kernel Sandybridge 4.1e-7 a step was seen.
    np.testing.assert_array_less(error, 5e-6 + 5e-7 * np.maximum(steps, 1))


@pytest.mark.parametrize(("cell", "options"), NETWORKS)
@pytest.mark.parametrize("length", [1, 7, 60])
def test_connectivity_equals_autograd_row_by_row(cell: str, options: dict[str, Any], length: int) -> None:
    model = tiny_torch(cell, **options)
    square, expected = connectivity(model, TEXT[:length]), by_autograd(model, TEXT[:length])
    assert_close(square.norms, expected[:, 1:])
    # Processors differ in how they round: 2.45e-5 was seen at 60 characters.
    np.testing.assert_allclose(square.start, expected[:, 0], rtol=4e-5, atol=1e-44)
    assert square.norms.dtype == square.log10.dtype == square.start.dtype == np.float32
    assert np.isneginf(square.log10[np.triu_indices(length, 1)]).all()
    assert (square.text, square.norms.shape) == (TEXT[:length], (length, length))
    assert square.targets[:-1].tolist() == model.vocabulary.encode(TEXT[1:length]).tolist()


@pytest.mark.parametrize(("cell", "options"), NETWORKS)
def test_gradients_stop_at_a_texts_end(cell: str, options: dict[str, Any]) -> None:
    model, text, n = tiny(cell, ends=True, **options), "machine\nTime", len("machine\n")
    square, alone = connectivity(model, text), connectivity(model, "Time")
    assert not square.norms[n:, : n - 1].any()
    np.testing.assert_allclose(square.norms[n:, n:], alone.norms, rtol=1e-4, atol=1e-9)
    # The end is read as the start symbol is.
    np.testing.assert_allclose(square.norms[n:, n - 1], alone.start, rtol=1e-4, atol=1e-9)
    norms, of_alone = jacobian(model, text).hidden, jacobian(model, "Time").hidden
    assert not norms[len(of_alone) :].any()
    np.testing.assert_allclose(norms[: len(of_alone)], of_alone, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize(("cell", "options"), NETWORKS)
def test_a_row_is_a_row_of_the_square(cell: str, options: dict[str, Any]) -> None:
    model, text = tiny_torch(cell, **options), TEXT[:50]
    square, rows = connectivity(model, text), GradientRows(model, text)
    alone = [connectivity(model, text, at=at) for at in (1, 2, 30, 50)]
    for row in (*alone, *(rows.row(at) for at in (1, 2, 30, 50))):
        t = len(row.text)
        np.testing.assert_allclose(row.norms, square.norms[t - 1, :t], rtol=1e-5)
        np.testing.assert_allclose(row.log10, square.log10[t - 1, :t], atol=1e-5)
        assert row.start == pytest.approx(square.start[t - 1], rel=1e-5)
        assert (row.target, row.text, len(row)) == (square.targets[t - 1], text[:t], t)
    assert [len(row) for row in alone] == [1, 2, 30, 50]


def test_any_character_can_be_asked_about() -> None:
    model = tiny_torch("gru")
    square = connectivity(model, TEXT[:20], character="e")
    assert_close(square.norms, by_autograd(model, TEXT[:20], "e")[:, 1:])
    assert model.vocabulary.decode(square.targets) == "e" * 20
    for row in (
        connectivity(model, TEXT[:20], at=9, character="e"),
        GradientRows(model, TEXT[:20]).row(9, character="e"),
    ):
        np.testing.assert_allclose(row.norms, square.norms[8, :9], rtol=1e-5)
    assert connectivity(model, "道理", character="道").targets.tolist() == [0, 0]


@pytest.mark.parametrize("limit", ["MAX_BLOCK_ENTRIES", "MATRIX_MIN_ROWS"])
@pytest.mark.parametrize(("cell", "options"), NETWORKS)
def test_connectivity_does_not_depend_on_block_sizes(
    cell: str, options: dict[str, Any], limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_torch(cell, **options)
    expected = connectivity(model, TEXT[:40])
    monkeypatch.setattr(backward, limit, 1)
    np.testing.assert_allclose(connectivity(model, TEXT[:40]).norms, expected.norms, rtol=1e-5)


def test_a_certain_prediction_keeps_its_digits() -> None:
    model = tiny_torch("gru")
    model.readout.bias[model.vocabulary.encode("e")] += 25
    norms = connectivity(model, TEXT[:10], character="e").norms
    assert 0 < norms.max() < 1e-8
    np.testing.assert_allclose(norms, by_autograd(model, TEXT[:10], "e")[:, 1:], rtol=1e-4)


@pytest.mark.parametrize("shift", [9.0, -9.0])  # autograd itself has no digits left far beyond
@pytest.mark.parametrize("cell", CELLS)
def test_gates_wide_open_or_shut_and_saturated_units_keep_their_digits(cell: str, shift: float) -> None:
    for block in range(len(CELLS[cell].blocks)):
        model = tiny_torch(cell, layers=2)
        bias = dict(model.named_parameters())[model.config.layer_names(0)[2 if CELLS[cell].mixes else 1]]
        bias.view(-1, 12)[block] += shift
        square, expected = connectivity(model, TEXT[:6]), by_autograd(model, TEXT[:6])[:, 1:]
        np.testing.assert_allclose(square.norms, expected, rtol=2e-5)


def test_a_record_may_subtract_and_use_numbers() -> None:
    a, b = Dual(2.0, {("x", 0): 1.0, ("u", 0): 1.0}), Dual(5.0, {("x", 1): 1.0, ("u", 0): 3.0})
    result = (a * 3 - b) * b + 1
    assert result.value == 6
    assert result.by == {("x", 0): 15, ("u", 0): 15 - 15 + 3, ("x", 1): -5 + 1}


def test_a_gradient_too_small_for_float32_is_still_known() -> None:
    row = connectivity(fading(0.01), "ab" * 50, at=100)
    steps = np.diff(row.log10[::2])
    np.testing.assert_allclose(steps, 4, atol=1e-3)
    assert row.log10[0] < -190
    assert row.norms[0] == 0
    curve = jacobian(fading(0.01), "ab" * 50, of="loss").hidden[:, 0]
    np.testing.assert_allclose(curve[1:] / curve[:-1], 0.01, rtol=1e-5)
    assert 0 < curve[-1] < 1e-190


def test_exploding_gradient_grows_by_its_factor() -> None:
    curve = jacobian(fading(1.5), "ab" * 60, of="loss").hidden[:, 0]
    np.testing.assert_allclose(curve[1:] / curve[:-1], 1.5, rtol=1e-5)
    assert jacobian(fading(1.5), "ab" * 60, norm="spectral").hidden[-1, 0] == pytest.approx(
        1.5**120, rel=1e-4
    )


@pytest.mark.parametrize(
    ("function", "limit"), [(connectivity, 10_000), (partial(jacobian, of="loss"), 10_000), (jacobian, 1_000)]
)
def test_a_text_too_long_is_read_near_its_beginning(function: Any, limit: int) -> None:
    function(tiny_torch("gru"), "a" * (limit + 1), at=5)


def test_line_ends_are_one_character() -> None:
    assert connectivity(tiny_torch("gru"), "a\r\nb").text == "a\nb"

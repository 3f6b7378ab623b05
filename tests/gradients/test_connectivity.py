"""What flows back to the characters: against autograd in float64, and nets whose answer is known."""

import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnnviz.gradients import (
    backward,
    connectivity,
    connectivity_row,
    half_life,
    jacobian_norms,
    state_gradients,
)
from rnnviz.gradients.memory import Rows
from rnnviz.networks.checkpoint import load_numpy
from tests.conftest import TEXT, tiny
from tests.gradients.autograd import NETWORKS, Doubles, by_autograd, fading


def assert_close(found: Any, expected: Doubles) -> None:
    """Each entry to 5e-6 of itself and 5e-7 for each step back, and to 5e-7 of its row's largest."""
    found = found.astype(np.float64)
    np.testing.assert_array_less(np.abs(found - expected).max(axis=-1), 5e-7 * expected.max(axis=-1) + 1e-300)
    nothing = expected == 0
    assert not found[nothing].any()
    error = np.abs(found / np.where(nothing, 1, expected) - 1) * ~nothing
    steps = np.subtract.outer(np.arange(len(error)), np.arange(error.shape[1])) + 1
    # Each step back is a product that rounds: with OpenBLAS's kernel Sandybridge 4.1e-7 a step was seen.
    np.testing.assert_array_less(error, 5e-6 + 5e-7 * np.maximum(steps, 1))


class TestConnectivity:
    @pytest.mark.parametrize(("cell", "options"), NETWORKS)
    @pytest.mark.parametrize("length", [1, 7, 60])
    def test_it_is_what_autograd_finds_a_row_at_a_time(
        self, cell: str, options: dict[str, Any], length: int
    ) -> None:
        model = tiny(cell, **options)
        found, expected = connectivity(model, TEXT[:length]), by_autograd(model, TEXT[:length])
        assert_close(found.norms, expected[:, 1:])
        # Processors differ in how they round: 2.45e-5 was seen at 60 characters.
        np.testing.assert_allclose(found.start, expected[:, 0], rtol=4e-5, atol=1e-44)
        assert found.norms.dtype == found.log10.dtype == found.start.dtype == np.float32
        assert (found.text, found.norms.shape) == (TEXT[:length], (length, length))
        assert found.targets[:-1].tolist() == model.vocabulary.encode(TEXT[1:length]).tolist()

    @pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
    def test_nothing_rests_on_what_comes_later(self, cell: str) -> None:
        found = connectivity(tiny(cell), TEXT[:30])
        assert not np.triu(found.norms, 1).any()
        assert np.isneginf(found.log10[np.triu_indices(30, 1)]).all()
        assert (np.diag(found.norms) > 0).all()

    def test_an_mlp_rests_on_the_last_character_alone(self) -> None:
        found = connectivity(tiny("mlp", layers=2), TEXT[:30])
        assert np.count_nonzero(found.norms) == 30
        assert (np.diag(found.norms) > 0).all()
        assert not found.start.any()
        assert found.half_life() == 0
        assert np.count_nonzero(connectivity_row(tiny("mlp"), TEXT[:30]).norms) == 1

    @pytest.mark.parametrize(("cell", "options"), NETWORKS)
    def test_a_row_is_a_row_of_the_square(self, cell: str, options: dict[str, Any]) -> None:
        model, text = tiny(cell, **options), TEXT[:50]
        square, rows = connectivity(model, text), Rows(model, text)
        alone = [connectivity_row(model, text, at=at) for at in (1, 2, 30, 50, None)]
        for row in (*alone, *(rows.row(at) for at in (1, 2, 30, 50))):
            t = len(row.text)
            np.testing.assert_allclose(row.norms, square.norms[t - 1, :t], rtol=1e-5)
            np.testing.assert_allclose(row.log10, square.log10[t - 1, :t], atol=1e-5)
            assert row.start == pytest.approx(square.start[t - 1], rel=1e-5)
            assert (row.target, row.text, len(row)) == (square.targets[t - 1], text[:t], t)
        assert [len(row) for row in alone] == [1, 2, 30, 50, 50]

    def test_any_character_can_be_asked_about(self) -> None:
        model = tiny("gru")
        found = connectivity(model, TEXT[:20], target="e")
        assert_close(found.norms, by_autograd(model, TEXT[:20], "e")[:, 1:])
        assert model.vocabulary.decode(found.targets) == "e" * 20
        row = connectivity_row(model, TEXT[:20], at=9, target="e")
        np.testing.assert_allclose(row.norms, found.norms[8, :9], rtol=1e-5)
        again = Rows(model, TEXT[:20]).row(9, target="e")
        np.testing.assert_allclose(again.norms, row.norms, rtol=1e-5)
        assert connectivity(model, "道理", target="道").targets.tolist() == [0, 0]

    @pytest.mark.parametrize("limit", ["ENTRIES", "MANY"])
    @pytest.mark.parametrize(("cell", "options"), NETWORKS)
    def test_it_does_not_depend_on_how_it_is_cut_up(
        self, cell: str, options: dict[str, Any], limit: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = tiny(cell, **options)
        expected = connectivity(model, TEXT[:40])
        monkeypatch.setattr(backward, limit, 1)
        np.testing.assert_allclose(connectivity(model, TEXT[:40]).norms, expected.norms, rtol=1e-5)

    def test_it_needs_no_table_of_inputs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        expected = connectivity(tiny("gru"), TEXT[:30]).norms
        monkeypatch.setattr("rnnviz.networks.numpy_engine.TABLE_BYTES", 0)
        np.testing.assert_allclose(connectivity(tiny("gru"), TEXT[:30]).norms, expected, rtol=1e-5)

    def test_a_certain_prediction_keeps_its_digits(self) -> None:
        model = tiny("gru")
        model.readout.bias[model.vocabulary.encode("e")] += 25
        found = connectivity(model, TEXT[:10], target="e").norms
        assert 0 < found.max() < 1e-8
        np.testing.assert_allclose(found, by_autograd(model, TEXT[:10], "e")[:, 1:], rtol=1e-4)

    def test_a_saturated_unit_keeps_its_digits(self) -> None:
        model = tiny("rnn")
        getattr(model.recurrence, "bias_ih_l0").add_(6.0)  # noqa: B009
        found, expected = connectivity(model, TEXT[:6]), by_autograd(model, TEXT[:6])[:, 1:]
        assert 0 < found.norms[5, 0] < 1e-20
        np.testing.assert_allclose(found.norms, expected, rtol=1e-4)

    def test_a_loaded_model_needs_no_torch(self, models_folder: Path) -> None:
        path = models_folder / "tiny-gru.safetensors"
        expected = connectivity(tiny("gru"), "machine").norms
        np.testing.assert_array_equal(connectivity(load_numpy(path), "machine").norms, expected)
        code = (
            "import sys, rnnviz.gradients as g; from rnnviz.networks.checkpoint import load_numpy; "
            f"g.connectivity(load_numpy({str(path)!r}), 'machine'); assert 'torch' not in sys.modules"
        )
        subprocess.run(
            [sys.executable, "-c", code], check=True, timeout=120, cwd=Path(__file__).resolve().parents[2]
        )

    def test_rows_can_be_normalised(self) -> None:
        found = connectivity(tiny("lstm"), TEXT[:40])
        expected = found.norms / found.norms.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found.normalised, expected, rtol=1e-4, atol=1e-30)
        assert not found.norms.flags.writeable
        assert not found.log10.flags.writeable

    def test_decay_is_an_average_over_the_rows_that_reach_so_far(self) -> None:
        found = connectivity(tiny("gru"), TEXT[:20])
        for average, of in (("median", np.median), ("mean", np.mean)):
            expected = [of(np.diag(found.norms, -lag)) for lag in range(20)]
            np.testing.assert_allclose(found.decay(average), expected, rtol=1e-4)  # type: ignore[arg-type]


class TestKnownAnswers:
    @pytest.mark.parametrize("factor", [0.5, 0.9, 0.01])
    def test_the_half_life_of_an_exponential(self, factor: float) -> None:
        found = connectivity(fading(factor), "abba" * 10)
        assert found.half_life() == pytest.approx(math.log(0.5) / math.log(factor), rel=2e-2)

    def test_a_gradient_too_small_for_float32_is_still_known(self) -> None:
        row = connectivity_row(fading(0.01), "ab" * 50)
        steps = np.diff(row.log10[::2])
        np.testing.assert_allclose(steps, 4, atol=1e-3)
        assert row.log10[0] < -190
        assert row.norms[0] == 0
        curve = state_gradients(fading(0.01), "ab" * 50).hidden[:, 0]
        np.testing.assert_allclose(curve[1:] / curve[:-1], 0.01, rtol=1e-5)
        assert 0 < curve[-1] < 1e-190

    def test_one_that_explodes_does_so_too(self) -> None:
        curve = state_gradients(fading(1.5), "ab" * 60).hidden[:, 0]
        np.testing.assert_allclose(curve[1:] / curve[:-1], 1.5, rtol=1e-5)
        assert jacobian_norms(fading(1.5), "ab" * 60, norm="spectral").hidden[-1, 0] == pytest.approx(
            1.5**120, rel=1e-4
        )

    def test_half_lives_on_paper(self) -> None:
        assert half_life(np.array([9.0, 8, 4, 2, 1])) == pytest.approx(1)
        assert half_life(np.array([9.0, 4, 0, 1, 0])) == pytest.approx(1)
        assert half_life(np.array([1.0, 0, 0, 0])) == 0
        assert half_life(np.array([1.0, 1, 2, 3])) == math.inf
        assert math.isnan(half_life(np.array([1.0, 0.5])))


ALL: Sequence[Any] = (connectivity, connectivity_row, state_gradients, jacobian_norms)


class TestPlaces:
    def test_a_text_too_long_is_read_near_its_beginning(self) -> None:
        for function, limit in zip(ALL[1:], (10_000, 10_000, 1_000), strict=True):
            function(tiny("gru"), "a" * (limit + 1), at=5)

    def test_line_ends_are_one_character(self) -> None:
        assert connectivity(tiny("gru"), "a\r\nb").text == "a\nb"

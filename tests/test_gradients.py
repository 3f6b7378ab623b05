"""What flows back: against autograd in float64, finite differences, and nets whose answer is known."""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from rnnviz.cells import gru_step, lstm_step, mlp_step, rnn_step
from rnnviz.checkpoint import load_numpy
from rnnviz.config import ModelConfig
from rnnviz.errors import CheckpointError, ConfigError, EmptyTextError, TextError
from rnnviz.gradients import (
    connectivity,
    connectivity_row,
    eigenvalues,
    half_life,
    hidden_weights,
    jacobian_norms,
    memory,
    power_norms,
    scaled,
    state_gradients,
    states,
    sweep,
)
from rnnviz.gradients.states import Largest
from rnnviz.model import CharModel
from rnnviz.ngram import NgramModel
from rnnviz.scoring import UniformModel
from rnnviz.vocabulary import Vocabulary
from tests.conftest import TEXT, tiny

Doubles = npt.NDArray[np.float64]

NETWORKS: list[tuple[str, dict[str, Any]]] = [
    ("mlp", {}),
    ("mlp", {"layers": 2, "activation": "relu", "embedding_size": 0}),
    ("rnn", {}),
    ("rnn", {"activation": "relu", "layers": 2}),
    ("gru", {}),
    ("gru", {"layers": 3, "embedding_size": 0}),
    ("gru", {"tied": True, "embedding_size": 12}),
    ("lstm", {}),
    ("lstm", {"layers": 2, "embedding_size": 0}),
]


def double(model: CharModel) -> CharModel:
    return copy.deepcopy(model).double()


def symbols(model: CharModel, text: str) -> Tensor:
    return torch.tensor([[model.vocabulary.start, *model.vocabulary.encode(text)]])


def log_probs(model: CharModel, x: Tensor) -> Tensor:
    """(T + 1, V) of a float64 model for its embedded inputs (1, T + 1, X)."""
    hidden, _ = model.hidden(x)
    return torch.log_softmax(F.linear(hidden, model.readout_weight, model.readout.bias)[0], dim=-1)


def by_autograd(model: CharModel, text: str, target: str | None = None) -> Doubles:
    """(T, T + 1): a backward pass a row; the first column is the start symbol."""
    model = double(model)
    ids = symbols(model, text)
    x = model.embed(ids).detach().requires_grad_()
    predictions = log_probs(model, x)
    rows = []
    for t in range(1, len(text) + 1):
        if target is not None:
            of = int(model.vocabulary.encode(target)[0])
        else:
            of = int(ids[0, t + 1]) if t < len(text) else int(predictions[t].argmax())
        (gradient,) = torch.autograd.grad(predictions[t, of], x, retain_graph=True)
        rows.append(gradient[0].norm(dim=-1).numpy())
    return np.array(rows)


def assert_close(found: Any, expected: Doubles) -> None:
    """Each entry to 1e-5 of itself (2e-5 from 40 steps back on), and to 1e-6 of its row's largest."""
    found = found.astype(np.float64)
    np.testing.assert_array_less(np.abs(found - expected).max(axis=-1), 1e-6 * expected.max(axis=-1) + 1e-300)
    nothing = expected == 0
    assert not found[nothing].any()
    error = np.abs(found / np.where(nothing, 1, expected) - 1) * ~nothing
    lags = np.subtract.outer(np.arange(len(error)), np.arange(error.shape[1]))
    assert error[lags < 40].max() < 1e-5
    assert error.max() < 2e-5


class TestConnectivity:
    @pytest.mark.parametrize(("cell", "options"), NETWORKS)
    @pytest.mark.parametrize("length", [1, 7, 60])
    def test_it_is_what_autograd_finds_a_row_at_a_time(
        self, cell: str, options: dict[str, Any], length: int
    ) -> None:
        model = tiny(cell, **options)
        found, expected = connectivity(model, TEXT[:length]), by_autograd(model, TEXT[:length])
        assert_close(found.norms, expected[:, 1:])
        np.testing.assert_allclose(found.start, expected[:, 0], rtol=2e-5, atol=1e-44)
        assert found.norms.dtype == found.log10.dtype == found.start.dtype == np.float32
        assert found.norms.shape == (length, length)
        assert (found.text, len(found)) == (TEXT[:length], length)
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
        assert not found.decay()[1:].any()
        assert found.half_life() == 0
        assert np.count_nonzero(connectivity_row(tiny("mlp"), TEXT[:30]).norms) == 1

    def test_finite_differences_agree(self) -> None:
        model = double(tiny("lstm", layers=2))
        x = model.embed(symbols(model, "machine"))
        found = connectivity(tiny("lstm", layers=2), "machine").norms
        for row, column in ((0, 0), (3, 1), (5, 0), (5, 5)):
            of, slope = model.vocabulary.encode("machine")[row + 1], []
            for k in range(x.shape[2]):
                there, back = x.clone(), x.clone()
                there[0, column + 1, k] += 1e-5
                back[0, column + 1, k] -= 1e-5
                difference = log_probs(model, there)[row + 1, of] - log_probs(model, back)[row + 1, of]
                slope.append(float(difference) / 2e-5)
            assert found[row, column] == pytest.approx(np.linalg.norm(slope), rel=1e-4)

    @pytest.mark.parametrize(("cell", "options"), NETWORKS)
    def test_a_row_is_a_row_of_the_square(self, cell: str, options: dict[str, Any]) -> None:
        model, text = tiny(cell, **options), TEXT[:50]
        square = connectivity(model, text)
        for at in (1, 2, 30, 50, None):
            t = at or 50
            row = connectivity_row(model, text, at=at)
            np.testing.assert_allclose(row.norms, square.norms[t - 1, :t], rtol=1e-5)
            np.testing.assert_allclose(row.log10, square.log10[t - 1, :t], atol=1e-5)
            assert row.start == pytest.approx(square.start[t - 1], rel=1e-5)
            assert (row.target, row.text, len(row)) == (square.targets[t - 1], text[:t], t)

    def test_any_character_can_be_asked_about(self) -> None:
        model = tiny("gru")
        found = connectivity(model, TEXT[:20], target="e")
        assert_close(found.norms, by_autograd(model, TEXT[:20], "e")[:, 1:])
        assert model.vocabulary.decode(found.targets) == "e" * 20
        row = connectivity_row(model, TEXT[:20], at=9, target="e")
        np.testing.assert_allclose(row.norms, found.norms[8, :9], rtol=1e-5)
        assert connectivity(model, "道理", target="道").targets.tolist() == [0, 0]
        for target in ("", "ab"):
            with pytest.raises(ConfigError, match="one character"):
                connectivity(model, "abc", target=target)

    @pytest.mark.parametrize(
        "limits", [{"BLOCK": 1}, {"BLOCK": 5, "RESCALE": 1}, {"ENTRIES": 1}, {"MANY": 1000}, {"MANY": 1}]
    )
    @pytest.mark.parametrize(("cell", "options"), NETWORKS)
    def test_it_does_not_depend_on_how_it_is_cut_up(
        self, cell: str, options: dict[str, Any], limits: dict[str, int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = tiny(cell, **options)
        expected = connectivity(model, TEXT[:40])
        for name, value in limits.items():
            monkeypatch.setattr(sweep, name, value)
        found = connectivity(model, TEXT[:40])
        np.testing.assert_allclose(found.norms, expected.norms, rtol=1e-5)

    def test_it_needs_no_table_of_inputs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        expected = connectivity(tiny("gru"), TEXT[:30]).norms
        monkeypatch.setattr("rnnviz.prepared.TABLE_BYTES", 0)
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
            "import sys, rnnviz.gradients as g; from rnnviz.checkpoint import load_numpy; "
            f"g.connectivity(load_numpy({str(path)!r}), 'machine'); assert 'torch' not in sys.modules"
        )
        subprocess.run(
            [sys.executable, "-c", code], check=True, timeout=120, cwd=Path(__file__).parent.parent
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
        with pytest.raises(ConfigError, match="received 'mode'"):
            found.decay("mode")  # type: ignore[arg-type]


def fading(factor: float, units: int = 6) -> CharModel:
    """A relu net that never leaves the linear part: each step back multiplies a gradient with `factor`."""
    vocabulary = Vocabulary(("a", "b"))
    config = ModelConfig("rnn", vocabulary.size, units, embedding_size=4, activation="relu")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = CharModel(config, vocabulary).requires_grad_(False)
    recurrence: Any = model.recurrence
    recurrence.weight_hh_l0.copy_(factor * torch.eye(units))
    recurrence.bias_ih_l0.fill_(9.0)
    recurrence.bias_hh_l0.zero_()
    model.readout.weight.div_(1e25)  # so that no prediction is ever certain
    return model


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
        for bad in (np.ones((2, 2)), np.array([1, -1.0, 2])):
            with pytest.raises(ConfigError, match="lag 0 first"):
                half_life(bad)


def unrolled(model: CharModel, text: str) -> tuple[list[list[Tensor]], list[list[Tensor]], Tensor]:
    """States and cells [step][layer] of a float64 model, nodes of one graph, and log P (V,) at the end."""
    parameters = model.layer_parameters()
    zeros = torch.zeros(1, model.config.hidden_size, dtype=torch.float64, requires_grad=True)
    hidden, cells = [[zeros] * len(parameters)], [[zeros] * len(parameters)]
    for x in model.embed(symbols(model, text))[0]:
        below, now, carried = x[None], [], []
        for layer, p in enumerate(parameters):
            h, c, step = hidden[-1][layer], cells[-1][layer], None
            match model.config.cell:
                case "mlp":
                    below = mlp_step(p, below).state  # type: ignore[arg-type]
                case "rnn":
                    below = rnn_step(p, below, h).state  # type: ignore[arg-type]
                case "gru":
                    below = gru_step(p, below, h).state  # type: ignore[arg-type]
                case _:
                    step = lstm_step(p, below, h, c)  # type: ignore[arg-type]
                    below = step.state
            now.append(below)
            carried.append(below if step is None else step.cell)
        hidden.append(now)
        cells.append(carried)
    logits = F.linear(hidden[-1][-1], model.readout_weight, model.readout.bias)
    return hidden[1:], cells[1:], torch.log_softmax(logits[0], dim=-1)


def norms_of(of: Tensor, nodes: list[list[Tensor]]) -> Doubles:
    """‖∂of/∂node‖ (T + 1, L), the last node first."""
    flat = [node for step in reversed(nodes) for node in step]
    found = torch.autograd.grad(of, flat, retain_graph=True, allow_unused=True)
    values = [0.0 if g is None else float(g.norm()) for g in found]
    return np.array(values).reshape(len(nodes), -1)


class TestStates:
    @pytest.mark.parametrize(("cell", "options"), NETWORKS)
    def test_they_are_what_autograd_finds(self, cell: str, options: dict[str, Any]) -> None:
        model, text = tiny(cell, **options), TEXT[:25]
        hidden, cells, prediction = unrolled(double(model).requires_grad_(), text)
        found = state_gradients(model, TEXT, at=25)
        assert found.target == model.vocabulary.encode(TEXT[25])[0]
        loss = -prediction[found.target]
        np.testing.assert_allclose(found.hidden, norms_of(loss, hidden), rtol=1e-5, atol=1e-300)
        if cell == "lstm":
            assert found.cell is not None
            np.testing.assert_allclose(found.cell, norms_of(loss, cells), rtol=1e-5)
        else:
            assert found.cell is None

    @pytest.mark.parametrize(("cell", "options"), NETWORKS[2:])
    @pytest.mark.parametrize("hidden_size", [12, 40])
    def test_jacobians_are_what_autograd_finds(
        self, cell: str, options: dict[str, Any], hidden_size: int
    ) -> None:
        if "tied" in options:
            options = {}
        model, text = tiny(cell, **{**options, "hidden_size": hidden_size}), TEXT[:9]
        hidden, cells, _ = unrolled(double(model).requires_grad_(), text)
        norms: tuple[Any, ...] = ("frobenius", "spectral")
        found = {norm: jacobian_norms(model, text, norm=norm) for norm in norms}
        for nodes, name in ((hidden, "hidden"), (cells, "cell")):
            if name == "cell" and cell != "lstm":
                continue
            flat = [node for step in reversed(nodes) for node in step]
            rows = [
                torch.autograd.grad(y, flat, retain_graph=True, allow_unused=True) for y in hidden[-1][-1][0]
            ]
            shape = (len(text) + 1, model.config.layers)
            jacobians = [
                torch.stack([torch.zeros(hidden_size) if r[k] is None else r[k][0] for r in rows])
                for k in range(len(flat))
            ]
            orders: dict[str, Any] = {"frobenius": "fro", "spectral": 2}
            for norm, order in orders.items():
                expected = [float(torch.linalg.matrix_norm(j, order)) for j in jacobians]
                np.testing.assert_allclose(
                    getattr(found[norm], name), np.reshape(expected, shape), rtol=1e-4, atol=1e-300
                )

    def test_the_norms_of_the_last_state_itself(self) -> None:
        assert jacobian_norms(tiny("gru"), "machine").hidden[0, 0] == pytest.approx(math.sqrt(12))
        assert jacobian_norms(tiny("gru"), "machine", norm="spectral").hidden[0, 0] == pytest.approx(1)
        assert jacobian_norms(tiny("gru"), "machine").target is None
        with pytest.raises(ConfigError, match="received 'nuclear'"):
            jacobian_norms(tiny("gru"), "machine", norm="nuclear")  # type: ignore[arg-type]

    def test_largest_singular_values(self) -> None:
        draw = np.random.default_rng(1).standard_normal
        u, v = np.linalg.qr(draw((50, 50)))[0], np.linalg.qr(draw((50, 50)))[0]
        spectra: list[Doubles] = [
            np.ones(50),
            np.zeros(50),
            np.eye(50)[0],
            0.99 ** np.arange(50),
            0.5 ** np.arange(50.0),
            np.repeat([2.0, 1.999, 0.0], [1, 24, 25]),
        ]
        largest = Largest(50)
        for values in spectra:
            found = largest((u * values @ v).astype(np.float32))
            assert found == pytest.approx(values.max(), rel=1e-4, abs=1e-6)
        another = (v.T * spectra[4] @ u).astype(np.float32)  # all its vectors are other ones
        assert largest(another) == pytest.approx(1, rel=1e-2)
        # And while they change slowly, each overtaking the others.
        largest, ends = Largest(50), np.random.default_rng(2).uniform(0, 1, (2, 50))
        for share in np.linspace(0, 1, 100):
            values = ends[0] * (1 - share) + ends[1] * share
            assert largest((u * values @ v).astype(np.float32)) == pytest.approx(values.max(), rel=5e-3)
        with np.errstate(invalid="ignore"):
            assert largest(np.full((50, 50), np.inf, np.float32)) == math.inf
        assert Largest(1)(np.array([[-3]], np.float32)) == pytest.approx(3)


class TestSpectrum:
    W = np.array([[0.0, -2.0], [2.0, 0.0]])

    def test_eigenvalues_come_largest_first(self) -> None:
        np.testing.assert_allclose(eigenvalues(np.diag([1.0, -3.0, 2.0])), [-3, 2, 1])
        np.testing.assert_allclose(np.abs(eigenvalues(self.W)), [2, 2])

    @pytest.mark.parametrize("rho", [0.0, 0.5, 1.0, 1.7])
    def test_a_scaled_matrix_has_that_radius(self, rho: float) -> None:
        W = np.random.default_rng(0).standard_normal((20, 20))
        assert np.abs(eigenvalues(scaled(W, rho))[0]) == pytest.approx(rho)

    @pytest.mark.parametrize("layers", [1, 2])
    def test_so_has_each_layer_of_a_scaled_rnn_and_nothing_else_changes(self, layers: int) -> None:
        model = tiny("rnn", layers=layers)
        before = [hidden_weights(model, n) for n in range(layers)]
        found = scaled(model, 1.25)
        for n in range(layers):
            W = hidden_weights(found, n)
            assert np.abs(eigenvalues(W)[0]) == pytest.approx(1.25, rel=1e-5)
            np.testing.assert_allclose(W / W[0, 0], before[n] / before[n][0, 0], rtol=1e-4)
            np.testing.assert_array_equal(hidden_weights(model, n), before[n])
        expected = double(model)
        for n in range(layers):
            getattr(expected.recurrence, f"weight_hh_l{n}").copy_(torch.tensor(hidden_weights(found, n).T))
        np.testing.assert_allclose(
            connectivity(found, TEXT[:12]).norms, by_autograd(expected, TEXT[:12])[:, 1:], rtol=1e-4
        )

    def test_the_curve_vanishes_or_explodes_with_the_dial(self) -> None:
        model = fading(0.5)
        for rho in (0.7, 1.0, 1.3):
            curve = state_gradients(scaled(model, rho), "ab" * 20).hidden[:, 0]
            np.testing.assert_allclose(curve[1:] / curve[:-1], rho, rtol=1e-5)

    @pytest.mark.parametrize("norm", ["frobenius", "spectral"])
    def test_norms_of_powers(self, norm: Any) -> None:
        W = np.random.default_rng(0).standard_normal((7, 7))
        order = "fro" if norm == "frobenius" else 2
        expected = [np.linalg.norm(np.linalg.matrix_power(W, k), order) for k in range(31)]  # type: ignore[call-overload]
        np.testing.assert_allclose(power_norms(W, 30, norm=norm), expected, rtol=1e-4)
        tiny_powers = power_norms(1e-20 * np.eye(3), 12, norm=norm)
        np.testing.assert_allclose(tiny_powers / tiny_powers[0], 1e-20 ** np.arange(13.0), rtol=1e-4)
        assert power_norms(1e20 * np.eye(2), 20, norm=norm)[-1] == np.inf
        np.testing.assert_array_equal(power_norms(np.zeros((2, 2)), 2, norm=norm)[1:], 0)

    def test_what_cannot_be_scaled(self) -> None:
        nilpotent = np.array([[0.0, 1.0], [0.0, 0.0]])
        for bad, rho, message in (
            (nilpotent, 1.0, "eigenvalues of this matrix are 0"),
            (self.W, -1.0, "rho is a number from 0"),
            (self.W, math.nan, "rho is a number from 0"),
            (np.ones((2, 3)), 1.0, r"received shape \(2, 3\)"),
            (np.full((2, 2), np.inf), 1.0, "not finite"),
        ):
            with pytest.raises(ConfigError, match=message):
                scaled(bad, rho)
        with pytest.raises(ConfigError, match="received a gru"):
            scaled(tiny("gru"), 1.0)
        with pytest.raises(ConfigError, match="from 0 to 0; received 1"):
            hidden_weights(tiny("rnn"), 1)
        with pytest.raises(ConfigError, match="no network"):
            hidden_weights(UniformModel(Vocabulary(("a",))))  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match="from 0 to 10,000"):
            power_norms(self.W, -1)
        with pytest.raises(ConfigError, match="received 'max'"):
            power_norms(self.W, 1, norm="max")  # type: ignore[arg-type]


ALL: Sequence[Any] = (connectivity, connectivity_row, state_gradients, jacobian_norms)


class TestBadInput:
    @pytest.mark.parametrize("function", ALL)
    def test_what_has_no_gradient(self, function: Any) -> None:
        with pytest.raises(EmptyTextError, match="at least one"):
            function(tiny("gru"), "")
        with pytest.raises(ConfigError, match="the n-gram model 'trigram' is a table"):
            function(NgramModel.fit(TEXT, order=3, name="trigram"), "abc")
        with pytest.raises(ConfigError, match="UniformModel"):
            function(UniformModel(Vocabulary(("a",))), "a")
        with pytest.raises(TextError, match="surrogate"):
            function(tiny("gru"), "a\ud800")

    @pytest.mark.parametrize("function", ALL[1:])
    @pytest.mark.parametrize("at", [0, -1, 4])
    def test_a_place_outside_the_text(self, function: Any, at: int) -> None:
        with pytest.raises(ConfigError, match=f"from 1 to 3; received {at}"):
            function(tiny("gru"), "abc", at=at)

    def test_a_text_too_long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(TextError, match=r"received 1,001 characters.*1,000.*connectivity_row"):
            connectivity(tiny("gru"), "a" * 1_001)
        monkeypatch.setattr(memory, "MAX_ROW", 5)
        monkeypatch.setattr(states, "MAX_LOSS", 5)
        monkeypatch.setattr(states, "MAX_JACOBIAN", 5)
        for function in ALL[1:]:
            with pytest.raises(TextError, match="limit is 5: cut the text's beginning off"):
                function(tiny("gru"), "a" * 6)
            function(tiny("gru"), "a" * 6, at=5)

    def test_states_that_overflow(self) -> None:
        with pytest.raises(CheckpointError, match="overflow within 200"):
            connectivity(fading(1e3), "ab" * 100)

    def test_line_ends_are_one_character(self) -> None:
        assert connectivity(tiny("gru"), "a\r\nb").text == "a\nb"

"""What flows back from state to state: against autograd in float64, one node of the graph at a time."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from rnnviz.gradients import jacobian_norms, state_gradients
from rnnviz.gradients.states import Largest
from rnnviz.networks.cells import CELLS
from tests.conftest import TEXT, tiny
from tests.gradients.autograd import NETWORKS, Doubles, double, norms_of, unrolled


class TestStates:
    @pytest.mark.parametrize(("cell", "options"), NETWORKS)
    def test_they_are_what_autograd_finds(self, cell: str, options: dict[str, Any]) -> None:
        model, text = tiny(cell, **options), TEXT[:25]
        hidden, cells, prediction = unrolled(double(model).requires_grad_(), text)
        found = state_gradients(model, TEXT, at=25)
        assert found.target == model.vocabulary.encode(TEXT[25])[0]
        loss = -prediction[found.target]
        np.testing.assert_allclose(found.hidden, norms_of(loss, hidden), rtol=1e-5, atol=1e-300)
        if CELLS[cell].has_cell:
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
                # A linear recurrence's Jacobian is diagonal, its singular values stand close together.
                rtol = 1e-2 if norm == "spectral" and CELLS[cell].linear else 1e-4
                np.testing.assert_allclose(
                    getattr(found[norm], name), np.reshape(expected, shape), rtol=rtol, atol=1e-300
                )

    def test_the_norms_of_the_last_state_itself(self) -> None:
        assert jacobian_norms(tiny("gru"), "machine").hidden[0, 0] == pytest.approx(math.sqrt(12))
        assert jacobian_norms(tiny("gru"), "machine", norm="spectral").hidden[0, 0] == pytest.approx(1)
        assert jacobian_norms(tiny("gru"), "machine").target is None

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

"""What flows back from state to state: against autograd in float64, one node of the graph at a time."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from rnnviz.gradients import jacobian
from rnnviz.lab.analysis.backward import spectral
from rnnviz.networks.cells import CELLS
from tests.support.autograd import double, unrolled
from tests.support.models import NETWORKS, TEXT
from tests.support.torch_models import tiny_torch


@pytest.mark.parametrize(("cell", "options"), NETWORKS[1:])
@pytest.mark.parametrize("hidden_size", [12, 40])
def test_jacobians_are_what_autograd_finds(cell: str, options: dict[str, Any], hidden_size: int) -> None:
    if "tied" in options:
        options = {}
    model, text = tiny_torch(cell, **{**options, "hidden_size": hidden_size}), TEXT[:9]
    hidden, cells, _ = unrolled(double(model).requires_grad_(), text)
    norms: tuple[Any, ...] = ("frobenius", "spectral")
    by_norm = {norm: jacobian(model, text, norm=norm) for norm in norms}
    assert by_norm["frobenius"].target is None
    assert (by_norm["frobenius"].cell is not None) == CELLS[cell].has_cell
    for nodes, name in ((hidden, "hidden"), (cells, "cell"))[: 1 + CELLS[cell].has_cell]:
        flat = [node for step in reversed(nodes) for node in step]
        rows = [torch.autograd.grad(y, flat, retain_graph=True, allow_unused=True) for y in hidden[-1][-1][0]]
        shape = (len(text) + 1, model.config.layers)
        jacobians = [
            torch.stack([torch.zeros(hidden_size) if r[k] is None else r[k][0] for r in rows])
            for k in range(len(flat))
        ]
        orders: dict[str, Any] = {"frobenius": "fro", "spectral": 2}
        for norm, order in orders.items():
            expected = [float(torch.linalg.matrix_norm(j, order)) for j in jacobians]
            np.testing.assert_allclose(
                getattr(by_norm[norm], name), np.reshape(expected, shape), rtol=1e-4, atol=1e-300
            )


def test_a_matrix_that_overflowed_is_infinite() -> None:
    assert spectral(np.full((5, 5), np.inf, np.float32)) == math.inf

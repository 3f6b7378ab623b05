"""A step's slopes: against autograd through the textbook's cell in float64, wide open and shut gates too."""

from typing import Any

import numpy as np
import pytest
import torch

from rnnviz.gradients.slopes import Dual, derivatives
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_engine import weights_from
from tests.conftest import tiny
from tests.gradients.autograd import Doubles
from tests.networks import textbook


@pytest.mark.parametrize("shift", [0.0, 9.0, -9.0])  # autograd itself has no digits left far beyond
@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize(
    ("cell", "options"), [*((cell, {}) for cell in CELLS), ("rnn", {"activation": "relu"})]
)
def test_they_are_what_autograd_finds(cell: Any, options: dict[str, Any], layer: int, shift: float) -> None:
    model, kind = tiny(cell, layers=2, **options), CELLS[cell]
    tensors = {name: values.clone() for name, values in model.state_dict().items()}
    tensors[model.config.layer_names(layer)[2 if kind.mixes else 1]] += shift
    weights = weights_from(model.config, {name: values.numpy() for name, values in tensors.items()})
    own = weights.layers[layer]
    draw = np.random.default_rng(3).uniform
    x, h, c = (draw(-1, 1, (4, wide)).astype(np.float32) for wide in (own.W_x.shape[1], 12, 12))
    states = derivatives(own, own.from_inputs(x), h, c if kind.has_cell else None)
    found = {name: state.by for name, state in states.items()}

    mine = [tensors[name].double().requires_grad_() for name in model.config.layer_names(layer)]
    ones = (torch.tensor(values, dtype=torch.float64) for values in (x, h, c))
    phi = getattr(torch, model.config.activation)
    parts = textbook.STEPS[cell](*ones, mine, phi, lambda name, value: value)

    def by(name: str, block: int, bias: int) -> Doubles:
        """∂(each row of a part)/∂(a block of the bias), (4, H)."""
        rows = [torch.autograd.grad(row.sum(), mine[bias], retain_graph=True)[0] for row in parts[name]]
        return torch.stack(rows).unflatten(1, (-1, 12))[:, kind.stored[block]].numpy()

    last = "cell" if kind.has_cell else "hidden"
    through = found["hidden"].get(("now", "cell"), 0.0)
    to_x = 2 if kind.mixes else 1
    for k in range(len(kind.blocks)):
        inner, outer = (found.get(state, {}).get(("x", k), 0.0) for state in ("cell", "hidden"))
        if kind.has_cell:
            np.testing.assert_allclose(inner + np.zeros((4, 12)), by("cell", k, to_x), rtol=1e-4)
        np.testing.assert_allclose(outer + through * inner, by("hidden", k, to_x), rtol=1e-4)
    if kind.own_bias:
        np.testing.assert_allclose(found["hidden"]["u", k], by("hidden", k, 3), rtol=1e-4)
    assert (("before", last) in found[last]) == (kind.keeps is not None)
    if kind.keeps is not None:
        np.testing.assert_allclose(found[last]["before", last], parts[kind.keeps].detach(), rtol=1e-4)


def test_a_record_may_subtract_and_use_numbers() -> None:
    a, b = Dual(2.0, {("x", 0): 1.0, ("u", 0): 1.0}), Dual(5.0, {("x", 1): 1.0, ("u", 0): 3.0})
    found = (a * 3 - b) * b + 1
    assert found.value == 6
    assert found.by == {("x", 0): 15, ("u", 0): 15 - 15 + 3, ("x", 1): -5 + 1}

"""A step's slopes: against autograd through the textbook's cell in float64, wide open and shut gates too."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from rnnviz.gradients.slopes import Dual, derivatives
from rnnviz.networks.config import CELLS
from rnnviz.networks.numpy_model import weights_from
from tests.conftest import tiny
from tests.gradients.autograd import Doubles
from tests.networks.textbook import LETTERS, of_torch, step

NAMED = {"reset": "r", "update": "z", "input": "i", "forget": "f", "output": "o", "hidden": "h"}


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
    found = derivatives(own, own.from_inputs(x), h, c if kind.has_cell else None)

    p = dict(of_torch(model.config, {name: values.double() for name, values in tensors.items()})[layer])
    biases = {name: values.repeat(4, 1).requires_grad_() for name, values in p.items() if name[0] == "b"}
    ones = (torch.tensor(values, dtype=torch.float64) for values in (x, h, c))
    parts = step(cell, {**p, **biases}, *ones, activation=model.config.activation)

    def by(of: Tensor, bias: str) -> Doubles:
        (slope,) = torch.autograd.grad(of.sum(), biases[bias], retain_graph=True, allow_unused=True)
        return np.zeros((4, 12)) if slope is None else slope.numpy()

    last = "cell" if kind.has_cell else "hidden"
    through = found["hidden"].get(("now", "cell"), 0.0)
    for k, block in enumerate(kind.blocks):
        bias = "b_" + NAMED.get(block, LETTERS[cell][kind.stored[k]])
        inner, outer = (found.get(state, {}).get(("x", k), 0.0) for state in ("cell", "hidden"))
        if kind.has_cell:
            np.testing.assert_allclose(inner + np.zeros((4, 12)), by(parts["cell"], bias), rtol=1e-4)
        np.testing.assert_allclose(outer + through * inner, by(parts["state"], bias), rtol=1e-4)
    if kind.own_bias:
        np.testing.assert_allclose(found["hidden"]["u", k], by(parts["state"], "b_hh"), rtol=1e-4)
    assert (("before", last) in found[last]) == (kind.keeps is not None)
    if kind.keeps is not None:
        np.testing.assert_allclose(found[last]["before", last], parts[kind.keeps].detach(), rtol=1e-4)


def test_a_record_may_subtract_and_use_numbers() -> None:
    a, b = Dual(2.0, {("x", 0): 1.0, ("u", 0): 1.0}), Dual(5.0, {("x", 1): 1.0, ("u", 0): 3.0})
    found = (a * 3 - b) * b + 1
    assert found.value == 6
    assert found.by == {("x", 0): 15, ("u", 0): 15 - 15 + 3, ("x", 1): -5 + 1}

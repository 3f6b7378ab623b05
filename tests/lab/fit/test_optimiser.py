"""The optimiser: steps by hand; and torch's own, number for number, also after being saved and read again."""

from typing import Any

import numpy as np
import pytest
import torch

from rnnviz.errors import ConfigError
from rnnviz.lab.fit import optimiser
from rnnviz.lab.fit.optimiser import make_optimiser, no_bfloat16, precision_on
from rnnviz.networks.config import TrainConfig
from tests.support.torch_models import tiny_torch


def test_a_matrix_decays_a_bias_does_not_and_both_follow_their_gradients() -> None:
    """Loshchilov & Hutter 2019, algorithm 2, in double precision: three steps from the initial weights."""
    model = tiny_torch("gru").requires_grad_()
    optimiser = make_optimiser(model, TrainConfig(weight_decay=0.3, learning_rate=0.02))
    generator = np.random.default_rng(1)
    weights = [p.detach().double().numpy().copy() for p in model.parameters()]
    first, second = ([np.zeros_like(p) for p in weights] for _ in range(2))
    for step in range(1, 4):
        for n, p in enumerate(model.parameters()):
            gradient = generator.normal(size=p.shape)
            p.grad = torch.tensor(gradient, dtype=p.dtype)
            first[n] = 0.9 * first[n] + 0.1 * gradient
            second[n] = 0.99 * second[n] + 0.01 * gradient**2
            if weights[n].ndim > 1:
                weights[n] *= 1 - 0.02 * 0.3
            mean, variance = first[n] / (1 - 0.9**step), second[n] / (1 - 0.99**step)
            weights[n] -= 0.02 * mean / (np.sqrt(variance) + 1e-8)
        optimiser.step()
    for p, expected in zip(model.parameters(), weights, strict=True):
        np.testing.assert_allclose(p.detach(), expected, atol=1e-6)


@pytest.mark.parametrize(("name", "momentum"), [("sgd", 0.0), ("momentum", 0.9)])
def test_gradient_descent_goes_down_the_gradient_and_momentum_adds_what_was(
    name: Any, momentum: float
) -> None:
    model = tiny_torch("gru").requires_grad_()
    recipe = TrainConfig(optimiser=name, weight_decay=0.3, learning_rate=0.02)
    optimiser = make_optimiser(model, recipe)
    generator = np.random.default_rng(1)
    weights = [p.detach().double().numpy().copy() for p in model.parameters()]
    velocity = [np.zeros_like(p) for p in weights]
    for _ in range(3):
        for n, p in enumerate(model.parameters()):
            gradient = generator.normal(size=p.shape)
            p.grad = torch.tensor(gradient, dtype=p.dtype)
            decay = 0.3 * weights[n] if weights[n].ndim > 1 else 0.0
            velocity[n] = momentum * velocity[n] + gradient + decay
            weights[n] -= 0.02 * velocity[n]
        optimiser.step()
    for p, expected in zip(model.parameters(), weights, strict=True):
        np.testing.assert_allclose(p.detach(), expected, atol=1e-6)


CPU, OTHER = torch.device("cpu"), torch.device("meta")


def test_a_processor_trains_in_float32_alone() -> None:
    for precision in ("auto", "float32"):
        assert precision_on(CPU, TrainConfig(precision=precision)) == "float32"
    with pytest.raises(ConfigError, match="on CUDA devices only; use precision float32 or auto"):
        precision_on(CPU, TrainConfig(precision="bfloat16"))


def test_another_device_trains_in_bfloat16_where_a_step_of_such_a_layer_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The meta device has no autocast: its refusal is as that of a device without bfloat16."""
    assert "torch can't train cell 'lstm' in precision bfloat16" in str(no_bfloat16("lstm", OTHER))
    assert precision_on(OTHER, TrainConfig()) == "float32"
    with pytest.raises(ConfigError, match="on this machine's meta; use float32"):
        precision_on(OTHER, TrainConfig(precision="bfloat16"))
    monkeypatch.setattr(optimiser, "no_bfloat16", lambda cell, device: None)
    precisions = [
        precision_on(OTHER, TrainConfig(precision=precision)) for precision in ("auto", "float32", "bfloat16")
    ]
    assert precisions == ["bfloat16", "float32", "bfloat16"]

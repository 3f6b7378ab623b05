"""The optimiser: steps by hand; and torch's own, number for number, also after being saved and read again."""

import numpy as np
import torch

from rnnviz.networks.config import TrainConfig
from rnnviz.training.optimiser import adamw
from tests.conftest import tiny


def test_a_matrix_decays_a_bias_does_not_and_both_follow_their_gradients() -> None:
    """Loshchilov & Hutter 2019, algorithm 2, in double precision: three steps from the initial weights."""
    model = tiny("gru").requires_grad_()
    optimiser = adamw(model, TrainConfig(weight_decay=0.3, learning_rate=0.02))
    generator = np.random.default_rng(1)
    found = [p.detach().double().numpy().copy() for p in model.parameters()]
    first, second = ([np.zeros_like(p) for p in found] for _ in range(2))
    for step in range(1, 4):
        for n, p in enumerate(model.parameters()):
            gradient = generator.normal(size=p.shape)
            p.grad = torch.tensor(gradient, dtype=p.dtype)
            first[n] = 0.9 * first[n] + 0.1 * gradient
            second[n] = 0.99 * second[n] + 0.01 * gradient**2
            if found[n].ndim > 1:
                found[n] *= 1 - 0.02 * 0.3
            mean, variance = first[n] / (1 - 0.9**step), second[n] / (1 - 0.99**step)
            found[n] -= 0.02 * mean / (np.sqrt(variance) + 1e-8)
        optimiser.step()
    for p, known in zip(model.parameters(), found, strict=True):
        np.testing.assert_allclose(p.detach(), known, atol=1e-6)


def test_it_steps_as_torchs_own_does() -> None:
    config = TrainConfig(weight_decay=0.3)
    ours, theirs = (tiny("lstm").requires_grad_() for _ in range(2))
    mine = adamw(ours, config)
    groups = [
        {"params": [p for p in theirs.parameters() if p.dim() > 1], "weight_decay": 0.3},
        {"params": [p for p in theirs.parameters() if p.dim() <= 1], "weight_decay": 0.0},
    ]
    other = torch.optim.AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.99), fused=True)
    generator = torch.Generator().manual_seed(1)
    for step in range(6):
        for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
            p.grad = torch.randn(p.shape, generator=generator)
            q.grad = p.grad.clone()
        if step == 3:  # each goes on from what the other saved
            saved = mine.state_dict(), other.state_dict()
            mine, other = adamw(ours, config), torch.optim.AdamW(other.param_groups, fused=True)
            mine.load_state_dict(saved[1])
            other.load_state_dict(saved[0])
        mine.step()
        other.step()
        mine.zero_grad()
        assert all(p.grad is None for p in ours.parameters())
    for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(p, q)

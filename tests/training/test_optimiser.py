"""The optimiser: what torch's own does, number for number, also after being saved and read again."""

from __future__ import annotations

import torch

from rnnviz.networks.config import TrainConfig
from rnnviz.training.optimiser import adamw
from tests.conftest import tiny


def test_it_steps_as_torchs_own_does() -> None:
    config = TrainConfig(weight_decay=0.3)
    ours, theirs = (tiny("lstm").requires_grad_() for _ in range(2))
    mine = adamw(ours, config)
    groups = [{key: value for key, value in group.items() if key != "params"} for group in mine.param_groups]
    kinds = [p.dim() > 1 for p in theirs.parameters()]
    assert [len(group["params"]) for group in mine.param_groups] == [sum(kinds), len(kinds) - sum(kinds)]
    split: tuple[list[torch.Tensor], ...] = ([], [])
    for p in theirs.parameters():
        split[p.dim() <= 1].append(p)
    other = torch.optim.AdamW([{"params": p, **g} for p, g in zip(split, groups, strict=True)], fused=True)
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

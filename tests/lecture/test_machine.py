"""The word's small network: every number of it is torch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rnnviz.errors import ConfigError
from rnnviz.lecture.machine import NAMES, Machine


def by_torch(word: Machine, cut: int | None = None) -> dict[str, torch.Tensor]:
    """The same net as torch's graph; with `cut`, states are detached at every cut-th step from the end."""
    leaves = {name: torch.tensor(getattr(word.net, name), requires_grad=True) for name in NAMES}
    W_xh, W_hh, b_h, W_hq, b_q = leaves.values()
    h, states, outputs, losses = torch.zeros(len(b_h), dtype=torch.float64), [], [], []
    for t, (i, label) in enumerate(zip(word.ids, word.targets, strict=True)):
        crossed = h if cut is None or (word.steps - t) % cut else h.detach()
        h = torch.tanh(
            torch.cat([torch.eye(len(W_xh), dtype=torch.float64)[i], crossed]) @ torch.cat([W_xh, W_hh]) + b_h
        )
        o = h @ W_hq + b_q
        for node in (h, o):
            node.retain_grad()
        states.append(h)
        outputs.append(o)
        losses.append(torch.nn.functional.cross_entropy(o, torch.tensor(label)))
    loss = torch.stack(losses).mean()
    loss.backward()
    grads = {name: leaf.grad for name, leaf in leaves.items()}
    return {
        **{name: g for name, g in grads.items() if g is not None},
        "loss": loss.detach(),
        "losses": torch.stack(losses).detach(),
        "states": torch.stack(states).detach(),
        "∂state": torch.stack([h.grad for h in states if h.grad is not None]),
        "∂output": torch.stack([o.grad for o in outputs if o.grad is not None]),
    }


@pytest.mark.parametrize("steps", [1, 3, 6])
@pytest.mark.parametrize("seed", [7, 8])
@pytest.mark.parametrize("cut", [None, 1, 2])
def test_forwards_and_backwards_it_is_torch(steps: int, seed: int, cut: int | None) -> None:
    if cut is not None and cut > steps:
        cut = steps
    word = Machine(seed, steps=steps)
    there, back = word.forward, word.backward(cut)
    theirs = by_torch(word, cut)
    for mine, name in (
        (there.losses, "losses"),
        (there.state, "states"),
        (there.loss, "loss"),
        (back.state, "∂state"),
        (back.output, "∂output"),
    ):
        np.testing.assert_allclose(mine, theirs[name].numpy(), rtol=1e-9, atol=1e-12)
    for name in NAMES:
        np.testing.assert_allclose(back.gradients[name], theirs[name].numpy(), rtol=1e-9, atol=1e-12)
    norm = torch.nn.utils.get_total_norm([theirs[name] for name in NAMES])
    assert back.norm == pytest.approx(float(norm))


def test_the_parts_of_a_step_add_up() -> None:
    there, back = Machine().forward, Machine().backward()
    np.testing.assert_allclose(
        there.pre_activation, there.from_input + there.from_state + Machine().net.b_h, rtol=1e-12
    )
    np.testing.assert_allclose(back.state, back.from_loss + back.from_next, rtol=1e-12)
    np.testing.assert_allclose(back.delta, back.state * (1 - there.state**2), rtol=1e-12)
    np.testing.assert_allclose(Machine().by_lag().sum(axis=0), back.gradients["W_hh"], rtol=1e-9)
    assert there.perplexity == pytest.approx(np.exp(there.losses.mean()))


def test_clipping_shortens_all_gradients_together() -> None:
    word = Machine()
    full = word.backward()
    short = word.clipped(full.norm / 4)
    for name in NAMES:
        np.testing.assert_allclose(short[name], full.gradients[name] / 4, rtol=1e-9)
        np.testing.assert_allclose(word.clipped(2 * full.norm)[name], full.gradients[name])


def test_steps_and_cuts_out_of_range_are_refused() -> None:
    for steps in (0, 7):
        with pytest.raises(ConfigError, match=f"received {steps}"):
            Machine(steps=steps)
    with pytest.raises(ConfigError, match="received 4"):
        Machine(steps=3).backward(cut=4)

"""The word's small network of the lecture: every number of it is torch's."""

import numpy as np
import pytest
import torch

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
        o.retain_grad()
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
        "∂output": torch.stack([o.grad for o in outputs if o.grad is not None]),
    }


@pytest.mark.parametrize(
    ("steps", "text", "cut"),
    [
        *((1, "machine", cut) for cut in (None, 1)),
        *((3, "machine", cut) for cut in (None, 1, 2)),
        *((6, "machine", cut) for cut in (None, 1, 2)),
        *((4, "niche", cut) for cut in (None, 1, 2)),
    ],
)
@pytest.mark.parametrize("seed", [7, 8])
def test_machine_equals_torch_both_ways(steps: int, text: str, seed: int, cut: int | None) -> None:
    word = Machine(seed, steps=steps, text=text)
    forward, theirs = word.forward, by_torch(word, cut)
    ours = {
        "losses": forward.losses,
        "states": forward.state,
        "loss": forward.loss,
        "∂output": forward.errors,
    }
    ours["W_hh"] = word.pairs()[word.uncut_pairs(cut)].sum(axis=0)
    if cut is None:
        ours |= word.gradients()
    for name, mine in ours.items():
        np.testing.assert_allclose(mine, theirs[name].numpy(), rtol=1e-9, atol=1e-12)
    assert forward.perplexity == pytest.approx(np.exp(forward.losses.mean()))


@pytest.mark.parametrize("steps", [1, 3, 6])
def test_gradient_of_loss_and_step_equals_torch(steps: int) -> None:
    """Each step has a W_hh of its own, so that torch tells them apart."""
    word = Machine(steps=steps)
    net = word.net
    W_xh, b_h, W_hq, b_q = (torch.tensor(getattr(net, n)) for n in ("W_xh", "b_h", "W_hq", "b_q"))
    weights = [torch.tensor(net.W_hh, requires_grad=True) for _ in range(steps)]
    h, pairs = torch.zeros(len(b_h), dtype=torch.float64), word.pairs()
    for t in range(steps):
        h = torch.tanh(W_xh[word.ids[t]] + h @ weights[t] + b_h)
        loss = torch.nn.functional.cross_entropy(h @ W_hq + b_q, torch.tensor(word.targets[t])) / steps
        theirs = torch.autograd.grad(loss, weights[: t + 1], retain_graph=True)
        for s, gradient in enumerate(theirs):
            np.testing.assert_allclose(pairs[t, s], gradient.numpy(), rtol=1e-9, atol=1e-12)
        assert not pairs[t, t + 1 :].any()
    assert not pairs[:, 0].any(), "H_0 = 0"


@pytest.mark.parametrize("steps", [3, 6])
def test_machine_without_state_passes_nothing_on(steps: int) -> None:
    word = Machine(steps=steps, recurrent=False)
    assert not word.net.W_hh.any()
    assert not word.pairs()[~word.uncut_pairs(cut=1)].any(), "there is nothing to cut"
    theirs = by_torch(word)
    for name, mine in word.gradients().items():
        np.testing.assert_allclose(mine, theirs[name].numpy(), rtol=1e-9, atol=1e-12)

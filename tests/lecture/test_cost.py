"""What the way back costs: its gradients are torch's, what is kept is counted, the clock is read in turns."""

from itertools import count

import numpy as np
import pytest
import torch

from rnnviz.gradients import truncated_gradient
from rnnviz.lecture import cost


def test_there_and_back_is_torch() -> None:
    net, ids, labels = cost.task(20)
    leaves = {
        n: torch.tensor(getattr(net, n), requires_grad=True) for n in ("W_xh", "W_hh", "b_h", "W_hq", "b_q")
    }
    before = np.random.default_rng(1).uniform(-1, 1, cost.UNITS)
    h, loss = torch.tensor(before), torch.zeros((), dtype=torch.float64)
    for i, label in zip(ids, labels, strict=True):
        h = torch.tanh(leaves["W_xh"][i] + h @ leaves["W_hh"] + leaves["b_h"])
        loss = loss + torch.nn.functional.cross_entropy(
            h @ leaves["W_hq"] + leaves["b_q"], torch.tensor(int(label))
        )
    theirs = torch.autograd.grad(loss, list(leaves.values()))
    mine, kept = cost.there(net, ids, labels, before)
    assert mine == pytest.approx(float(loss.detach()))
    found = cost.back(net, kept)
    for name, gradient in zip(leaves, theirs, strict=True):
        np.testing.assert_allclose(found[name], gradient.numpy(), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("cut", [1, 8, 20, 50])
def test_pieces_carry_the_state_on_and_no_gradient(cut: int) -> None:
    net, ids, labels = cost.task(20)
    pieces = list(cost.updates(net, ids, labels, cut))
    assert len(pieces) == -(-20 // cut)
    together = sum(found["W_hh"] for found, _ in pieces)
    np.testing.assert_allclose(
        together / 20, truncated_gradient(net, ids, labels, cut), rtol=1e-8, atol=1e-12
    )


def test_what_is_kept_grows_with_the_length_and_is_bounded_by_the_cut() -> None:
    for steps in cost.LENGTHS:
        for cut in cost.CUTS:
            found = cost.measured(steps, cut, repeats=1)
            row = 8 * (
                2 + 2 * cost.UNITS + cost.SYMBOLS
            )  # labels and character, state and slope, probabilities
            assert found.kept == steps * row + 8 * cost.UNITS
            assert found.update_kept == min(steps, cut) * row + 8 * cost.UNITS


def test_medians_of_the_clock() -> None:
    ticks = count()
    found = cost.measured(40, 16, repeats=3, clock=lambda: float(next(ticks)))
    assert (found.forward, found.both, found.update) == (1, 1, 1)
    assert found.update_kept == cost.kept(16), "the last piece is shorter"

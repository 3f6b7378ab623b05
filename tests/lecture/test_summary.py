"""The closing numbers, each computed in another way."""

import math

import numpy as np
import pytest
import torch

from rnnviz.lecture import summary
from rnnviz.lecture.machine import Machine
from rnnviz.reading.trace import trace
from tests.lecture.test_snippets import network


def last_state(text: str) -> torch.Tensor:
    """The word's network after a text, by torch."""
    net = Machine().net
    W_xh, W_hh, b_h = (torch.tensor(array) for array in (net.W_xh, net.W_hh, net.b_h))
    state = torch.zeros(4, dtype=torch.float64)
    for c in text:
        state = torch.tanh(W_xh["machine".index(c)] + state @ W_hh + b_h)
    return state


def test_a_state_tells_apart_what_ends_alike() -> None:
    one, other = (np.exp(trace(network("rnn"), text).log_probs[-1]) for text in summary.TEXTS)
    assert summary.recurrent(network("rnn")) == pytest.approx(float(np.abs(one - other).max()), abs=1e-6)
    assert summary.recurrent(network("mlp")) == 0
    assert summary.TEXTS[0][-1] == summary.TEXTS[1][-1]


def test_the_first_character_is_still_there_in_the_last_state() -> None:
    change = (last_state("machin") - last_state(summary.OTHER + "achin")).abs().max()
    assert summary.history() == pytest.approx(float(change))


def test_the_small_network_stores_83_numbers() -> None:
    d, h, q = 7, 4, 7
    assert summary.parameters() == d * h + h * h + h + h * q + q


def test_the_word_is_learned() -> None:
    found = summary.learned()
    assert found.before == pytest.approx(Machine().forward.perplexity)
    assert found.after < 1.05 < found.before
    assert found.written == "machine"


def test_only_a_state_is_handed_back_to() -> None:
    word = Machine()
    states = [torch.zeros(4, dtype=torch.float64)]
    W_xh, W_hh, b_h, W_hq, b_q = (
        torch.tensor(getattr(word.net, name)) for name in ("W_xh", "W_hh", "b_h", "W_hq", "b_q")
    )
    losses = []
    for x, label in zip(word.ids, word.targets, strict=True):
        states.append(torch.tanh(W_xh[x] + states[-1] @ W_hh + b_h).requires_grad_())
        losses.append(-torch.log_softmax(states[-1] @ W_hq + b_q, 0)[label])
    later = sum(losses[1:]) / len(losses)
    (grad,) = torch.autograd.grad(later, states[1])
    assert summary.handed_back(recurrent=True) == pytest.approx(float(grad.norm()))
    assert summary.handed_back(recurrent=False) == 0


@pytest.mark.parametrize("cut", range(1, 7))
def test_a_cut_leaves_the_pairs_on_one_side_of_it(cut: int) -> None:
    steps = range(1, 7)
    pieces = [(6 - t) // cut for t in steps]
    left = sum(s <= t and pieces[s - 1] == pieces[t - 1] for t in steps for s in steps)
    assert summary.left(cut) == (left, 21)


def test_a_high_power_is_small_below_one_and_large_above() -> None:
    assert summary.powers() < 0.1
    assert summary.powers(1.1) > 10
    assert summary.powers(0.9) / summary.powers(1.1) == pytest.approx((0.9 / 1.1) ** 40)
    assert summary.powers(k=0) == 1


def test_what_is_kept_is_counted_step_by_step() -> None:
    word = Machine()
    each = sum(math.prod(array.shape[1:]) for array in word.cached().values())
    assert summary.cached() == word.steps * each

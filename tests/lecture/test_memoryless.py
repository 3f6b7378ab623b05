"""Two texts that end alike, without a state and with one."""

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz.lecture import memoryless
from rnnviz.lecture.machine import Machine
from tests.conftest import tiny

RNN = tiny("rnn")
MLP = tiny("mlp")
MACHINE = "machine"  # its letters in this order are the symbols


def test_without_a_state_two_texts_that_end_alike_are_one_to_the_last_bit() -> None:
    compared = memoryless.compare(memoryless.ending(MLP, "The time"), memoryless.ending(MLP, "brass e"), 5)
    assert compared.prediction == compared.state == 0.0


def test_with_a_state_they_differ_by_what_the_core_says() -> None:
    one, other = (memoryless.ending(RNN, text) for text in ("The time", "brass e"))
    compared = memoryless.compare(one, other, 4)
    traces = [rnnviz.trace(RNN, text) for text in ("The time", "brass e")]
    p, q = (np.exp(t.log_probs[-1]) for t in traces)
    assert compared.prediction == pytest.approx(float(np.abs(p - q).max()))
    assert compared.state == pytest.approx(float(np.abs(traces[0].hidden[-1] - traces[1].hidden[-1]).max()))
    assert compared.state > 0.01
    likeliest = np.maximum(p, q)
    assert [likeliest[i] for i in compared.symbols] == sorted(likeliest, reverse=True)[:4]


@pytest.mark.parametrize("pairs", [["ma", "hi", "in"], ["ne"], ["ac", "ac", "mm", "em"]])
def test_a_minibatch_is_torchs_two_linear_layers(pairs: list[str]) -> None:
    net = Machine().net
    found = memoryless.minibatch(net, pairs)
    W_xh, b_h, W_hq, b_q = (torch.tensor(getattr(net, name)) for name in ("W_xh", "b_h", "W_hq", "b_q"))
    x = torch.nn.functional.one_hot(torch.tensor([MACHINE.index(pair[0]) for pair in pairs]), 7).double()
    labels = torch.tensor([MACHINE.index(pair[1]) for pair in pairs])
    hidden = torch.tanh(torch.nn.functional.linear(x, W_xh.T, b_h))
    output = torch.nn.functional.linear(hidden, W_hq.T, b_q)
    losses = torch.nn.functional.cross_entropy(output, labels, reduction="none")
    for mine, theirs in [
        (found.x, x),
        (found.product, x @ W_xh),
        (found.hidden, hidden),
        (found.output, output),
        (found.probabilities, output.softmax(dim=1)),
        (found.losses, losses),
        (np.array(found.loss), losses.mean()),
    ]:
        np.testing.assert_allclose(mine, theirs.numpy(), rtol=1e-12)
    assert found.targets == labels.tolist()


def test_the_order_of_the_rows_makes_no_difference() -> None:
    net, pairs = Machine().net, memoryless.drawn_pairs(1, n=3)
    one, other = memoryless.minibatch(net, pairs), memoryless.minibatch(net, pairs[::-1])
    np.testing.assert_array_equal(one.hidden, other.hidden[::-1])
    np.testing.assert_allclose(one.output, other.output[::-1], rtol=1e-12)
    assert one.loss == pytest.approx(other.loss, rel=1e-12)


def test_pairs_are_neighbours_in_the_word_and_every_one_comes_up() -> None:
    drawn = [memoryless.drawn_pairs(seed, n=3) for seed in range(60)]
    assert {pair for pairs in drawn for pair in pairs} == {"ma", "ac", "ch", "hi", "in", "ne"}
    assert all(len(set(pairs)) == 3 for pairs in drawn)
    assert any(pairs != sorted(pairs, key="machine".index) for pairs in drawn), "in no order"

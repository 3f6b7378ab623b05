"""The small net against the textbook's cell; the parts of a real unit against its state."""

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz.lecture import recurrence
from rnnviz.lecture.machine import Machine, numbers
from tests.conftest import tiny

RNN = tiny("rnn")
MLP = tiny("mlp")


@pytest.mark.parametrize("seed", [0, 2, 9999])
@pytest.mark.parametrize("texts", [("machin",), ("machin", "cinema"), ("m", "a", "m")])
def test_the_small_net_is_the_textbooks_cell(seed: int, texts: tuple[str, ...]) -> None:
    net = Machine(seed).net
    assert (net.W_xh.shape, net.W_hh.shape, net.W_hq.shape) == ((7, 4), (4, 4), (4, 7))
    W_xh, W_hh, b_h = (torch.tensor(getattr(net, name)) for name in ("W_xh", "W_hh", "b_h"))
    h = torch.zeros(len(texts), 4, dtype=torch.float64)
    steps = recurrence.walk(net, *map(numbers, texts))
    assert steps.x.shape == (len(texts[0]), len(texts), 7)
    for t, column in enumerate(zip(*texts, strict=True)):
        x = torch.eye(7, dtype=torch.float64)[numbers("".join(column))]
        wanted = {"from_input": x @ W_xh, "from_state": h @ W_hh}
        wanted["pre_activation"] = wanted["from_input"] + wanted["from_state"] + b_h
        wanted["state"] = torch.tanh(wanted["pre_activation"])
        for name, values in wanted.items():
            np.testing.assert_allclose(getattr(steps, name)[t], values.numpy(), atol=1e-12)
        np.testing.assert_allclose(steps.before[t], h.numpy(), atol=1e-12)
        h = wanted["state"]
        output = torch.nn.functional.linear(h, torch.tensor(net.W_hq.T), torch.tensor(net.b_q))
        np.testing.assert_allclose(steps.output[t], output.numpy(), atol=1e-12)
    np.testing.assert_array_equal(np.round(net.W_xh, 1), net.W_xh)  # what is shown is what is used


def test_rows_of_a_minibatch_dont_hear_of_each_other() -> None:
    net = Machine().net
    both, alone = (
        recurrence.walk(net, *map(numbers, texts)) for texts in (("machin", "cinema"), ("cinema",))
    )
    for one, other in zip(both, alone, strict=True):
        np.testing.assert_allclose(one[:, 1], other[:, 0], rtol=1e-12)


@pytest.mark.parametrize("embedding", [0, 6])
def test_a_units_parts_add_up_to_its_state(embedding: int) -> None:
    model = tiny("rnn", embedding_size=embedding)
    text = "The lever ☃"
    taken, read = recurrence.Recurrence(model, text), rnnviz.trace(model, text)
    assert len(taken) == len(text)
    np.testing.assert_array_equal(taken.states[1:], read.hidden[:, 0])
    for t, unit in ((1, 0), (5, 11), (len(text), 3)):
        parts = taken.parts(t, unit)
        assert np.tanh(parts.pre_activation) == pytest.approx(read.hidden[t - 1, 0, unit], abs=1e-5)
    assert len(set(taken.varied(4))) == 4

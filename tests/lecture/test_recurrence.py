"""The small net against the textbook's cell; the parts of a real unit against its state."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz.errors import ConfigError
from rnnviz.lecture import recurrence
from rnnviz.networks.cells import step as textbook_step
from tests.conftest import tiny

RNN = tiny("rnn")
MLP = tiny("mlp")


@pytest.mark.parametrize("seed", [0, 3, 9999])
def test_the_small_net_is_the_textbooks_cell(seed: int) -> None:
    net = recurrence.SmallNet.drawn(seed)
    assert (net.W_xh.shape, net.W_hh.shape, net.b_h.shape) == ((3, 4), (4, 4), (4,))
    parameters = {name: torch.tensor(getattr(net, name)) for name in ("W_xh", "W_hh", "b_h")}
    h = torch.zeros(1, 4, dtype=torch.float64)
    steps = net.read([2, 1, 0, 2])
    for t, number in enumerate([2, 1, 0, 2]):
        x = torch.eye(3, dtype=torch.float64)[number : number + 1]
        wanted = textbook_step("rnn", parameters, x, h)
        for name in ("from_input", "from_state", "pre_activation", "state"):
            np.testing.assert_allclose(getattr(steps, name)[t], wanted[name][0].numpy(), atol=1e-12)
        h = wanted["state"]
    np.testing.assert_array_equal(np.round(net.W_xh, 1), net.W_xh)  # what is shown is what is used


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
        largest, rest = parts.largest(3)
        whole = parts.from_input + parts.terms[largest].sum() + rest + parts.bias
        assert whole == pytest.approx(parts.pre_activation, abs=1e-6)
        assert np.abs(parts.terms[largest]).min() >= np.abs(np.delete(parts.terms, largest)).max()
    assert len(set(taken.varied(4))) == 4


def test_only_a_plain_network_of_one_layer_is_one_sum() -> None:
    for model in (tiny("gru"), MLP, tiny("rnn", layers=2)):
        with pytest.raises(ConfigError, match="plain recurrent network"):
            recurrence.Recurrence(model, "time")
    taken = recurrence.Recurrence(RNN, "time")
    for t, unit in ((0, 0), (5, 0), (1, 12)):
        with pytest.raises(ConfigError, match="t is 1 to 4"):
            taken.parts(t, unit)

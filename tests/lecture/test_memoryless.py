"""Two texts that end alike, without a state and with one."""

from __future__ import annotations

import numpy as np
import pytest

import rnnviz
from rnnviz.errors import ConfigError
from rnnviz.lecture import memoryless
from tests.conftest import tiny

RNN = tiny("rnn")
MLP = tiny("mlp")


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
    with pytest.raises(ConfigError, match="at least one character"):
        memoryless.ending(RNN, "")

"""Scene 3: what its pictures show is what other ways to compute it give."""

from typing import Any

import numpy as np
import pytest

from rnnviz.lecture.machine import WORD, Machine, draw_weights, numbers
from rnnviz.lecture.primitives import Node
from rnnviz.lecture.readers import load
from rnnviz.lecture.scene_3_recurrence import LETTERS, adjacent, first, minibatch, parameters, unit
from rnnviz.lecture.small_rnn import unroll
from rnnviz.scoring.tracer import trace
from tests.support.lecture import nodes


def part_values(picture: Node, **keys: Any) -> np.ndarray:
    """The values of the part that has all that is wanted."""
    return np.array(next(part["values"] for part in nodes(picture) if keys.items() <= part.items()))


@pytest.mark.parametrize("t", [1, 2, 6])
def test_a_time_step_adds_what_its_terms_say(t: int) -> None:
    net, ids = draw_weights(5, 7), numbers(WORD)
    picture = first(t, 5)[0]
    run = unroll(net, ids[:t], ids[1 : t + 1])
    assert part_values(picture, stands="H_t-1")[0] == pytest.approx(run.before[t - 1], abs=1e-4)
    assert part_values(picture, stands="O_t")[0] == pytest.approx(run.output[t - 1], abs=1e-3)
    from_input, from_state, bias, total, state = part_values(picture, look="plain tight")
    assert from_input.tolist() == net.W_xh[ids[t - 1]].tolist()
    assert from_input + from_state + bias == pytest.approx(total, abs=1e-3)
    assert state == pytest.approx(run.state[t - 1], abs=1e-4)


def test_side_by_side_is_the_same_network() -> None:
    states = Machine().forward.state
    assert part_values(adjacent(4)[0], stands="H_t") == pytest.approx(states[3], abs=1e-4)
    assert part_values(adjacent(4)[0], stands="H_t-1") == pytest.approx(states[2], abs=1e-4)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_row_of_a_minibatch_is_its_place_read_alone(n: int) -> None:
    net, apart = Machine().net, len(LETTERS) // n
    together = part_values(minibatch(n, 6)[0], stands="H_t")
    for i, row in enumerate(together):
        ids = numbers(LETTERS[i * apart :][:7])
        assert row == pytest.approx(unroll(net, ids[:6], ids[1:]).state[5], abs=1e-4)


def test_a_real_units_parts_add_up_to_what_the_model_computes() -> None:
    hidden = trace(load("timemachine-rnn"), "a Time").hidden
    from_input, from_state, bias, total, h = part_values(unit("a Time", 7, 3)[0], look="plain large")[:, 0]
    assert from_input + from_state + bias == pytest.approx(total, abs=1e-3)
    assert np.tanh(total) == pytest.approx(h, abs=1e-4)
    assert h == pytest.approx(hidden[2, 0][7], abs=1e-4)


def test_all_parameters_are_counted_once() -> None:
    assert "28 + 16 + 4 + 28 + 7 = 83" in [part.get("words") for part in nodes(parameters(6)[0])]
    (table,) = [part for part in nodes(parameters(6)[0]) if part["kind"] == "table"]
    assert table["rows"][0][1:] == ["83", "83"], "ten times the text, exactly as many"

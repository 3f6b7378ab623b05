"""Scene 3: what its pictures show is what other ways to compute it give."""

from typing import Any

import numpy as np
import pytest

from rnnviz.lecture.machine import WORD, Machine, draw_weights, numbers
from rnnviz.lecture.primitives import Node
from rnnviz.lecture.scene_3_recurrence import LETTERS, adjacent, minibatch, parameters
from rnnviz.lecture.small_rnn import unroll
from tests.support.lecture import nodes, run_code, step_of


def part_values(picture: Node, **keys: Any) -> np.ndarray:
    """The values of the part that has all that is wanted."""
    return np.array(next(part["values"] for part in nodes(picture) if keys.items() <= part.items()))


@pytest.mark.parametrize("t", [1, 2, 6])
def test_a_time_step_adds_what_its_terms_say(t: int) -> None:
    net, ids = draw_weights(5, 7), numbers(WORD)
    step = step_of("first")
    picture = step.draw({**step.initial_values, "t": t, "seed": 5, "scores": 1})[0]
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


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_row_of_a_minibatch_is_its_place_read_alone(n: int) -> None:
    net, apart = Machine().net, len(LETTERS) // n
    together = part_values(minibatch(n, 6, 0)[0], stands="H_t")
    for i, row in enumerate(together):
        ids = numbers(LETTERS[i * apart :][:7])
        assert row == pytest.approx(unroll(net, ids[:6], ids[1:]).state[5], abs=1e-4)


def test_a_batch_that_starts_at_zero_forgets_the_one_before() -> None:
    net, apart = Machine().net, len(LETTERS) // 2
    together = part_values(minibatch(2, 6, 1)[0], stands="H_t")
    for i, row in enumerate(together):
        ids = numbers(LETTERS[i * apart :][3:7])
        assert row == pytest.approx(unroll(net, ids[:3], ids[1:]).state[2], abs=1e-4)


@pytest.mark.parametrize("rho", [0.8, 1.3, 1.6])
def test_tanh_alone_keeps_a_state_between_bounds(rho: float) -> None:
    size = run_code("tanh", rho=rho)["size"]
    assert max(size["tanh"]) <= 1
    if rho > 1:
        assert max(size["identity"]) > 2


def test_a_one_hot_product_is_a_look_up() -> None:
    for letter in WORD:
        names = run_code("embedding", letter=letter)
        assert names["difference"] == 0
        assert names["product"].tolist() == Machine().net.W_xh[numbers(letter)[0]].tolist()


def test_all_parameters_are_counted_once() -> None:
    assert "28 + 16 + 4 + 28 + 7 = 83" in [part.get("words") for part in nodes(parameters(6)[0])]
    (table,) = [part for part in nodes(parameters(6)[0]) if part["kind"] == "table"]
    assert table["rows"][0][1:] == ["83", "83"], "ten times the text, exactly as many"

"""What the answers to the steps' questions rest on, and scene 8's numbers, computed another way."""

import math

import numpy as np
import pytest

from rnnviz.lecture import scene_8_questions as scene
from rnnviz.lecture.readers import recorded
from tests.support.lecture import STEPS, run_code


def above(value: list[float], other: list[float]) -> bool:
    """Whether a mean is above another by more than three standard errors of the difference."""
    return value[0] - other[0] > 3 * math.hypot(value[1], other[1])


def evidence() -> dict[str, bool]:
    """What makes an option the right one, by it."""
    written, output, moved = recorded("writing"), run_code("outputs"), run_code("all_before")["moved"]
    cold, *_between, hot, book = written["temperatures"]
    *searched, _picture, read = written["beams"][1:]
    terms, pi = run_code("mean")["terms"], 0.7
    heart, ends = (
        run_code("heart"),
        [np.transpose(run_code("dial", rho=r)["sizes"])[0][-1] for r in (0.8, 1.25)],
    )
    return {
        "as many as there are different characters": len(output["P"]) == output["V"] != output["H"],
        "the state before already depends on them all": moved["lstm"] > 0 == round(moved["mlp"], 6),
        "it soon goes round in circles": all(value["looped"] > 10 for value in written["greedy"]),
        "low: repeats itself; high: makes up words": above(cold["repeated"], book["repeated"])
        and above(hot["made_up"], book["made_up"]),
        "about 10 characters": np.argmin(abs(np.log(np.array([3, 10, 100]) / run_code("far")["reach"]))) == 1,
        "about 44": run_code("hundredth")["k"] == 44,
        "(0.6, 0.8)": np.allclose(run_code("clipped")["left"], (0.6, 0.8)),
        "equal to the full gradient": np.isclose((pi * (1 / pi)) ** np.arange(12) @ terms, terms.sum()),
        "likelier, and it repeats itself": all(
            value["likelier"] > value["less_likely"] and above(value["repeated"], read["repeated"])
            for value in searched
        ),
        "the minGRU, long after the LSTM has stopped": [
            mean > 2 * error and mean > 0.01 for mean, error in run_code("windows")["lost"].values()
        ]
        == [True, False],
        "the MLP, but not the RNN": run_code("prediction")["difference"]["mlp"] == 0,
        "exactly as many": len(set(run_code("parameters")["shared"])) == 1,
        "only the likelihood": np.ptp(run_code("books")["mean"][1:]) == 0,
        "the perplexity is infinite": math.isinf(run_code("game")["one_impossible"]),
        "that of text it was not trained on": heart["held_out"][-1] > heart["V"] > heart["train"][-1],
        "it may vanish or explode: the weights decide": ends[0] < 1e-3 and ends[1] > 1e3,
    }


def test_the_right_answers_follow_from_what_is_computed() -> None:
    questions = [step.question for _module, step in STEPS if step.question]
    options = evidence()
    assert sorted(options) == sorted(value.options[value.right] for value in questions)
    assert [answer for answer, holds in options.items() if not holds] == []


@pytest.mark.parametrize("pi", [0.5, 0.9])
def test_a_random_cut_is_right_on_average_and_a_clipped_arrow_keeps_its_direction(pi: float) -> None:
    picture, _notice = scene.mean(pi, 3)
    (_n, full, _w), (_n, mean, written), _cut = picture["rows"]
    assert abs(mean - full) < 4 * float(written.split("± ")[1])
    picture = scene.clipped(2.0)[0]
    x, y = picture["arrows"][1][:2]
    assert (math.hypot(x, y), y / x) == pytest.approx((2, 4 / 3))
    assert np.allclose(scene.clipped(10.0)[0]["arrows"][1][:2], (3, 4))

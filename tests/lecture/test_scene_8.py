"""Scene 8: what its questions' answers rest on, computed another way."""

import math

import numpy as np
import pytest

import rnnviz
from rnnviz.lecture import scene_8_questions as scene
from rnnviz.lecture.readers import recorded
from rnnviz.lecture.scenes import scenes
from rnnviz.lecture.steps import PICK, SEEN

RIGHT = {
    "outputs": 2, "all_before": 1, "greedy": 1, "temperature": 1, "far": 1,
    "hundredth": 1, "clipped": 1, "mean": 1, "beams": 1, "windows": 1,
}  # fmt: skip


def test_the_right_answers_follow_from_what_was_computed() -> None:
    for step in scenes()[7].steps:
        values = step.usual | {PICK: SEEN}
        assert step.shown(values).right == RIGHT[step.name], step.name


def test_what_was_recorded_can_be_measured_again() -> None:
    model = rnnviz.load("timemachine-lstm")
    (row,) = (one for one in recorded("writing")["greedy"] if one["cell"] == "lstm")
    written = "The " + rnnviz.sample(model, "The ", 400, temperature=0)
    period = row["period"]
    assert written[-period:] == written[-2 * period : -period], "it goes round in circles"
    lost = {one["cell"]: one["lost"] for one in recorded("writing")["contexts"]}
    text = "It was at ten o'clock to-day that the first of all Time Machines began its career."
    nats = [rnnviz.trace(model, text[-k - 1 :]).nll[-1] for k in (1, 20, 80)]
    assert abs(nats[1] - nats[2]) < 0.1 < lost["lstm"][0][0]


@pytest.mark.parametrize("pi", [0.5, 0.9])
def test_a_random_cut_is_right_on_average_and_a_clipped_arrow_keeps_its_direction(pi: float) -> None:
    step = next(one for one in scenes()[7].steps if one.name == "mean")
    picture, _said, right = step.make(pi, 3)  # type: ignore[misc]
    (_n, full, _w), (_n, mean, written), _cut = picture["rows"]
    assert abs(mean - full) < 4 * float(written.split("± ")[1])
    assert right == 1
    picture = scene.clipped(2.0)[0]
    x, y = picture["arrows"][1][:2]
    assert (math.hypot(x, y), y / x) == pytest.approx((2, 4 / 3))
    assert np.allclose(scene.clipped(10.0)[0]["arrows"][1][:2], (3, 4))

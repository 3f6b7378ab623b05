"""The character model of a word: its numbers, recomputed."""

import dataclasses
import math

import numpy as np
import pytest

from rnnviz.lecture import scene_5_word as scene
from rnnviz.lecture.machine import Machine, drawn
from rnnviz.lecture.small_rnn import unroll
from tests.lecture.test_steps import parts


@pytest.mark.parametrize("seed", [0, 2, 7])
def test_a_steps_loss_is_what_its_softmax_gives_to_the_next_character(seed: int) -> None:
    forward = Machine(seed).forward
    picture = scene.softmax(seed)[0]
    columns = [part for part in parts(picture) if part["kind"] == "matrix"]
    assert np.allclose([np.ravel(one["values"]) for one in columns], forward.probabilities, rtol=1e-4)
    written = [part["latex"].split("= ")[1] for part in parts(picture) if "= " in part.get("latex", "")]
    assert written == [f"{loss:.2f}" for loss in forward.losses]
    for t, one in enumerate(columns):
        ((v, _column),) = one["lit"]
        assert math.isclose(-math.log(one["values"][v][0]), forward.losses[t], rel_tol=1e-3)


@pytest.mark.parametrize(
    ("letters", "output", "loss"),
    [("machine", 0, 0), ("hachine", 1, 1), ("macnine", 0, 1), ("machmne", 0, 0), ("maahmne", 1, 1)],
)
def test_output_3_rests_on_what_was_read_and_its_loss_on_the_label(
    letters: str, output: int, loss: int
) -> None:
    picture, notice = scene.path(2, letters)[:2]
    (change,) = [part["words"] for part in parts(picture) if part.get("stands") == "O_t"]
    (table,) = [part for part in parts(picture) if part["kind"] == "table"]
    usual, here = (row[1] for row in table["rows"])
    assert (float(change) > 0, usual != here) == (bool(output), bool(loss))
    assert ("has changed: a" in notice, "Its loss has" in notice) == (
        bool(output),
        bool(loss and not output),
    )


def test_a_training_step_goes_down_the_slope_and_no_further_than_1() -> None:
    inputs, labels = [0, 1, 0, 2], [1, 0, 2, 2]
    net = drawn(3, symbols=3)
    trained = scene.descended(net, unroll(net, inputs, labels))
    step, slope = [], []
    for name in ("W_xh", "W_hh", "b_h", "W_hq", "b_q"):
        values = getattr(net, name)
        step.append((getattr(trained, name) - values).ravel())
        for at in np.ndindex(values.shape):
            bent = [values.copy(), values.copy()]
            bent[0][at] += 1e-6
            bent[1][at] -= 1e-6
            up, down = (unroll(dataclasses.replace(net, **{name: one}), inputs, labels).loss for one in bent)
            slope.append((up - down) / 2e-6)
    assert np.allclose(np.concatenate(step), -np.array(slope) / max(1, np.linalg.norm(slope)), atol=1e-7)


@pytest.mark.parametrize("word", ["machine", "banana", "aa"])
def test_trained_it_knows_the_word_by_heart(word: str) -> None:
    picture, notice = scene.train(word, 2, scene.STEPS)[:2]
    assert "it writes the word" in notice
    curve = [part["ys"] for part in parts(picture) if part["kind"] == "line"][-1]
    assert len(curve) == scene.STEPS + 1
    assert 1 <= curve[-1] < 1.1


def test_a_book_has_so_many_characters_and_words() -> None:
    (table,) = [part for part in parts(scene.why()[0]) if part["kind"] == "table"]
    assert [row[1:] for row in table["rows"][:3]] == [
        ["28", "4,580"],
        ["7,168", "1,172,480"],
        ["173,427", "32,775"],
    ]

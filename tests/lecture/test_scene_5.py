"""The character model of a word: its numbers, recomputed."""

import numpy as np
import pytest

from rnnviz.lecture import scene_5_word as scene
from rnnviz.lecture.machine import Machine, numbers
from rnnviz.lecture.readers import load
from rnnviz.lecture.small_rnn import SmallRNN, unroll
from rnnviz.scoring.tracer import trace
from tests.support.lecture import nodes, nodes_of, run_code, step_of


@pytest.mark.parametrize("seed", [0, 2, 7])
def test_a_steps_loss_is_what_its_softmax_gives_to_the_next_character(seed: int) -> None:
    word, picture = Machine(seed), scene.softmax(seed)[0]
    columns = nodes_of(picture, "matrix")
    assert np.allclose([np.ravel(cell["values"]) for cell in columns], word.forward.probabilities, rtol=1e-4)
    written = [part["latex"] for part in nodes(picture) if "= " in part.get("latex", "")]
    losses = enumerate(word.forward.losses, start=1)
    assert written == [rf"\ell_{t} = {loss:.2f}" for t, loss in losses]
    assert [cell["lit"] for cell in columns] == [[[label, 0]] for label in word.targets]


@pytest.mark.parametrize(
    ("letters", "output", "loss"),
    [("machine", 0, 0), ("hachine", 1, 1), ("macnine", 0, 1), ("machmne", 0, 0), ("maahmne", 1, 1)],
)
def test_output_3_rests_on_what_was_read_and_its_loss_on_the_label(
    letters: str, output: int, loss: int
) -> None:
    picture, notice = scene.path(2, letters)[:2]
    (change,) = [part["words"] for part in nodes(picture) if part.get("stands") == "O_t"]
    (table,) = nodes_of(picture, "table")
    usual, changed = (row[1] for row in table["rows"])
    assert (float(change) > 0, usual != changed) == (bool(output), bool(loss))
    assert ("has changed: it" in notice, "Its loss has" in notice) == (
        bool(output),
        bool(loss and not output),
    )


@pytest.mark.parametrize(("seed", "longer"), [(0, False), (2, True)])
def test_a_training_step_goes_down_the_slope_and_no_further_than_1(seed: int, longer: bool) -> None:
    word = Machine(seed)  # whose gradients are torch's, tests/lecture/test_machine.py
    slope = word.gradients()
    trained = scene.descended(word.net, word.forward)
    size = np.linalg.norm(np.concatenate([part.ravel() for part in slope.values()]))
    assert (size > 1) == longer
    for name, part in slope.items():
        step = getattr(trained, name) - getattr(word.net, name)
        np.testing.assert_allclose(step, -part / max(1, size), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("word", ["machine", "banana", "aa"])
def test_trained_it_knows_the_word_by_heart(word: str) -> None:
    picture, notice = scene.train(word, 2, scene.TRAINING_STEPS)[:2]
    assert "it writes the word" in notice
    curve = nodes_of(picture, "line")[-1]["ys"]
    assert len(curve) == scene.TRAINING_STEPS + 1
    assert 1 <= curve[-1] < 1.1


@pytest.mark.parametrize("learnt", [0, 1])
def test_a_network_reads_the_text_or_itself(learnt: int) -> None:
    forced, free = (run_code("labels", itself=itself, learnt=learnt) for itself in (0, 1))
    assert "".join(forced["read"]) == "machin"
    assert forced["output_text"] != free["output_text"]
    assert free["read"] == ["m", *free["output_text"][:-1]], "an output is the next input"
    net = SmallRNN(**{name: forced[name] for name in ("W_xh", "W_hh", "b_h", "W_hq", "b_q")})
    by_hand = unroll(net, numbers("machin"), numbers("achine"))
    np.testing.assert_allclose(forced["P"], by_hand.probabilities)
    picture = step_of("labels").draw({**step_of("labels").initial_values, "itself": 1, "learnt": learnt})[0]
    (graph,) = nodes_of(picture, "graph")
    to_input = [arrow[:2] for arrow in graph["arrows"] if arrow[1].startswith("X")]
    assert to_input == [[f"O{t}", f"X{t + 1}"] for t in range(1, 6)]


def test_a_drawn_number_falls_into_the_share_of_what_is_written() -> None:
    model = load("timemachine-lstm")
    text, rng = "The Time Traveller ", np.random.default_rng(1)
    for _n in range(5):
        P = np.exp(trace(model, text).log_probs[-1].astype(float))
        text += model.vocabulary.symbol(int(np.flatnonzero(np.cumsum(P) / P.sum() >= rng.random())[0]))
    assert run_code("draw", n=5)["written"] == text

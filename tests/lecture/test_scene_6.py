"""Perplexity: the scene's numbers, recomputed."""

import math

import numpy as np
import pytest

import rnnviz
from rnnviz.lecture import scene_6_perplexity as scene
from rnnviz.lecture.number_format import fixed, rough
from rnnviz.ui.pages.learn.lecture import Lecture
from tests.support.lecture import nodes_of, run_code


def test_costs_equal_the_packages_perplexity() -> None:
    model, end = rnnviz.load("timemachine-lstm"), " on the river"
    picture, notice = scene.rain("lstm", end)[:2]
    measured = [
        rnnviz.perplexity(model, text=ending, context="It is raining").perplexity
        for ending in (*scene.ENDINGS["en"], end)
    ]
    numbers = [bars["rows"][0][2] for bars in nodes_of(picture, "bars")]
    assert numbers == [*(rough(ending, 3) for ending in measured), "69"]
    assert (
        "“on the river” costs least, “piouw;kcj pwepoiut” most. That is worse than guessing among all 69"
        in notice
    )

    text = "It was a quiet evening"
    score = rnnviz.perplexity(model, text=text)
    named = {row[0]: row[2] for row in nodes_of(scene.bits("lstm", text)[0], "bars")[0]["rows"]}
    assert named["LSTM"] == fixed(score.bits_per_character)
    assert named["uniform guess, 69: no compression"] == fixed(math.log2(69))


def test_counts_stand_beside_networks_on_text_that_none_was_trained_on() -> None:
    counts, rnn, gru = nodes_of(scene.memory()[0], "line")
    assert tuple(counts["ys"]) == scene.HELD_OUT["en"]
    assert gru["ys"][0] < counts["ys"][-1] < rnn["ys"][0]


@pytest.mark.parametrize("p", [0.5, 0.8, 0.95])
def test_entropy_is_the_least_that_a_model_pays(p: float) -> None:
    names = run_code("entropy", p=p)
    by_hand = -p * math.log2(p) - (1 - p) * math.log2(1 - p)
    assert names["entropy"] == pytest.approx(by_hand, abs=1e-9)
    assert names["q"][names["curve"].argmin()] == pytest.approx(p)


@pytest.mark.parametrize(
    ("P", "expected"),
    [([0.5, 0.125], 4), ([1, 1, 1], 1), ([0.1] * 5, 10), ([1] * 999 + [0], math.inf), ([0, 0], math.inf)],
)
def test_perplexity_is_the_geometric_mean_of_1_over_p(P: list[float], expected: float) -> None:
    assert scene.perplexity_of(P) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("case", "p", "words"),
    [
        ("own", None, "untrained"),
        ("own", [0.5] * 6, "Perplexity 2.00"),
        ("certain", None, "best case is 1"),
        ("zero", None, "infinite"),
        ("uniform", None, "log₂ 7 = 2.81"),
    ],
)
def test_the_game_says_what_its_bars_are_worth(case: str, p: list[float] | None, words: str) -> None:
    _picture, notice = scene.game(case, p)
    assert words in notice


def test_guesses_are_counted_and_bound_the_entropy() -> None:
    hidden = scene.SENTENCES[0][1]
    history = "".join(("x" if n % 2 else "") + letter for n, letter in enumerate(hidden[:20]))
    assert scene.played(hidden, history) == ([1, 2] * 10, "")
    assert scene.played("has", "HXx?!s") == ([1, 27, 1], "")
    (table,) = nodes_of(scene.shannon(0, history)[0], "table")
    assert table["rows"][0][1] == "1.00 – 1.00", "one bit: the first guess or the second"


def test_a_class_has_a_distribution_and_pays_for_it() -> None:
    letter = Lecture({"step": "shannon", "history": "h"}).room_question()
    assert letter.draw_answers is not None
    assert letter.letters
    assert letter.options[letter.right or 0] == "a"
    votes = [0] * 27
    votes[letter.options.index("e")], votes[letter.options.index("a")] = 5, 2
    answers = letter.draw_answers({letter.key: votes, "shannon.0.0": [0] * 27})
    assert answers["changes"] == {"history": "hea"}, "first what had more votes, then what came"
    (table,) = nodes_of(answers["picture"], "table")
    letter_bits, before = -math.log2((2 + 1 / 27) / 8), math.log2(27)
    assert table["rows"][0][1:] == [fixed(letter_bits), fixed((letter_bits + before) / 2)]
    (matrix,) = nodes_of(answers["picture"], "matrix")
    assert np.sum(matrix["values"][0]) == pytest.approx(1, abs=0.2)
    assert Lecture({"step": "shannon", "history": scene.SENTENCES[0][1]}).room_question() is None

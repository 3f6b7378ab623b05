"""Perplexity: the scene's numbers, recomputed."""

import math

import numpy as np
import pytest

import rnnviz
from rnnviz.lecture import scene_6_perplexity as scene
from rnnviz.lecture.number_format import fixed, rough, ten_to
from rnnviz.ui.pages.learn.lecture import Lecture
from tests.support.lecture import nodes_of


def test_costs_equal_the_packages_perplexity() -> None:
    model, end = rnnviz.load("timemachine-lstm"), " on the river"
    picture, notice = scene.rain("lstm", end)[:2]
    measured = [
        rnnviz.perplexity(model, text=ending, context="It is raining").perplexity
        for ending in (*scene.ENDINGS["en"], end)
    ]
    numbers = [bars["rows"][0][2] for bars in nodes_of(picture, "bars")]
    assert numbers == [*(rough(ending, 3) for ending in measured), "69"]
    assert "lowest for “on the river”, highest for “piouw;kcj pwepoiut”" in notice

    text = "It was a quiet evening"
    score = rnnviz.perplexity(model, text=text)
    named = {row[0]: row[2] for row in nodes_of(scene.bits("lstm", text)[0], "bars")[0]["rows"]}
    assert named["LSTM"] == fixed(score.bits_per_character)
    assert named["uniform guess, 69"] == fixed(math.log2(69))

    (table,) = nodes_of(scene.length("lstm", text, 9, "x", 1)[0], "table")
    nine = rnnviz.perplexity(model, text=text[:9])
    assert table["rows"][0][3] == fixed(nine.perplexity)
    assert table["rows"][0][2] == ten_to(-9 * math.log10(nine.perplexity))


def test_the_example_of_two_lengths_is_not_rounded_twice() -> None:
    (table,) = nodes_of(scene.length("lstm", scene.LONG["en"], 80, scene.SHORT["en"], 20)[0], "table")
    assert table["rows"][0][3] == "2.96", "2.9648, whose three decimals are 2.965"


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
    picture, notice = scene.game(case, p)
    assert words in notice
    assert any("harmonic" in part["words"] for part in nodes_of(picture, "text"))


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

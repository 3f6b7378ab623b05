"""Eighteen questions, each with an answer that is computed, at every setting the same."""

import copy
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from rnnviz.lecture import backwards, questions, writing
from rnnviz.networks import checkpoint

RIGHT = {
    "output": "symbols",
    "all_before": "carried",
    "long_way": "both",
    "greedy": "loop",
    "parameters": "same",
    "uniform": "symbols",
    "one_zero": "infinite",
    "twice": "likelihood",
    "concatenated": "sum",
    "forgets": "same.rnn",
    "hundredth": "44",
    "clipped": "direction",
    "mean": "equal",
    "print": "held_out",
    "temperature": "repeats",
    "beams": "dull",
    "own_input": "accident",
    "far": "10",
}


load = cache(checkpoint.load_numpy)


@pytest.mark.parametrize("question", questions.QUESTIONS, ids=lambda q: q.key)
def test_every_setting_leads_to_the_answer(question: questions.Question) -> None:
    assert 0 <= question.first < len(question.settings)
    for setting in range(len(question.settings)):
        found = question.evidence(setting, load)
        assert found.answer == RIGHT[question.key]
        assert found.answer in question.options
        assert found.rows or found.table
        assert all(len(spreads) == len(found.columns) for spreads in found.table.values())


def test_what_is_computed_by_hand() -> None:
    assert [q.key for q in questions.QUESTIONS] == list(RIGHT), "in this order the address keeps the answers"
    assert [q.exercise for q in questions.QUESTIONS] == [1, 2, 3, 4, *[None] * 10, 4, 4, 4, 4]
    at = questions.BY_KEY
    assert at["uniform"].evidence(1, load).rows["perplexity"] == 28
    assert at["clipped"].evidence(1, load).rows["clipped"] == "(0.60, 0.80)"
    assert at["one_zero"].evidence(5, load).rows["perplexity"] == math.inf
    assert at["hundredth"].evidence(0, load).rows["steps"] == 7  # 2^-7 < 0.01 < 2^-6
    assert at["parameters"].evidence(0, load).rows["table"] == 69**2
    assert at["all_before"].evidence(1, load).rows["table"] == 69**3
    assert at["forgets"].evidence(0, load).rows["mlp"] == 0


def test_the_long_way_back_says_what_its_rows_show() -> None:
    """Below 1 it vanishes and above 1 it explodes, in the linear network and in the long run."""
    question = questions.BY_KEY["long_way"]
    matrix, _, last = backwards.network(questions.SEED)
    for setting, steps in enumerate(question.settings):
        rows = {name: float(value) for name, value in question.evidence(setting, load).rows.items()}
        assert rows["steps"] == steps
        for radius in (0.8, 1.0, 1.2):
            plain = np.linalg.norm(np.linalg.matrix_power(matrix * radius, int(steps)) @ last)
            assert rows[f"linear.{radius:g}"] == pytest.approx(plain)
        assert rows["tanh.1.2"] < rows["linear.1.2"]
    shown = question.evidence(question.first, load).rows
    assert float(shown["linear.0.8"]) < 1e-3
    assert float(shown["linear.1.2"]) > 100


def test_what_a_page_shows_first_bears_its_answer_out() -> None:
    """Without a table that is smaller than the network, and with the perplexity that is infinite."""

    def first(key: str) -> Mapping[str, Any]:
        question = questions.BY_KEY[key]
        return question.evidence(question.first, load).rows

    rows = first("parameters")
    assert rows["parameters"] == rows["longer"] == load("timemachine-rnn").parameter_count < rows["table"]
    assert first("one_zero")["perplexity"] == math.inf
    assert first("all_before")["table"] > 10**9 * load("timemachine-lstm").parameter_count
    assert first("all_before")["6gram"] == 0 < first("all_before")["lstm"]
    for setting in range(3):
        rows = questions.BY_KEY["twice"].evidence(setting, load).rows
        assert rows["log10.2"] < 1.5 * rows["log10.1"] < 0
        assert rows["perplexity.2"] == pytest.approx(rows["perplexity.1"], rel=0.1)


def test_an_answer_follows_from_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other measurements have other answers: none is written down."""
    found = copy.deepcopy(writing.recorded())
    monkeypatch.setattr(writing, "recorded", lambda: found)
    found["greedy"][1]["looped"] = 3
    assert questions.BY_KEY["greedy"].evidence(0, load).answer == "story"
    found["temperatures"][0]["repeated"] = found["temperatures"][-1]["repeated"]
    assert questions.BY_KEY["temperature"].evidence(0, load).answer == "invents"
    found["temperatures"][-2]["made_up"] = found["temperatures"][-1]["made_up"]
    assert questions.BY_KEY["temperature"].evidence(0, load).answer == "nothing"
    found["beams"][2]["repeated"] = found["beams"][-1]["repeated"]
    assert questions.BY_KEY["beams"].evidence(0, load).answer == "better"
    found["beams"][2]["less_likely"] = 20
    assert questions.BY_KEY["beams"].evidence(0, load).answer == "less"
    found["own_input"][2]["free"] = found["own_input"][2]["forced"]
    assert questions.BY_KEY["own_input"].evidence(0, load).answer == "six"
    found["contexts"][2]["lost"] = [[1.0, 0.1]] * 7 + [[0.0, 0.0]] * 2
    assert questions.BY_KEY["far"].evidence(0, load).answer == "100"

"""Fourteen questions, each with an answer that is computed, at every setting the same."""

from __future__ import annotations

import math
from functools import cache

import pytest

from rnnviz.errors import ConfigError
from rnnviz.lecture import questions
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
}


load = cache(checkpoint.load_numpy)


@pytest.mark.parametrize("question", questions.QUESTIONS, ids=lambda q: q.key)
def test_every_setting_leads_to_the_answer(question: questions.Question) -> None:
    assert 0 <= question.first < len(question.settings)
    for setting in range(len(question.settings)):
        found = question.evidence(setting, load)
        assert found.answer == RIGHT[question.key]
        assert found.answer in question.options
        assert found.rows
    with pytest.raises(ConfigError, match="settings 0 to"):
        question.evidence(len(question.settings), load)


def test_what_is_computed_by_hand() -> None:
    assert [q.key for q in questions.QUESTIONS] == list(RIGHT), "the chapter's four and ten more"
    at = questions.BY_KEY
    assert at["uniform"].evidence(1, load).rows["perplexity"] == 28
    assert at["clipped"].evidence(1, load).rows["clipped"] == "(0.60, 0.80)"
    assert at["one_zero"].evidence(5, load).rows["perplexity"] == math.inf
    assert at["hundredth"].evidence(0, load).rows["steps"] == 7  # 2^-7 < 0.01 < 2^-6
    assert at["parameters"].evidence(1, load).rows["table"] == f"{69**2:,}"
    assert at["forgets"].evidence(0, load).rows["mlp"] == 0


def test_the_long_way_back_says_what_its_rows_show() -> None:
    """A linear network's gradient vanishes below 1 and explodes above, tanh's explodes less, if at all."""
    question = questions.BY_KEY["long_way"]
    for setting, radius in enumerate(question.settings):
        rows = {name: float(value) for name, value in question.evidence(setting, load).rows.items()}
        far, nearer, near = (rows[f"lag.{k}"] for k in (40, 20, 10))
        assert rows["radius"] == radius
        if rows["radius"] < 1:
            assert far < nearer < near < 1
        elif rows["radius"] > 1:
            assert far > nearer > near
            assert far > 1
        assert rows["tanh.40"] < far


@pytest.mark.parametrize(("text", "period"), [("abcabcabcabc", 3), ("aaaa", 1), ("abcdefg", 0), ("", 0)])
def test_repeating_is_found(text: str, period: int) -> None:
    assert questions.repeats(text) == period

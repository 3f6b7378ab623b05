"""Scenes 5 to 8 without a browser: they answer what the core computes, and their addresses bring it back."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from rnnviz.errors import ModelNotFoundError
from rnnviz.lecture import backwards, questions, word
from rnnviz.ui.pages.learn import models, scene_7_backwards, scenes
from rnnviz.ui.pages.learn.question_words import WORDS, said
from rnnviz.ui.pages.learn.session import Lecture
from tests.ui.test_learn import answered


def data(lecture: Lecture, step: int, **ask: Any) -> dict[str, Any]:
    """What is drawn after an ask."""
    found: dict[str, Any] = answered(lecture, {"step": step, "ask": ask})["data"]
    return found


def test_a_word_is_trained_and_written() -> None:
    lecture = Lecture({"scene": "5", "word": "banana", "trained": "10"})
    writes = scenes.scene(5).NAMES.index("writes")
    first = data(lecture, writes)
    assert (first["word"], first["at"]) == ("banana", 10)
    last = data(lecture, writes, at=word.STEPS)
    assert last["perplexity"] == word.run("banana").at(word.STEPS).perplexity < 1.05
    assert last["written"] == "banana"
    assert len(last["curve"]) == word.STEPS + 1
    assert "".join(last["inputs"]) == "banan"
    other = data(lecture, writes, word="tea")
    assert (other["word"], other["at"]) == ("tea", 0)
    assert data(lecture, writes, word="t")["word"] == "tea", "one character has no next one"


def test_a_model_of_another_kind_is_none() -> None:
    for load, name in ((models.network, "timemachine-6gram"), (models.ngram, "timemachine-rnn")):
        with pytest.raises(ModelNotFoundError, match="this scene needs one of that name"):
            load(name)


def test_the_dial_the_cut_and_the_draws_are_the_cores() -> None:
    lecture = Lecture({"scene": "7"})
    curves = data(lecture, 0, text="The lever")["curves"]
    assert [c["cell"] for c in curves] == ["rnn", "gru", "lstm", "memory"]
    assert {len(c["points"]) for c in curves} == {8}, "the states after each character but the last"
    dial = data(lecture, 1, radius=1.2, power=3)
    assert max(math.hypot(*z) for z in dial["eigenvalues"]) == pytest.approx(1.2, abs=1e-3)
    assert dial["linear"][-1] > 10
    clipped = data(lecture, 2, gradient=[3, 4], threshold=1)
    assert clipped["clipped"] == pytest.approx([0.6, 0.8])
    cut = data(lecture, 3, cut=2)
    assert cut["truncated"] == pytest.approx(sum(cut["terms"][:2]), abs=1e-4)
    drawn = data(lecture, 4, keep=0.8)
    assert abs(drawn["last"] - drawn["full"]) < 4 * drawn["error"]
    assert drawn["full"] == backwards.chain(backwards.WEIGHT, 1).gradient


def said_of(number: int, step: int, **ask: Any) -> tuple[str, dict[str, Any]]:
    """What to notice after an ask, and the picture beside it."""
    sent = answered(Lecture({"scene": str(number)}), {"step": step, "ask": ask})
    return sent["notice"], sent["data"]


@pytest.mark.parametrize("radius", [0.6, 0.9, 1.0, 1.05, 1.3, 1.4])
def test_what_is_said_of_the_dial_is_what_its_curves_do(radius: float) -> None:
    seen = set()
    for seed in range(0, 1000, 37):
        notice, shown = said_of(7, 1, radius=radius, seed=seed, power=seed % 40 + 1)
        linear = backwards.dial(radius, seed).linear
        steps = [int((np.diff(linear) * sign > 0).sum()) for sign in (1, -1)]
        assert f"{steps[0]} of 40 steps make it larger and {steps[1]} smaller" in notice
        arrived = [
            read(number) for number in re.findall(r"tanh.*?, ([^,]*) arrives instead of (.*)\.$", notice)[0]
        ]
        assert arrived == pytest.approx([shown["tanh"][-1], shown["linear"][-1]], rel=0.06)
        assert shown["size"] >= shown["rule"][shown["power"]] * (1 - 1e-3), "as the picture says"
        seen.add(notice)
    assert len(seen) > 20


def read(number: str) -> float:
    """A number as it is written for readers: "9.7 × 10⁻⁴"."""
    assert "e" not in number
    digits, _, power = number.partition(" × 10")
    return float(digits) * 10.0 ** int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)


@pytest.mark.parametrize("radius", [0.6, 1.4])
def test_no_curve_of_the_dial_leaves_its_axis(radius: float) -> None:
    low, high = scene_7_backwards.NORMS
    for seed in range(1000):
        dial = backwards.dial(radius, seed)
        for curve in (dial.linear, dial.tanh, dial.power):
            assert low <= curve.min() <= curve.max() <= high, seed


@pytest.mark.parametrize(
    "text", [questions.TEXT, "the cat", "Hm.", "aaaaaaaaaaaaaaaa", "x" * 120, "zq;jx 漢字 qzqzqz"]
)
def test_what_is_said_of_the_way_back_is_what_the_curves_do(text: str) -> None:
    notice, shown = said_of(7, 0, text=text)
    curves = {curve["cell"]: curve["points"] for curve in shown["curves"]}
    assert f"Over {len(text) - 2} characters" in notice
    factors = re.findall(
        r"RNN (.*), GRU (.*), LSTM (.*), its cell (.*?)\. After (\d+) .*: RNN (.*), LSTM (.*)\.$", notice
    )[0]
    last, k = len(text) - 2, int(factors[4])
    assert k == min(10, last)
    places = [("rnn", last), ("gru", last), ("lstm", last), ("memory", last), ("rnn", k), ("lstm", k)]
    for number, (cell, at) in zip(factors[:4] + factors[5:], places, strict=True):
        assert read(number) == pytest.approx(curves[cell][at] / curves[cell][0], rel=0.06)


def test_no_number_is_written_as_a_computer_writes_it() -> None:
    for number, written in [(55433.0, "5.5 × 10⁴"), (9999.0, "9999"), (0.00097, "9.7 × 10⁻⁴"), (0.0, "0")]:
        assert said(number) == written


def test_without_a_way_back_nothing_is_said_of_it() -> None:
    assert said_of(7, 0, text="ab")[0] == "Here is no way back yet: type a longer text."


@pytest.mark.parametrize("question", questions.QUESTIONS, ids=lambda q: q.key)
def test_a_question_is_computed_after_a_prediction_and_not_before(question: questions.Question) -> None:
    lecture = Lecture({"scene": "8"})
    step = questions.QUESTIONS.index(question)
    before = data(lecture, step, question="of the step before", pick=1)
    assert before["pick"] is None
    assert "answer" not in before
    assert len(set(before["options"])) == len(question.options)
    after = data(lecture, step, question=question.key, pick=0)
    assert after["pick"] == 0
    assert 0 <= after["answer"] < len(question.options)
    assert after["score"] == {"right": int(after["answer"] == 0), "given": 1}
    labels = [row["label"] for row in after["rows"]]
    assert not set(labels) & {"mlp", "rnn", "lstm", "cut3"}, "every row has words"
    assert WORDS[question.key].rows.keys() == question.evidence(0, models.load).rows.keys()
    kept = data(lecture, step, question=question.key, pick=1)
    assert kept["pick"] == 0, "a prediction stays what it was"
    other = data(lecture, step, question=question.key, setting=len(question.settings) - 1)
    assert other["setting"] == len(question.settings) - 1
    assert Lecture(answered(lecture)["query"]).state["picks"] == lecture.state["picks"]
    assert data(lecture, step, question=question.key, again=True)["pick"] is None


@pytest.mark.parametrize("key", ["parameters", "one_zero"])
def test_the_first_evidence_shows_the_answer(key: str) -> None:
    question = questions.BY_KEY[key]
    rows = question.evidence(question.first, models.load).rows
    if key == "parameters":
        assert 69 ** int(rows["steps"]) > int(rows["parameters"])
    else:
        assert rows["perplexity"] == math.inf


def test_texts_that_a_network_cannot_tell_apart_are_said_to_be_alike() -> None:
    for left, right in (("\u6f22x", "\u5b57x"), ("in the dark nig", "I was going")):
        notice, shown = said_of(2, scenes.scene(2).NAMES.index("state"), left=left, right=right)
        assert ("both texts are the same" in notice) == (shown["prediction"] == 0)

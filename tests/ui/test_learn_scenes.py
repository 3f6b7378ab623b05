"""Scenes 5 to 8 without a browser: they answer what the core computes, and their addresses bring it back."""

import math
from typing import Any

import pytest

from rnnviz.lecture import questions, word
from rnnviz.ui.pages.learn import models, scenes
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


def said_of(number: int, step: int, **ask: Any) -> tuple[str, dict[str, Any]]:
    """What to notice after an ask, and the picture beside it."""
    sent = answered(Lecture({"scene": str(number)}), {"step": step, "ask": ask})
    return sent["notice"], sent["data"]


def test_no_number_is_written_as_a_computer_writes_it() -> None:
    for number, written in [(55433.0, "5.5 × 10⁴"), (9999.0, "9999"), (0.00097, "9.7 × 10⁻⁴"), (0.0, "0")]:
        assert said(number) == written


def test_a_number_is_rounded_not_cut_off() -> None:
    for number, written in [(69**11, "1.7 × 10²⁰"), (9.97e-5, "1.0 × 10⁻⁴"), (10**12 - 1, "999,999,999,999")]:
        assert said(number) == written


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


@pytest.mark.parametrize("question", questions.QUESTIONS, ids=lambda q: q.key)
def test_a_measurement_is_written_as_it_was_made(question: questions.Question) -> None:
    """Every mean of a table, in percent or with two decimals; options that can be read from the back."""
    assert max(map(len, WORDS[question.key].options.values())) <= 46
    for setting in range(len(question.settings)):
        evidence = question.evidence(setting, models.load)
        picks = "0" * len(questions.QUESTIONS)
        lecture = Lecture({"scene": "8", "answers": picks})
        shown = data(lecture, questions.QUESTIONS.index(question), question=question.key, setting=setting)
        if not evidence.table:
            assert shown["table"] is None
            continue
        assert shown["table"]["column"] == evidence.column
        assert len(shown["table"]["columns"]) == len(evidence.columns)
        for row, (key, spreads) in zip(shown["table"]["rows"], evidence.table.items(), strict=True):
            assert row["label"] == WORDS[question.key].table[key]
            for written, (mean, _error) in zip(row["values"], spreads, strict=True):
                number = float(written.removesuffix(" %").replace("−", "-"))
                share = written.endswith(" %")
                assert share == (key in WORDS[question.key].shares)
                assert number == pytest.approx(100 * mean if share else mean, abs=0.51 if share else 0.0051)

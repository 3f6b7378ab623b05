"""Scenes 5 to 8 without a browser: they answer what the core computes, and their addresses bring it back."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from rnnviz.errors import ModelNotFoundError
from rnnviz.lecture import backwards, memorising, perplexity, questions, shannon, word
from rnnviz.ui.pages.learn import models, scene_6_perplexity, scene_7_backwards
from rnnviz.ui.pages.learn.question_words import WORDS, said
from rnnviz.ui.pages.learn.session import Lecture
from tests.ui.test_learn import answered


def data(lecture: Lecture, step: int, **ask: Any) -> dict[str, Any]:
    """What is drawn after an ask."""
    found: dict[str, Any] = answered(lecture, {"step": step, "ask": ask})["data"]
    return found


def test_a_word_is_trained_and_written() -> None:
    lecture = Lecture({"scene": "5", "word": "banana", "trained": "10"})
    first = data(lecture, 3)
    assert (first["word"], first["at"]) == ("banana", 10)
    last = data(lecture, 3, at=word.STEPS)
    assert last["perplexity"] == word.run("banana").at(word.STEPS).perplexity < 1.05
    assert last["written"] == "banana"
    assert len(last["curve"]) == word.STEPS + 1
    assert "".join(last["inputs"][1:]) == "banan"
    other = data(lecture, 3, word="tea")
    assert (other["word"], other["at"]) == ("tea", 0)
    assert data(lecture, 3, word="t")["word"] == "tea", "one character has no next one"


def test_the_three_cases_arrive_exactly() -> None:
    lecture = Lecture({"scene": "6"})
    assert data(lecture, 0, case="certain")["perplexity"] == 1
    assert data(lecture, 0, case="zero")["perplexity"] is None  # infinite, which JSON can't say
    assert data(lecture, 0, case="uniform")["perplexity"] == scene_6_perplexity.SYMBOLS
    dragged = data(lecture, 0, p=[0.5] * len("raining"))
    assert dragged["perplexity"] == 2
    assert dragged["case"] == ""


def test_three_continuations_stand_in_their_order() -> None:
    rows = data(Lecture({"scene": "6"}), 1)["rows"]
    assert [row["ending"] for row in rows] == list(perplexity.ENDINGS)
    good, odd, noise = (row["perplexity"] for row in rows)
    assert good < odd < 69 < noise


def test_a_short_nonsense_is_likelier_than_a_long_sentence_and_more_perplexing() -> None:
    shown = data(Lecture({"scene": "6"}), 2)
    long, short = ({k: row[k][row["cut"] - 1] for k in ("log10", "perplexity")} for row in shown["rows"])
    assert long["log10"] < short["log10"]
    assert long["perplexity"] < short["perplexity"]
    for row in shown["rows"]:
        assert row["bits"] == pytest.approx(-row["log10"][row["cut"] - 1] * math.log2(10), rel=1e-3)
        assert row["bits"] / 8 <= row["bytes"] - shown["header"] + 1


def test_the_replayed_run_is_the_recorded_one() -> None:
    shown, run = data(Lecture({"scene": "6"}), 3), memorising.recorded()
    assert shown["train"] == list(run.train)
    assert shown["held"][shown["best"] - 1] == min(run.held_out)


def test_a_game_of_guesses_and_its_address() -> None:
    lecture = Lecture({"scene": "6"})
    _, hidden = shannon.SENTENCES[0]
    start = data(lecture, 4)
    assert hidden[:8] not in str(start), "what is to be guessed stays on the server"
    shown = data(lecture, 4, history="xh" + hidden[1:6])
    assert shown["shown"] == hidden[:6]
    assert shown["ranks"] == [5, 1, 0, 0, 0, 0]
    assert {m["kind"] for m in shown["models"]} == set(scene_6_perplexity.PLAYERS)
    again = Lecture(answered(lecture)["query"])
    assert answered(again)["data"] == shown
    assert data(lecture, 4, sentence=1, history="")["shown"] == ""


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


@pytest.mark.parametrize("kind", scene_6_perplexity.KINDS)
def test_every_further_character_lowers_a_likelihood(kind: str) -> None:
    notice, shown = said_of(6, 2, kind=kind)
    assert notice.startswith("Every further character lowers")
    for row in shown["rows"]:
        exact = perplexity.prefixes(models.load(f"timemachine-{kind}"), row["text"]).log10
        assert (np.diff(exact) < 0).all()
        assert row["log10"] == pytest.approx(exact, abs=6e-4)


def test_bars_dragged_after_a_case_was_chosen_are_what_counts() -> None:
    """Asks that wait are merged, so a chosen case and a drag may arrive as one."""
    bars = [0.5] * len("raining")
    for wish in ({"case": "zero"} | {"p": bars, "case": ""}, {"p": bars, "case": ""}):
        shown = data(Lecture({"scene": "6", "case": "zero"}), 0, **wish)
        assert (shown["case"], shown["perplexity"]) == ("", 2)
    shown = data(Lecture({"scene": "6"}), 0, **{"p": bars, "case": ""} | {"case": "zero"})
    assert (shown["case"], shown["perplexity"]) == ("zero", None)


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


@pytest.mark.parametrize("word_", ["machine", "aa", "ab", "mississippi"])
def test_what_is_said_of_the_word_is_what_it_writes(word_: str) -> None:
    for seed in range(4):
        for at in (0, word.STEPS):
            notice, shown = said_of(5, 3, word=word_, seed=seed, at=at)
            assert ("writes the word" in notice) == (shown["written"] == word_)
        before, after = (word.run(word_, seed).at(at) for at in (0, word.STEPS))
        assert after.losses.mean() < before.losses.mean()
        assert after.perplexity < 1.2
        assert before.perplexity == pytest.approx(len(word.run(word_, seed).symbols), rel=0.5)


@pytest.mark.parametrize("key", ["parameters", "one_zero"])
def test_the_first_evidence_shows_the_answer(key: str) -> None:
    question = questions.BY_KEY[key]
    rows = question.evidence(question.first, models.load).rows
    if key == "parameters":
        assert 69 ** int(rows["steps"]) > int(rows["parameters"])
    else:
        assert rows["perplexity"] == math.inf


def test_bounds_are_drawn_from_enough_letters_on() -> None:
    hidden = shannon.SENTENCES[0][1]
    for count in (3, shannon.LEAST - 1):
        shown = data(Lecture({"scene": "6"}), 4, history=hidden[:count])
        assert [shown["class"], *(m["bounds"] for m in shown["models"])] == [None] * 4
    shown = data(Lecture({"scene": "6"}), 4, history=hidden[: shannon.LEAST])
    for found in (m["bounds"] for m in shown["models"]):
        assert found["interval"][0] <= found["lower"] <= found["upper"] <= found["interval"][1]


def test_texts_that_a_network_cannot_tell_apart_are_said_to_be_alike() -> None:
    for left, right in (("\u6f22x", "\u5b57x"), ("in the dark nig", "I was going")):
        notice, shown = said_of(2, 2, left=left, right=right)
        assert ("both texts are the same" in notice) == (shown["prediction"] == 0)


def test_a_larger_n_than_was_counted_is_said() -> None:
    _, shown = said_of(1, 1, n=10)
    assert (shown["seenNow"], shown["order"]) == (None, 6)
    ngram, rnn = models.ngram("timemachine-6gram"), models.network("timemachine-rnn")
    assert ngram.seen[-1] < rnn.parameter_count, "as step 2 says"

"""What the lecture asks the room, step by step, and what a session does with its room."""

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz.lecture import memorising, shannon
from rnnviz.lecture.questions import QUESTIONS
from rnnviz.networks.ngram import NgramModel
from rnnviz.ui.pages.learn import asking, models, scene_6_perplexity, scene_8_questions, scenes, shannon_game
from rnnviz.ui.pages.learn.page import words
from rnnviz.ui.pages.learn.session import Lecture
from rnnviz.ui.room import rooms
from rnnviz.ui.room.addresses import Address
from rnnviz.ui.room.room import Question


def asked(scene: int, step: int, **ask: object) -> Question | None:
    """What a step asks, after some ask of its own."""
    lecture = Lecture({"scene": str(scene), "step": str(step + 1)})
    lecture.answer({"ask": ask}, {}, str)
    return lecture.asked()


def test_each_prediction_of_scene_8_is_asked_until_it_is_made() -> None:
    for step, question in enumerate(QUESTIONS):
        found = asked(8, step)
        assert found is not None
        shown = scene_8_questions.picture(
            {"step": step, "picks": "-" * len(QUESTIONS), "settings": [q.first for q in QUESTIONS]}
        )
        assert (found.text, list(found.options)) == (shown["question"], shown["options"])
        assert (found.right, found.over, found.letters) == (None, False, False)
        made = asked(8, step, question=question.key, pick=0)
        assert made is not None
        assert made.over
        right = question.evidence(question.first, models.load).answer
        assert question.options[made.right or 0] == right
        assert made.key == found.key
    keys = {found.key for step in range(len(QUESTIONS)) if (found := asked(8, step))}
    assert len(keys) == len(QUESTIONS)


def test_the_vote_is_asked_once_the_run_is_over_and_until_it_is_made() -> None:
    heart = scene_6_perplexity.HEART
    assert asked(6, heart) is None
    assert asked(6, heart, **{"pass": memorising.PASSES - 1}) is None
    found = asked(6, heart, **{"pass": memorising.PASSES})
    assert found is not None
    assert (len(found.options), found.right, found.over) == (2, None, False)
    made = asked(6, heart, vote="train")
    assert made is not None
    assert (made.key, made.over, made.options[made.right or 0]) == (found.key, True, "held-out perplexity")


def test_no_other_step_asks_anything() -> None:
    asks = {
        (number, scenes.scene(number).NAMES[step])
        for number in range(1, len(scenes.MODULES) + 1)
        for step in range(scenes.scene(number).STEPS)
        if asked(number, step) is not None
    }
    assert asks == {(6, "shannon")} | {(8, question.key) for question in QUESTIONS}


@pytest.mark.parametrize("sentence", range(len(shannon.SENTENCES)))
def test_shannon_s_game_asks_for_each_letter_in_turn_and_then_for_no_more(sentence: int) -> None:
    given, hidden = shannon.SENTENCES[sentence]
    step = scene_6_perplexity.SHANNON
    keys = set()
    for n in (0, 1, len(hidden) - 1):
        found = asked(6, step, sentence=sentence, history=hidden[:n])
        assert found is not None
        assert f"“{given}{hidden[:n]}_”" in found.text
        assert found.options[found.right or 0] == hidden[n]
        assert sorted(found.options) == sorted(shannon.ALPHABET)
        keys.add(found.key)
    assert len(keys) == 3
    assert asked(6, step, sentence=sentence, history=hidden) is None


def test_the_formula_of_the_game_is_the_one_that_the_class_s_answers_follow() -> None:
    lecture = Lecture({"scene": "6", "step": str(scene_6_perplexity.SHANNON + 1)})

    def formula(door: object) -> str:
        return str(json.loads(lecture.answer(None, {"room": {"door": door}}, str))["formula"])

    assert formula(None) == json.loads(lecture.answer(None, {}, str))["formula"]
    assert "q_i" in formula(None)
    assert "q_i" not in formula({"key": "k"})
    assert "log_2" in formula({"key": "k"})


def test_a_revealed_letter_tells_what_class_and_models_paid_as_a_plain_loop_finds() -> None:
    given, hidden = shannon.SENTENCES[0]
    rng = np.random.default_rng(0)
    counts = {f"shannon.0.{n}": rng.integers(0, 9, 27).tolist() for n in (0, 1, 3, 7)}
    others = {"shannon.0.4": [9] * 27, "shannon.1.0": [9] * 27, "vote": [1, 2]}
    told = shannon_game.told(0, 3, {**counts, **others})
    positions = [0, 1, 3]  # not 4 and 7, which come later, nor another sentence's
    assert (told["truth"], told["letters"]) == (hidden[3], 3)
    by_kind = {row["kind"]: row for row in told["rows"]}
    assert list(by_kind) == ["class", *shannon_game.PLAYERS]

    def share(n: int, letter: str) -> float:
        votes = counts[f"shannon.0.{n}"]
        return (votes[shannon_game.KEYS.index(letter)] + 1 / 27) / (sum(votes) + 1)

    own = [-math.log2(share(n, hidden[n])) for n in positions]
    assert by_kind["class"]["bits"] == pytest.approx(own[-1])
    assert by_kind["class"]["mean"] == pytest.approx(sum(own) / 3)
    assert by_kind["class"]["p"] == pytest.approx([share(3, c) for c in shannon_game.KEYS], abs=1e-5)
    for kind in shannon_game.PLAYERS:
        model = models.load(f"timemachine-{kind}")
        paid, p = [], np.zeros(27)
        for n in positions:
            p = next_letters(model, given + hidden[:n])
            paid.append(-math.log2(p[shannon_game.KEYS.index(hidden[n])]))
        assert by_kind[kind]["bits"] == pytest.approx(paid[-1], abs=1e-4)
        assert by_kind[kind]["mean"] == pytest.approx(sum(paid) / 3, abs=1e-4)
        assert by_kind[kind]["p"] == pytest.approx(p.tolist(), abs=2e-5)
    assert shannon.play(0, hidden[:3] + told["moves"]).shown == given + hidden[:4]


def next_letters(model: Any, text: str) -> Any:
    """Probabilities of the letters of KEYS after a text, read anew, among themselves."""
    if isinstance(model, NgramModel):

        def nats(whole: str) -> float:
            return len(whole) * math.log(rnnviz.perplexity(model, text=whole).perplexity)

        p = np.exp([-nats(text + c) for c in shannon_game.KEYS])
    else:
        row = rnnviz.trace(model, text).log_probs[-1].astype(np.float64)
        p = np.exp(row[model.vocabulary.encode(shannon_game.KEYS)])
    return p / p.sum()


# ---- a session and its room ----


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A session with a network."""
    monkeypatch.setattr(asking, "_session", lambda: "mine")
    monkeypatch.setattr(rooms, "addresses", lambda: [Address("127.0.0.1", "wlan0")])
    yield
    rooms.close_all()


@pytest.mark.usefixtures("session")
def test_no_room_is_open_before_that_is_wished_and_wishes_may_be_repeated_or_wrong() -> None:
    wrong: tuple[object, ...] = (None, {}, 5, {"room": None}, {"room": 1}, {"room": {"open": 1}})
    for wish in (*wrong, {"room": {"key": "x"}}, {"room": {"reveal": 1}}):
        assert asking.taken(wish, str) == {"door": None}
    assert rooms.of("mine") is None
    door = asking.taken({"room": {"open": True}}, str)["door"]
    assert asking.taken({"room": {"open": True}}, str)["door"] == door
    for wish in (*wrong, {"room": {"reveal": "1", "again": True, "address": 7}}):
        assert asking.taken(wish, str)["door"] == door
    assert asking.taken({"room": {"open": False}}, str) == {"door": None}
    assert asking.taken({"room": {"open": False}}, str) == {"door": None}


@pytest.mark.usefixtures("session")
def test_a_step_s_question_is_the_room_s_and_is_revealed_once() -> None:
    asking.stage(asked(8, 0))  # nothing is open
    asking.taken({"room": {"open": True}}, str)
    opened = rooms.of("mine")
    assert opened is not None
    asking.stage(asked(8, 0))
    heard = opened.room.heard("a")
    opened.room.vote("a", heard["number"], 0)
    asking.taken({"room": {"reveal": heard["number"]}}, str)
    assert opened.room.shown()["question"]["revealed"]
    asking.taken({"room": {"again": heard["number"]}}, str)
    asking.taken({"room": {"again": heard["number"], "reveal": heard["number"]}}, str)  # asked twice
    assert opened.room.shown()["question"]["counts"] == [0] * len(heard["options"])
    assert not opened.room.shown()["question"]["revealed"]
    asking.stage(asked(1, 0))
    assert opened.room.heard("a")["state"] == "waiting"


@pytest.mark.usefixtures("session")
def test_without_a_network_the_stage_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "addresses", list)
    found = asking.taken({"room": {"open": True}}, lambda error: f"told: {error}")
    assert found["door"] is None
    assert found["trouble"].startswith("told: this computer has no address")


def test_the_stage_s_words_are_all_there() -> None:
    assert {name for name in words() if name.startswith("room.")} == set(asking.words())
    assert all(asking.words().values())

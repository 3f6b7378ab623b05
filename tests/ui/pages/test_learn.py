"""The Learn page without a browser: what a lecture answers, remembers and writes into the address."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from rnnviz import i18n
from rnnviz.lecture import controls
from rnnviz.lecture.scenes import scenes
from rnnviz.lecture.steps import OPEN, PICK, SEEN, Step
from rnnviz.ui.pages.learn import page
from rnnviz.ui.pages.learn.lecture import MAX_ADDRESS_CHARS, Lecture
from tests.support.apptest import Open, components, page_words

STEPS = [(scene.number, at, step) for scene in scenes() for at, step in enumerate(scene.steps)]
each = pytest.mark.parametrize(("number", "at", "step"), STEPS, ids=lambda part: getattr(part, "name", ""))
NONSENSE: list[object] = [
    *(None, -3, 10**9, 1e308, 1.5, True, "", "nan", "x" * 5000, "\ud83d"),
    *([], [[]], [None] * 7, [["1e999"]], {"a": 1}),
]


def answered(lecture: Lecture, wish: Any = None) -> dict[str, Any]:
    """What the browser gets."""
    found: dict[str, Any] = json.loads(lecture.answer(wish, {}, str))
    assert "error" not in found, found["error"]
    return found


@each
def test_a_step_has_a_formula_notes_and_a_way_on(number: int, at: int, step: Step) -> None:
    sent = answered(Lecture({"step": step.name}))
    assert (sent["scene"], sent["step"]) == (number, at)
    assert sent["steps"] == len(scenes()[number - 1].stops)
    assert sent["formula"].count("{") == sent["formula"].count("}") > 0
    assert r"\s{" not in sent["formula"]
    note = sent["note"]
    assert note["title"] == step.title
    assert all(note["lines"])
    assert len(note["appendix"]) == len(scenes()[number - 1].appendix)
    last = number == len(scenes()) and not step.appendix
    assert bool(note["next"]) == (not last)


@each
def test_whatever_arrives_does_no_harm(number: int, at: int, step: Step) -> None:
    lecture = Lecture({"step": step.name})
    usual = answered(lecture)
    for value in NONSENSE:  # what asks for a place says nothing of the step in view
        answered(lecture, dict.fromkeys(["scene", "go", "present", "ask", "client", "seq"], value))
    answered(lecture, {"go": step.name})
    for value in NONSENSE:
        answered(lecture, {"ask": dict.fromkeys([*step.controls, "nothing"], value)})
    sent = answered(lecture, {"ask": {"text": "x" * 200_000}})
    assert sent["data"].keys() >= usual["data"].keys()


@each
def test_an_address_with_nonsense_opens_the_step_as_usual(number: int, at: int, step: Step) -> None:
    usual = answered(Lecture({"step": step.name}))
    for value in ("", "9" * 30, "١٢", "<script>", "\ud83d", "../../etc"):
        given = {name: value for name, c in step.controls.items() if c.valid(value) is None}
        assert answered(Lecture({**given, "step": step.name}))["data"] == usual["data"]


@each
def test_a_question_stands_before_its_picture_and_is_asked_of_the_room(
    number: int, at: int, step: Step
) -> None:
    lecture = Lecture({"step": step.name})
    first, asked = answered(lecture), lecture.room_question()
    if not step.question:
        assert "picture" in first["data"]
        assert step.room_question or asked is None
        return
    assert "picture" not in first["data"]
    assert first["code"] is None
    assert (asked.text, asked.options, asked.right, asked.over) == (
        *(step.question.text, tuple(step.question.options)),
        *(None, False),
    )
    then = answered(lecture, {"ask": {PICK: 0}})
    made = lecture.room_question()
    assert (made.key, made.over, made.right) == (asked.key, True, then["data"]["question"]["right"])
    assert (then["query"][PICK], then["data"]["question"]["predicted"]) == ("0", 0)
    assert answered(Lecture(then["query"]))["data"] == then["data"]
    assert "picture" in answered(lecture, {"ask": {PICK: SEEN}})["data"]
    assert "picture" not in answered(lecture, {"ask": {PICK: OPEN}})["data"]


@each
def test_an_address_brings_a_step_back(number: int, at: int, step: Step) -> None:
    lecture = Lecture({"step": step.name})
    answered(lecture, {"present": True, "ask": {PICK: SEEN}})
    for name, control in step.controls.items():
        kind, more = control.widget.get("kind"), control.widget
        wish = {"slider": more.get("range", [0, 0])[1], "again": 7, "toggle": 1, "field": "tea time"}.get(
            kind
        )
        if kind == "choice":
            wish = control.widget_at(None)["options"][-1][0]
        sent = answered(lecture, {"ask": {name: wish}})
    sent = answered(lecture)
    assert len(urlencode(sent["query"])) <= MAX_ADDRESS_CHARS
    again = answered(Lecture(sent["query"]))
    assert (again["data"], again["notice"]) == (sent["data"], sent["notice"])
    assert (again["step"], again["present"]) == (at, True)


def test_an_address_without_a_known_step_leads_to_the_first() -> None:
    assert Lecture({"step": "nothing"}).step == Lecture({}).step == scenes()[0].steps[0]


def test_a_scene_keeps_what_was_set_while_others_are_shown_and_its_steps_share_it() -> None:
    lecture = Lecture({"step": "joined"})
    answered(lecture, {"ask": {"seed": 9}})
    answered(lecture, {"scene": 1})
    back = answered(lecture, {"scene": 4})
    assert back["query"] == {"step": "joined", "seed": "9"}
    assert answered(lecture, {"go": "one"})["query"]["seed"] == "9"


def test_what_is_asked_as_it_is_sets_nothing_back() -> None:
    lecture, bars = Lecture({"step": "game", PICK: "0"}), [0.5] * 6
    answered(lecture, {"ask": {"case": "zero"}})
    answered(lecture, {"ask": {"p": bars}})
    assert (lecture.values["case"], lecture.values["p"]) == ("own", bars)
    answered(lecture, {"ask": {"case": "own"}})
    assert lecture.values["p"] == bars
    answered(lecture, {"ask": {"case": "network"}})
    assert lecture.values["p"] is None


def test_a_step_beyond_the_last_is_the_last() -> None:
    lecture = Lecture({"step": "joined"})
    assert answered(lecture, {"step": 99})["step"] == len(scenes()[3].steps) - 1
    assert answered(lecture, {"step": -3})["step"] == 0


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_the_page_opens_and_a_missing_model_is_a_sentence(open_app: Open, locale: str) -> None:
    app = open_app("learn", locale=locale, step="outputs", pick="0")  # with the tiny models alone
    sent = json.loads(components(app)[0].proto.bytes)
    assert "timemachine-" in sent["error"]
    assert "Traceback" not in page_words(app)
    assert sent["titles"] == [i18n.translations(locale[:2]).gettext(one.title) for one in scenes()]


def test_both_appearances_have_the_same_colours_by_name() -> None:
    light, dark = (page.colours()[name] for name in ("light", "dark"))
    assert light.keys() == dark.keys()
    assert len(light["diverging"]) == page.COLOUR_LEVELS


@pytest.mark.parametrize(
    ("value", "kept"), [(" a\nb ", " a b "), ("", None), (7, None), ("\ud83d", None), ("abcdef", "abcde")]
)
def test_a_line_of_text_is_taken_or_left(value: object, kept: str | None) -> None:
    assert controls.text(5)(value) == kept
    assert controls.choice({"abcdef": ""}, "").valid(value) == ("abcdef" if value == "abcdef" else None)
    assert controls.whole(0, 9)(value) == (7 if value == 7 else None)


def test_why_no_room_opens_is_told_once(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "answer_room", lambda wish, say: {"door": None, "trouble": "no network"})
    app = open_app("learn")
    told = json.loads(components(app)[0].proto.bytes)
    assert told["room"]["trouble"] == "no network"
    later = app.session_state["learn.link"].answer({"scene": 2, "present": told["present"]})
    assert json.loads(later)["room"] == {"door": None}

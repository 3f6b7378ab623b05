"""The Learn page without a browser: what a lecture answers, remembers and writes into the address."""

import json
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlencode

import pytest

from rnnviz import i18n
from rnnviz.errors import ConfigError
from rnnviz.lecture import controls
from rnnviz.lecture.scenes import scenes
from rnnviz.lecture.steps import OPEN, PICK, SEEN, Step
from rnnviz.ui.pages.learn import lecture as lecture_module
from rnnviz.ui.pages.learn import page
from rnnviz.ui.pages.learn.lecture import MAX_ADDRESS_CHARS, Lecture
from tests.support.apptest import Open, components, page_words

STEPS = [(scene.number, at, step) for scene in scenes() for at, step in enumerate(scene.steps)]
every_step = pytest.mark.parametrize(
    ("number", "at", "step"), STEPS, ids=lambda part: getattr(part, "name", "")
)
NONSENSE: list[object] = [
    *(None, -3, 10**9, 1e308, 1.5, True, "", "nan", "x" * 5000, "\ud83d"),
    *([], [[]], [None] * 7, [["1e999"]], {"a": 1}),
]


def answered(lecture: Lecture, ask: Any = None) -> dict[str, Any]:
    """What the browser gets."""
    answer: dict[str, Any] = json.loads(lecture.answer(ask, {}, str))
    assert "error" not in answer, answer["error"]
    return answer


@every_step
def test_step_has_formula_notes_and_next_step(number: int, at: int, step: Step) -> None:
    sent = answered(Lecture({"step": step.name}))
    assert (sent["scene"], sent["step"]) == (number, at)
    assert sent["steps"] == len(scenes()[number - 1].main_steps)
    assert sent["formula"].count("{") == sent["formula"].count("}") > 0
    assert r"\s{" not in sent["formula"]
    note = sent["note"]
    assert note["title"] == step.title
    assert all(note["lines"])
    assert len(note["appendix"]) == len(scenes()[number - 1].appendix)
    last = number == len(scenes()) and not step.appendix
    assert bool(note["next"]) == (not last)


@every_step
def test_nonsense_leaves_a_step_whole(number: int, at: int, step: Step) -> None:
    lecture = Lecture({"step": step.name})
    usual = answered(lecture)
    for value in NONSENSE:  # what asks for a place says nothing of the step in view
        answered(lecture, dict.fromkeys(["scene", "go", "present", "changes", "client", "seq"], value))
    answered(lecture, {"go": step.name})
    for value in NONSENSE:
        answered(lecture, {"changes": dict.fromkeys([*step.controls, "nothing"], value)})
    sent = answered(lecture, {"changes": {"text": "x" * 200_000}})
    assert sent["data"].keys() >= usual["data"].keys()


@every_step
def test_nonsense_in_address_opens_usual_step(number: int, at: int, step: Step) -> None:
    usual = answered(Lecture({"step": step.name}))
    for value in ("", "9" * 30, "١٢", "<script>", "\ud83d", "../../etc"):
        values = {name: value for name, c in step.controls.items() if c.valid(value) is None}
        assert answered(Lecture({**values, "step": step.name}))["data"] == usual["data"]


@every_step
def test_question_precedes_its_picture_and_goes_to_the_room(number: int, at: int, step: Step) -> None:
    lecture = Lecture({"step": step.name})
    first, question = answered(lecture), lecture.room_question()
    if not step.question:
        assert "picture" in first["data"]
        assert step.room_question or question is None
        return
    assert "picture" not in first["data"]
    assert first["code"] is None
    assert (question.text, question.options, question.right, question.over) == (
        *(step.question.text, tuple(step.question.options)),
        *(None, False),
    )
    answer = answered(lecture, {"changes": {PICK: 0}})
    answered_question = lecture.room_question()
    assert (answered_question.key, answered_question.over, answered_question.right) == (
        question.key,
        True,
        answer["data"]["question"]["right"],
    )
    assert (answer["query"][PICK], answer["data"]["question"]["predicted"]) == ("0", 0)
    assert answered(Lecture(answer["query"]))["data"] == answer["data"]
    assert "picture" in answered(lecture, {"changes": {PICK: SEEN}})["data"]
    assert "picture" not in answered(lecture, {"changes": {PICK: OPEN}})["data"]


@every_step
def test_address_restores_step_and_values(number: int, at: int, step: Step) -> None:
    lecture = Lecture({"step": step.name})
    answered(lecture, {"present": True, "changes": {PICK: SEEN}})
    for name, control in step.controls.items():
        kind, widget = control.widget.get("kind"), control.widget
        values = {"slider": widget.get("range", [0, 0])[1], "button": 1, "field": "tea time"}
        new_value = values.get(kind)
        if kind == "choice":
            new_value = control.widget_at(None)["options"][-1][0]
        sent = answered(lecture, {"changes": {name: new_value}})
    sent = answered(lecture)
    assert len(urlencode(sent["query"])) <= MAX_ADDRESS_CHARS
    again = answered(Lecture(sent["query"]))
    assert (again["data"], again["notice"]) == (sent["data"], sent["notice"])
    assert (again["step"], again["present"]) == (at, True)


def test_unknown_step_in_address_opens_the_first() -> None:
    assert Lecture({"step": "nothing"}).step == Lecture({}).step == scenes()[0].steps[0]


def test_scene_keeps_values_and_its_steps_share_them() -> None:
    lecture = Lecture({"step": "softmax"})
    answered(lecture, {"changes": {"seed": 9}})
    answered(lecture, {"scene": 1})
    back = answered(lecture, {"scene": 5})
    assert back["query"] == {"step": "softmax", "seed": "9"}
    assert answered(lecture, {"go": "path"})["query"]["seed"] == "9"


def test_values_that_raise_an_error_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    lecture = Lecture({"step": "one"})
    with monkeypatch.context() as patch:
        patch.setattr(lecture_module, "_picture_data", Mock(side_effect=ConfigError("no picture")))
        assert "no picture" in json.loads(lecture.answer({"changes": {"seed": 9}}, {}, str))["error"]
    assert "seed" not in answered(lecture)["query"]


def test_unchanged_value_resets_no_other() -> None:
    lecture, bars = Lecture({"step": "game", PICK: "0"}), [0.5] * 6
    answered(lecture, {"changes": {"case": "zero"}})
    answered(lecture, {"changes": {"p": bars}})
    assert (lecture.values["case"], lecture.values["p"]) == ("own", bars)
    answered(lecture, {"changes": {"case": "own"}})
    assert lecture.values["p"] == bars
    answered(lecture, {"changes": {"case": "network"}})
    assert lecture.values["p"] is None


@pytest.mark.parametrize(("step", "place"), [(99, len(scenes()[3].steps) - 1), (-3, 0)])
def test_step_beyond_scene_becomes_its_nearest(step: int, place: int) -> None:
    assert answered(Lecture({"step": "one"}), {"step": step})["step"] == place


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_page_names_a_missing_model(open_app: Open, locale: str) -> None:
    app = open_app("learn", locale=locale, step="outputs", pick="0")  # with the tiny models alone
    sent = json.loads(components(app)[0].proto.bytes)
    assert "timemachine-" in sent["error"]
    assert "Traceback" not in page_words(app)
    assert sent["titles"] == [i18n.translations(locale[:2]).gettext(scene.title) for scene in scenes()]


@pytest.mark.parametrize(
    ("value", "accepted"), [(" a\nb ", " a b "), ("", None), (7, None), ("\ud83d", None), ("abcdef", "abcde")]
)
def test_controls_accept_or_refuse_values(value: object, accepted: str | None) -> None:
    assert controls.text(5)(value) == accepted
    assert controls.choice({"abcdef": ""}, "").valid(value) == ("abcdef" if value == "abcdef" else None)
    assert controls.whole(0, 9)(value) == (7 if value == 7 else None)


def test_trouble_with_the_room_is_sent_once(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        page, "apply_room_ask", lambda ask, error_words: {"door": None, "trouble": "no network"}
    )
    app = open_app("learn")
    first = json.loads(components(app)[0].proto.bytes)
    assert first["room"]["trouble"] == "no network"
    later = app.session_state["learn.link"].answer({"scene": 2, "present": first["present"]})
    assert json.loads(later)["room"] == {"door": None}

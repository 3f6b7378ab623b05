"""The Learn page without a browser: what a lecture answers, remembers and writes into the address."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from rnnviz.ui import i18n
from rnnviz.ui.pages.learn import assets, given, page, scenes
from rnnviz.ui.pages.learn.context import Context
from rnnviz.ui.pages.learn.session import ADDRESS, Lecture
from tests.ui.conftest import Open, everything

ALL = range(1, len(scenes.MODULES) + 1)


def answered(lecture: Lecture, wish: Any = None) -> dict[str, Any]:
    """What the browser gets."""
    found: dict[str, Any] = json.loads(lecture.answer(wish, Context("en"), {}, str))
    assert "error" not in found, found["error"]
    return found


@pytest.mark.parametrize("number", ALL)
def test_every_step_of_every_scene_has_a_picture_a_sentence_and_a_formula(number: int) -> None:
    lecture = Lecture({"scene": str(number)})
    seen = set()
    for step in range(scenes.scene(number).STEPS):
        sent = answered(lecture, {"step": step})
        assert (sent["scene"], sent["step"]) == (number, step)
        assert sent["data"]
        assert sent["notice"]
        assert "{" not in sent["notice"]
        formula = lecture.scene.formula(lecture.state)
        assert formula.count("{") == formula.count("}") > 0
        seen.add(sent["notice"])
    assert len(seen) > 1 or scenes.scene(number).STEPS == 1


@pytest.mark.parametrize("number", ALL)
def test_whatever_arrives_does_no_harm(number: int) -> None:
    lecture = Lecture({"scene": str(number)})
    usual = answered(lecture)["data"]
    nonsense: list[object] = [
        None,
        -1,
        10**9,
        "",
        "x" * 5000,
        "\ud83d",
        [],
        [[]],
        {"a": 1},
        True,
        1.5,
        [["1e999"]],
    ]
    names = {*usual, "seed", "text", "n", "t", "unit", "model", "word", "left", "right", "X", "W_xh", "H"}
    for value in nonsense:
        answered(lecture, {"scene": value, "step": value, "present": value, "ask": value})
        answered(lecture, {"scene": number, "ask": dict.fromkeys(names, value)})
    answered(lecture, {"ask": {"text": "x" * 200_000}})


@pytest.mark.parametrize("number", ALL)
def test_an_address_with_nonsense_opens_the_scene_as_usual(number: int) -> None:
    usual = answered(Lecture({"scene": str(number)}))
    names = ("n", "text", "seed", "word", "t", "unit", "left", "right", "model")
    for value in ("", "-1", "9" * 30, "١٢", "<script>", "\ud83d", "../../etc"):
        lecture = Lecture({"scene": str(number), "step": value, **dict.fromkeys(names, value)})
        sent = answered(lecture)
        assert sent["scene"] == number
        assert set(sent["data"]) == set(usual["data"])


def test_an_unknown_scene_is_the_first() -> None:
    for value in ("0", "99", "one", ""):
        assert Lecture({"scene": value}).number == 1


@pytest.mark.parametrize(
    ("number", "ask", "written"),
    [
        (1, {"n": 7, "text": "grey eyes"}, {"n": "7", "text": "grey eyes"}),
        (2, {"left": "one & two", "model": "gru"}, {"left": "one & two", "model": "gru"}),
        (3, {"word": "Eat!", "seed": 12, "t": 2}, {"word": "eat", "seed": "12", "t": "2"}),
        (4, {"seed": 77}, {"seed": "77"}),
    ],
)
def test_an_address_brings_a_scene_back(number: int, ask: dict[str, Any], written: dict[str, str]) -> None:
    lecture = Lecture({"scene": str(number)})
    answered(lecture)
    sent = answered(lecture, {"step": 1, "present": True, "ask": ask})
    assert sent["query"] == {"scene": str(number), "present": "1", "step": "2", **written}
    again = answered(Lecture(sent["query"]))
    assert again["data"] == sent["data"]
    assert (again["step"], again["present"]) == (1, True)


def test_no_address_is_longer_than_it_may_be() -> None:
    lecture = Lecture({"scene": "2"})
    answered(lecture, {"ask": {"left": "时" * 30, "right": "间" * 30}})
    written = answered(lecture, {"step": 3})["query"]
    assert len(urlencode(written)) <= ADDRESS
    assert written["scene"] == "2"
    assert "left" in written
    assert "right" not in written


def test_each_scene_keeps_its_state_while_others_are_shown() -> None:
    lecture = Lecture({})
    answered(lecture, {"scene": 1, "step": 2, "ask": {"n": 5}})
    answered(lecture, {"scene": 4, "ask": {"seed": 9}})
    back = answered(lecture, {"scene": 1})
    assert (back["step"], back["data"]["n"]) == (2, 5)
    assert answered(lecture, {"scene": 4})["data"]["seed"] == 9


def test_a_step_beyond_the_last_is_the_last() -> None:
    lecture = Lecture({"scene": "4"})
    assert answered(lecture, {"step": 99})["step"] == scenes.scene(4).STEPS - 1
    assert answered(lecture, {"step": -3})["step"] == 0


def test_numbers_that_are_typed_change_both_sides_and_a_new_seed_forgets_them() -> None:
    lecture = Lecture({"scene": "4", "step": "3"})
    before = answered(lecture)["data"]
    after = answered(lecture, {"ask": {"X": [[9.0], [0.0], [0.0]]}})["data"]
    assert after["X"] == [[9.0], [0.0], [0.0]]
    assert after["edited"]
    assert after["sum"] != before["sum"]
    assert after["difference"] < 1e-6
    assert not answered(lecture, {"ask": {"seed": 5}})["data"]["edited"]


def test_a_new_step_looks_where_it_wants_to() -> None:
    lecture = Lecture({"scene": "3"})
    assert answered(lecture, {"step": 1})["data"]["t"] == 2
    assert answered(lecture, {"ask": {"t": 1}})["data"]["t"] == 1
    assert answered(lecture, {"step": 2})["data"]["t"] == 3
    lecture = Lecture({"scene": "2"})
    assert answered(lecture, {"ask": {"model": "rnn"}})["data"]["kind"] == "rnn"
    assert answered(lecture, {"step": 1})["data"]["kind"] == "mlp"


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_the_page_opens_and_a_missing_model_is_a_sentence(open_app: Open, locale: str) -> None:
    app = open_app("learn", locale=locale)  # with the tiny models alone
    assert not app.exception
    assert not app.error
    (component,) = app.get("bidi_component")
    sent = json.loads(component.proto.bytes)
    assert "timemachine-" in sent["error"]
    assert "Traceback" not in everything(app)
    assert sent["titles"] == [i18n.translations(locale[:2]).gettext(t) for t in scenes.titles()]


def test_presenting_hides_what_surrounds_the_scene(open_app: Open) -> None:
    def style(app: Any) -> str:
        return "".join(element.value for element in app.get("html"))

    sidebar = '[data-testid="stSidebar"]'
    assert sidebar not in style(open_app("learn"))
    assert sidebar in style(open_app("learn", present="1", scene="4"))


def test_every_scene_has_its_files() -> None:
    names = {path.name for path in assets.FOLDER.iterdir()}
    assert {f"scene_{number}.js" for number in ALL} <= names
    assert {"frame.js", "kit.js", "learn.css", "main.js"} <= names


def test_both_appearances_have_the_same_colours_by_name() -> None:
    light, dark = (page.colours()[name] for name in ("light", "dark"))
    assert light.keys() == dark.keys()
    assert len(light["diverging"]) == page.LEVELS


@pytest.mark.parametrize(
    ("value", "kept"), [(" a\nb ", " a b "), ("", None), (7, None), ("\ud83d", None), ("abcdef", "abcde")]
)
def test_a_line_of_text_is_taken_or_left(value: object, kept: str | None) -> None:
    assert given.text(value, 5) == kept
    assert given.one_of(value, {"abcdef"}) == ("abcdef" if value == "abcdef" else None)
    assert given.whole(value, 0, 9) == (7 if value == 7 else None)

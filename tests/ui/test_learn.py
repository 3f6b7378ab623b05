"""The Learn page without a browser: what a lecture answers, remembers and writes into the address."""

import json
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from rnnviz import i18n
from rnnviz.lecture import controls
from rnnviz.ui.browser.views import VIEWS
from rnnviz.ui.pages.learn import page, scenes
from rnnviz.ui.pages.learn.session import ADDRESS, Lecture
from tests.ui.apptest import components
from tests.ui.conftest import Open, everything

ALL = range(1, len(scenes.MODULES) + 1)


def answered(lecture: Lecture, wish: Any = None) -> dict[str, Any]:
    """What the browser gets."""
    found: dict[str, Any] = json.loads(lecture.answer(wish, {}, str))
    assert "error" not in found, found["error"]
    return found


def steps(number: int) -> range:
    """The steps of a scene; of the questions, which are all alike, the first few."""
    return range(min(6, scenes.scene(number).STEPS))


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
    assert len(seen) > 1


@pytest.mark.parametrize("number", ALL)
def test_whatever_arrives_does_no_harm(number: int) -> None:
    lecture = Lecture({"scene": str(number)})
    names = [*(c.name for c in scenes.scene(number).CONTROLS), "question", "pick", "again", "setting"]
    nonsense: list[object] = [
        *(None, -1, 10**9, 1e308, 1.5, True, "", "nan", "x" * 5000, "\ud83d"),
        *([], [[]], [None] * 7, [["1e999"]], {"a": 1}),
    ]
    for value in nonsense:  # what asks for a place says nothing of the step in view
        answered(lecture, {"scene": value, "step": value, "present": value, "ask": value})
    for step in steps(number):
        usual = answered(lecture, {"scene": number, "step": step})
        for value in nonsense:
            answered(lecture, {"scene": number, "step": step, "ask": dict.fromkeys(names, value)})
        sent = answered(lecture, {"ask": {"text": "x" * 200_000}})
        assert sent["data"].keys() == usual["data"].keys()


@pytest.mark.parametrize("number", ALL)
def test_an_address_with_nonsense_opens_the_scene_as_usual(number: int) -> None:
    addresses = {control.key for control in scenes.scene(number).CONTROLS} | {"e0", "e1", "a", "b"}
    for value in ("", "-1", "9" * 30, "١٢", "<script>", "\ud83d", "../../etc"):
        sent = answered(Lecture({"scene": str(number), "step": value, **dict.fromkeys(addresses, value)}))
        assert (sent["scene"], sent["step"]) == (number, 0)
        assert sent["data"].keys() == answered(Lecture({"scene": str(number)}))["data"].keys()


@pytest.mark.parametrize("number", ALL)
def test_every_step_has_a_name_of_its_own(number: int) -> None:
    scene = scenes.scene(number)
    assert len(set(scene.NAMES)) == len(scene.NAMES) == scene.STEPS


def test_an_unknown_scene_is_the_first() -> None:
    for value in ("0", "99", "one", ""):
        assert Lecture({"scene": value}).number == 1


@pytest.mark.parametrize(
    ("number", "step", "ask", "written"),
    [
        (1, 2, {"n": 7, "text": "grey eyes"}, {"n": "7", "text": "grey eyes"}),
        (1, 5, {"first": "ab", "second": "cb", "t": 2}, {"a": "ab", "b": "cb", "t": "2"}),
        (2, 2, {"left": "one & two", "model": "gru"}, {"left": "one & two", "model": "gru"}),
        (2, 3, {"pairs": 12}, {"pairs": "12"}),
        (3, 2, {"word": "Niche!", "seed": 12, "t": 2}, {"word": "niche", "seed": "12", "t": "2"}),
        (3, 2, {"seed": 0}, {"seed": "0"}),
        (4, 2, {"seed": 77}, {"seed": "77"}),
        (4, 2, {"seed": 0}, {"seed": "0"}),
        (4, 5, {"t": 6}, {"t": "6"}),
        (5, 6, {"word": "tea", "seed": 4, "at": 9}, {"word": "tea", "seed": "4", "trained": "9"}),
        (5, 3, {"letters": "cachine"}, {"letters": "cachine"}),
        (5, 5, {"n": 5, "t": 8}, {"n": "5", "t": "8"}),
        (6, 1, {"text": "tea", "case": "zero"}, {"text": "tea", "case": "zero"}),
        (6, 1, {"case": "certain"}, {"case": "certain"}),
        (6, 2, {"endings": [" inside", "", ""], "kind": "gru"}, {"e0": " inside", "model": "gru"}),
        (6, 3, {"read": [5, 12]}, {"war": "5"}),
        (6, 4, {"cuts": [70, None]}, {"a": "70"}),
        (6, 5, {"stored": "tea"}, {"stored": "tea"}),
        (6, 6, {"pass": 99}, {"pass": "99"}),
        (6, 7, {"sentence": 2, "history": "ve"}, {"sentence": "3", "guesses": "ve"}),
        (7, 1, {"steps": 4, "net": "memoryless"}, {"T": "4", "net": "memoryless"}),
        (7, 1, {"walked": 2}, {"walked": "2"}),
        (7, 2, {"text": "The lever"}, {"text": "The lever"}),
        (7, 3, {"radius": 1.1, "power": 3, "seed": 0}, {"radius": "1.1", "power": "3", "seed": "0"}),
        (7, 4, {"threshold": 2}, {"theta": "2.0"}),
        (7, 5, {"length": 5, "tau": 3}, {"T": "5", "tau": "3"}),
        (7, 6, {"keep": 0.5, "draw": 8, "cut": 12}, {"pi": "0.5", "draw": "8", "cut": "12"}),
        (7, 7, {"piece": 64}, {"piece": "64"}),
        (8, 2, {"question": "all_before", "pick": 2}, {"answers": "-2"}),
    ],
)
def test_an_address_brings_a_scene_back(
    number: int, step: int, ask: dict[str, Any], written: dict[str, str]
) -> None:
    lecture = Lecture({"scene": str(number)})
    answered(lecture)
    sent = answered(lecture, {"step": step - 1, "present": True, "ask": ask})
    at = {"step": str(step)} if step > 1 else {}
    assert sent["query"] == {"scene": str(number), "present": "1", **at, **written}
    again = answered(Lecture(sent["query"]))
    assert again["data"] == sent["data"]
    assert (again["step"], again["present"]) == (step - 1, True)


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


def test_the_shapes_that_are_said_are_those_of_the_matrices() -> None:
    lecture = Lecture({"scene": "4"})
    shown = answered(lecture)["data"]
    shapes = [str(np.shape(shown[name])) for name in ("X", "W_xh", "H", "W_hh", "sum")]
    assert "{}{} + {}{} = {}".format(*shapes) in answered(lecture)["notice"]
    said = answered(lecture, {"step": 1})["notice"]
    assert f"{shapes[0]} and {shapes[2]} become {np.hstack([shown['X'], shown['H']]).shape}" in said
    assert f"{shapes[1]} and {shapes[3]} become {np.vstack([shown['W_xh'], shown['W_hh']]).shape}" in said
    assert "(3, 5)(5, 4) = (3, 4)" in answered(lecture, {"step": 2})["notice"]
    assert np.shape(shown["product"]) == (3, 4)


@pytest.mark.parametrize("t", range(1, 7))
def test_a_step_of_the_word_is_one_product_too(t: int) -> None:
    sent = answered(Lecture({"scene": "4", "step": "5", "t": str(t)}))
    shown = sent["data"]["word"]
    assert f"Step {t} of" in sent["notice"]
    joined = np.hstack([shown["x"], shown["before"]])
    weights = np.vstack([shown["W_xh"], shown["W_hh"]])
    assert (joined.shape, weights.shape) == ((1, 11), (11, 4))
    np.testing.assert_allclose(joined @ weights, shown["sum"])
    np.testing.assert_allclose(np.add(shown["from_input"], shown["from_state"]), shown["sum"])
    np.testing.assert_allclose(np.tanh(np.add(shown["sum"], shown["b_h"])), shown["state"])
    assert shown["symbols"][int(np.argmax(shown["x"]))] == "machin"[t - 1]
    if t < 6:
        after = answered(Lecture({"scene": "4", "step": "5", "t": str(t + 1)}))["data"]["word"]
        assert after["before"] == shown["state"]


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
    (component,) = components(app)
    sent = json.loads(component.proto.bytes)
    assert {"en": "timemachine-", "zh": "chinese-"}[locale[:2]] in sent["error"]
    assert "Traceback" not in everything(app)
    assert sent["titles"] == [i18n.translations(locale[:2]).gettext(t) for t in scenes.titles()]
    assert len(sent["titles"]) == len(ALL)


def test_presenting_hides_what_surrounds_the_scene(open_app: Open) -> None:
    def style(app: Any) -> str:
        return "".join(element.value for element in app.get("html"))

    sidebar = '[data-testid="stSidebar"]'
    assert sidebar not in style(open_app("learn"))
    assert sidebar in style(open_app("learn", present="1", scene="4"))


def test_every_scene_has_its_files() -> None:
    for number, module in enumerate(scenes.MODULES, start=1):
        assert (VIEWS["learn"].folder / f"{module}.js").is_file()
        assert find_spec(f"rnnviz.lecture.{module.removeprefix(f'scene_{number}_')}"), "one name everywhere"


def test_both_appearances_have_the_same_colours_by_name() -> None:
    light, dark = (page.colours()[name] for name in ("light", "dark"))
    assert light.keys() == dark.keys()
    assert len(light["diverging"]) == page.LEVELS


@pytest.mark.parametrize(
    ("value", "kept"), [(" a\nb ", " a b "), ("", None), (7, None), ("\ud83d", None), ("abcdef", "abcde")]
)
def test_a_line_of_text_is_taken_or_left(value: object, kept: str | None) -> None:
    assert controls.text(5)(value) == kept
    assert controls.one_of({"abcdef"})(value) == ("abcdef" if value == "abcdef" else None)
    assert controls.whole(0, 9)(value) == (7 if value == 7 else None)


@pytest.mark.parametrize("model", ["mlp", "rnn", "gru"])
@pytest.mark.parametrize("pair", [("dark nig", "was going"), ("dark nig", "dark nib"), ("same", "same")])
@pytest.mark.parametrize("step", [0, 1, 4])
def test_what_is_said_of_two_texts_is_what_the_network_does(
    model: str, pair: tuple[str, str], step: int
) -> None:
    lecture = Lecture({"scene": "2"})
    sent = answered(lecture, {"step": step, "ask": dict(zip(("left", "right"), pair, strict=True))})
    sent = answered(lecture, {"ask": {"model": model}})
    shown, said = sent["data"], sent["notice"]
    assert ("different predictions" in said) == (model != "mlp" and pair[0] != pair[1] and shown["alike"])
    assert ("end differently" in said) == (not shown["alike"])
    assert ("The same text twice" in said) == (pair[0] == pair[1])
    if "very same prediction" in said or "is the same too" in said:
        assert (shown["kind"], shown["alike"]) == ("mlp", True)
        assert shown["prediction"] == shown["state"] == 0
    if "different predictions" in said:
        assert shown["prediction"] > 0

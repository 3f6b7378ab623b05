"""Every step of the lecture, at its default and at the ends of each of its controls, in both languages."""

import contextlib
import io
import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest

from rnnviz import i18n
from rnnviz.lecture import controls, symbols
from rnnviz.lecture.controls import Control
from rnnviz.lecture.steps import CODE_WIDTH, PICK, Step
from tests.support.lecture import STEPS, nodes, shown_values, unexplained

every_step = pytest.mark.parametrize(("module", "step"), STEPS, ids=lambda part: getattr(part, "name", part))


def ends(control: Control, value: Any) -> list[Any]:
    """Values at which a control can stop: a slider's ends, every choice, short texts and long ones."""
    widget = control.widget
    if widget.get("kind") == "slider":
        return [control.valid(end) for end in widget["range"][:2]]
    if widget.get("kind") == "choice":
        return [key for key, _words in control.widget_at(value)["options"]]
    if widget.get("kind") == "field":
        texts = ("a", "??", "x" * widget["limit"], "漢字 né\u0000", str(value)[::-1])
        return [names_in_code for names_in_code in map(control.valid, texts) if names_in_code is not None]
    if widget.get("kind") == "button":
        return [control.valid(end) for end in ("0", "1")]
    return [names_in_code for end in ("0", "1", "999") if (names_in_code := control.valid(end)) is not None]


def settings(step: Step) -> Iterator[dict[str, Any]]:
    """A step's values at its default, then with one control at an end."""
    first = shown_values(step)
    yield first
    for name, control in step.controls.items():
        if name != PICK:
            yield from ({**first, name: end} for end in ends(control, first[name]))


@every_step
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_step_answers_wherever_its_controls_stand(module: str, step: Step, language: str) -> None:
    with i18n.speaking(language):
        for now in settings(step):
            picture, notice = step.draw(now)
            json.dumps(picture, allow_nan=False)
            assert notice, now
            assert not re.search(r"[{}]|\bnan\b|None", notice), notice
            assert any(part["kind"] not in ("row", "column", "inline") for part in nodes(picture))
            for graph in (part for part in nodes(picture) if part["kind"] == "graph"):
                joined = {end for arrow in graph["arrows"] for end in arrow[:2]}
                assert joined <= {part["name"] for part in graph["parts"]}, "arrows from part to part"


@every_step
def test_a_steps_code_runs_by_itself_and_gives_its_numbers(module: str, step: Step) -> None:
    for now in list(settings(step))[:3]:
        code = step.code(now)
        if code:
            names_in_code: dict[str, Any] = {}
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, step.name, "exec"), names_in_code)
            assert printed.getvalue().strip(), "the last line prints the picture's number"
            for line in code.splitlines():  # a text alone can't be broken
                assert len(line) <= CODE_WIDTH or re.fullmatch(r"\w+ = (['\"]).*\1", line), line


@every_step
def test_a_steps_symbols_are_explained_and_light_something(module: str, step: Step) -> None:
    now = shown_values(step)
    formula = step.formula_at(now)
    assert unexplained(formula) == set()
    lit = {name for part in nodes(step.draw(now)[0]) for name in part.get("stands", "").split()}
    lit |= {name for control in step.controls.values() for name in control.widget.get("stands", "").split()}
    assert lit <= symbols.SYMBOLS.keys()
    assert not lit or lit & set(symbols.NAMED.findall(formula)), "nothing of the formula is in the picture"


@every_step
def test_a_step_says_what_to_say_and_what_to_ask(module: str, step: Step) -> None:
    question = step.question.text if step.question else str(step.prompt)
    assert "?" in question or step.question  # whose options may end its sentence
    for line in (step.title, step.say, question):
        for sentence in re.split(r"(?<=[.?!:]) ", line):
            assert 0 < len(sentence.split()) <= 25, line
    if step.question:
        assert 2 <= len(step.question.options) <= 4
        assert max(map(len, step.question.options)) <= 46


def test_step_names_differ_and_stops_fill_a_lecture() -> None:
    names = [step.name for _module, step in STEPS]
    assert len(names) == len(set(names))
    stops = [step for _module, step in STEPS if not step.appendix]
    assert 22 <= len(stops) <= 26
    assert sum(step.minutes > 0 for step in stops) == 18
    assert math.fsum(step.minutes for _module, step in STEPS) == 40, "five minutes are for the class"
    assert math.fsum(step.minutes_of_90 for _module, step in STEPS) == 85
    assert all(step.minutes_of_90 for step in stops)


def test_playing_slider_goes_on_in_growing_steps_and_begins_again() -> None:
    play = controls.slider(-3, 100, 1, 0, "t", play="Play")
    assert [play.widget_at(value)["next"] for value in (0, 10, 50, 98, 99, 100)] == [1, 11, 54, 100, 100, -3]
    assert controls.slider(0, 100, 0.5, 0, "t", play="Play").widget_at(10)["next"] == 11
    assert "next" not in controls.slider(0, 9, 1, 0, "t").widget_at(1)


def test_control_begins_at_its_default() -> None:
    made = [
        controls.slider(0, 9, 1, 3, "t"),
        controls.choice({"a": "A", "b": "B"}, "b"),
        controls.line_of_text(9, "some", "t"),
        controls.again(5, "Draw"),
        controls.toggle("Show", "Hide"),
    ]
    assert [control.resolve(None) for control in made] == [3, "b", "some", 5, 0]


def test_another_seed_is_new_and_a_switch_goes_back() -> None:
    seeds, seed = set(), 3
    for _turn in range(500):
        seed = controls.again(0, "Draw").widget_at(seed)["next"]
        seeds.add(seed)
    assert len(seeds) == 500
    assert max(seeds) < 997
    switch = controls.toggle("Show", "Hide")
    assert [(at["label"], at["next"]) for at in map(switch.widget_at, (0, 1))] == [("Show", 1), ("Hide", 0)]
    assert controls.toggle("Show", "").widget_at(1)["label"] == ""

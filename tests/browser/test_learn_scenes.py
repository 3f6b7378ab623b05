"""Scenes 5 to 8 in a real browser: training, dragging, guessing, predicting."""

import re

import pytest
from playwright.sync_api import expect

from rnnviz.lecture import questions, shannon, word
from rnnviz.ui.pages.learn import scored_texts
from tests.browser.driving import box_of
from tests.browser.lecturing import Lectern


def drag(lectern: Lectern, hit: str, x: float, y: float) -> None:
    """Take what answers to `hit` in its middle, and let it go so many pixels further."""
    box = box_of(lectern.root.locator(f"[data-hit='{hit}']"))
    begin = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    lectern.page.mouse.move(*begin)
    lectern.page.mouse.down()
    lectern.page.mouse.move(begin[0] + x, begin[1] + y, steps=3)
    lectern.page.mouse.up()
    lectern.rest()


def go(lectern: Lectern, scene: int, step: int) -> None:
    """Step by step to a later step of the scene that is there, counted from 1 as in addresses."""
    for at in range(int(lectern.root.get_attribute("data-step") or 0) + 1, step):
        lectern.press("ArrowDown")
        lectern.at(scene, at)


def test_a_letter_is_changed_and_the_output_follows_and_a_word_is_trained_before_ones_eyes(
    lectern: Lectern,
) -> None:
    lectern.open(scene=5, step=3, present=1)
    same = lectern.root.locator("text", has_text=re.compile("^=$"))
    expect(same).to_have_count(1)
    lectern.root.locator("[data-hit='letter.5']").click()
    lectern.rest()
    expect(same).to_have_count(1)
    assert lectern.query()["letters"] == "machnne"
    lectern.root.get_by_role("button", name="character 1: m").press("Enter")
    lectern.rest()
    expect(same).to_have_count(0)
    assert lectern.query()["letters"] == "aachnne"
    lectern.control("again").click()
    lectern.rest()
    assert "letters" not in lectern.query()
    go(lectern, 5, 7)
    field = lectern.control("word").locator("input")
    field.fill("tea")
    expect(lectern.root.locator("text", has_text="training step 0 of")).to_be_visible()
    lectern.rest()
    lectern.control("train").click()
    end = lectern.root.locator("text", has_text=f"training step {word.STEPS} of {word.STEPS}")
    expect(end).to_be_visible()
    lectern.rest()
    assert lectern.query()["trained"] == str(word.STEPS)
    assert lectern.wrong() + lectern.small() == []
    field.fill("mississippi")
    expect(lectern.root.locator("text", has_text="training step 0 of")).to_be_visible()
    lectern.rest()
    assert lectern.wrong() == [], "the longest words fit too"


def test_what_a_step_adds_moves_in_once_unless_less_motion_is_wanted(lectern: Lectern) -> None:
    began = "e => new Promise(done => done(e.getAnimations({subtree: true}).length))"
    lectern.page.emulate_media(reduced_motion="no-preference")
    lectern.open(scene=2, step=2)
    lectern.press("Space")
    lectern.at(2, 2)
    assert lectern.root.evaluate(began) > 0
    lectern.press("ArrowRight")
    lectern.at(3, 0)
    for motion, moves in (("no-preference", True), ("reduce", False)):
        lectern.page.emulate_media(reduced_motion=motion)  # type: ignore[arg-type]
        lectern.press("Space")
        lectern.at(3, 1)
        assert (lectern.root.evaluate(began) > 0) == moves
        lectern.press("ArrowUp")
        lectern.at(3, 0)


def test_a_bar_is_moved_by_keys_and_dragged_to_nothing_and_a_letter_is_guessed(lectern: Lectern) -> None:
    lectern.open(scene=6)
    bar = lectern.root.get_by_role("slider", name="probability of h")
    infinite = lectern.root.locator("text", has_text=re.compile(r"^\+∞$"))
    expect(bar).to_have_attribute("aria-valuetext", "0.25")
    bar.focus()
    bar.press("ArrowUp")
    expect(bar).to_have_attribute("aria-valuetext", "0.26")
    expect(infinite).to_have_count(0)
    bar.press("Home")
    expect(infinite).to_have_count(1)
    bar.press("End")
    expect(bar).to_have_attribute("aria-valuetext", "1")
    lectern.rest()
    lectern.at(6, 0)
    lectern.control("case").get_by_role("radio", name="Network").click()
    expect(bar).to_have_attribute("aria-valuetext", "0.25")
    expect(infinite).to_have_count(0)
    lectern.rest()
    drag(lectern, "bar.2", 0, 600)
    expect(infinite).to_have_count(1)
    lectern.control("case").get_by_role("radio", name="Certain").click()
    expect(infinite).to_have_count(0)
    lectern.rest()
    go(lectern, 6, 7)
    hidden = shannon.SENTENCES[0][1]
    lectern.root.locator("[data-hit='key.q']").click()
    lectern.rest()
    field = lectern.control("guess").locator("input")
    for letter in hidden[:3]:
        field.press(letter)
        lectern.rest()
    assert lectern.query()["guesses"] == "q" + hidden[:3]
    expect(field).to_have_value("")
    lectern.at(6, 6)
    assert lectern.wrong() == []


def test_the_way_back_is_walked_clipped_cut_and_measured(lectern: Lectern) -> None:
    lectern.open(scene=7)
    button = lectern.control("back")
    for walked in range(1, 4):
        button.press("Enter")
        lectern.rest()
        assert lectern.query()["walked"] == str(walked)
        assert lectern.wrong() == []
    expect(button).to_have_text("Start again")
    button.press("Enter")
    lectern.rest()
    assert "walked" not in lectern.query()
    lectern.root.locator("[data-hit='state.2']").press("Enter")
    lectern.rest()
    assert lectern.query()["walked"] == "2"
    lectern.control("net").get_by_role("radio", name="without").click()
    expect(lectern.root.locator("text", has_text="no step hands anything back")).to_be_visible()
    lectern.rest()
    assert lectern.wrong() == []
    go(lectern, 7, 4)
    drag(lectern, "arrow", -2000, -2000)
    across = lectern.root.get_by_role("slider", name="first number of the gradient")
    expect(across).to_have_attribute("aria-valuenow", "-4.8")
    across.press("ArrowRight")
    expect(across).to_have_attribute("aria-valuenow", re.compile(r"^-4\.7"))
    across.press("End")
    expect(across).to_have_attribute("aria-valuenow", "4.8")
    lectern.rest()
    assert lectern.wrong() == []
    across.blur()
    go(lectern, 7, 5)
    drag(lectern, "cut", 200, 0)
    assert lectern.query().get("tau") == "1"
    drag(lectern, "cut", -2000, 0)
    assert lectern.query()["tau"] == "6"
    cut = lectern.root.get_by_role("slider", name="Drag the cut")
    cut.press("ArrowLeft")
    expect(cut).to_have_attribute("aria-valuenow", "5")
    lectern.rest()
    assert lectern.query()["tau"] == "5"
    assert lectern.wrong() == []
    cut.blur()
    go(lectern, 7, 7)
    expect(lectern.root.locator("text", has_text="not measured yet")).to_be_visible()
    lectern.control("measure").click()
    expect(lectern.root.get_by_text("Here, now:")).to_be_visible()
    lectern.rest()
    assert lectern.wrong() == []


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_question_is_predicted_revealed_and_fits(lectern: Lectern, language: str) -> None:
    lectern.open(scene=8, present=1, lang=language)
    wrong = {}
    for step, question in enumerate(questions.QUESTIONS):
        lectern.at(8, step)
        lectern.root.locator("[data-hit='option.0']").click()
        lectern.control("setting").wait_for()
        lectern.rest()
        if found := lectern.wrong() + lectern.small():
            wrong[question.key] = found
        if step + 1 < len(questions.QUESTIONS):
            lectern.press("Space")
    assert wrong == {}
    assert lectern.query()["answers"] == "0" * len(questions.QUESTIONS)


def test_a_chosen_setting_can_be_read_under_the_pointer(lectern: Lectern) -> None:
    lectern.open(scene=8, step=15, answers="0" * len(questions.QUESTIONS))
    chosen = lectern.control("setting").get_by_role("radio", name="1.5")
    chosen.click()
    lectern.rest()
    expect(chosen).to_have_attribute("aria-checked", "true")
    colours = chosen.evaluate(
        "e => { const style = getComputedStyle(e); return [style.color, style.backgroundColor] }"
    )
    assert colours[0] != colours[1]
    light = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours]
    assert abs(light[0] - light[1]) > 300


def test_a_language_brings_its_own_texts_and_leaves_what_was_typed(lectern: Lectern) -> None:
    lectern.open(scene=6, step=2, lang="zh")
    endings = [lectern.control(f"ending.{i}").locator("input") for i in range(3)]
    expect(endings[0]).to_have_value(scored_texts.ENDINGS["zh"][0])
    endings[1].fill("下山去了")
    endings[1].press("Enter")
    lectern.rest()
    lectern.page.get_by_test_id("stSidebar").get_by_text("English").click()
    expect(endings[0]).to_have_value(" outside")
    expect(endings[1]).to_have_value("下山去了")
    expect(endings[2]).to_have_value(scored_texts.ENDINGS["en"][2])
    lectern.at(6, 1)
    assert {"e0", "e2"}.isdisjoint(lectern.query())
    assert "e1" in lectern.query()


def test_a_gap_is_chosen_and_its_training_replayed(lectern: Lectern) -> None:
    lectern.open(scene=7, step=8, present=1)
    lectern.root.locator("[data-hit='gap.20']").focus()
    lectern.press("Enter")
    clipping = lectern.control("clipping")
    expect(clipping).to_be_visible()
    lectern.rest()
    clipping.get_by_role("radio", name="off").click()
    lectern.control("gates").get_by_role("radio", name="0.73").click()
    steps = lectern.control("updates").get_by_role("slider")
    steps.focus()
    steps.press("Home")
    lectern.rest()
    query = lectern.query()
    assert [query[name] for name in ("k", "clipping", "gates", "updates")] == ["20", "off", "usual", "0"]
    assert lectern.wrong() == []

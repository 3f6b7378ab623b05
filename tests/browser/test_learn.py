"""The lecture in a real browser: every step of every scene, the keys, the address."""

import pytest
from playwright.sync_api import expect

from rnnviz.ui.pages.learn import scenes
from tests.browser.lecturing import DRAWN, Lectern

LAST = len(scenes.MODULES)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "width", "height", "present"),
    [("en", 1280, 720, 1), ("zh", 1280, 720, 1), ("en", 1440, 900, 0), ("zh", 1440, 900, 0)],
)
def test_nothing_overlaps_or_overflows_and_all_can_be_read_in_any_step_of_any_scene(
    lectern: Lectern, language: str, width: int, height: int, present: int
) -> None:
    """Each language where type is largest, and the longer words in the page's frame, too."""
    first_steps_alone = language == "zh" and not present
    lectern.page.set_viewport_size({"width": width, "height": height})
    lectern.open(lang=language, present=present)
    wrong = {}
    for number in range(1, LAST + 1):
        for step in range(1 if first_steps_alone else scenes.scene(number).STEPS):
            if (number, step) != (1, 0):
                lectern.press("ArrowRight" if step == 0 else "Space")
            lectern.at(number, step)
            if found := lectern.wrong() + (lectern.small() if present else []):
                wrong[f"scene {number}, step {step + 1}"] = found
    assert wrong == {}
    size = lectern.root.evaluate("e => parseFloat(getComputedStyle(e).getPropertyValue('--type'))")
    assert size >= (21.5 if present else 14), "the back row must be able to read it"


ENLARGED = ((720, 450), (640, 360), (640, 290))
"""1440 × 900, and 1280 × 720 without and with a browser's bars, at 200 %."""


def test_enlarged_to_200_percent_nothing_is_cut_off_while_presenting(lectern: Lectern) -> None:
    for scene, step in ((1, 6), (3, 3), (6, 2), (7, 5), (8, 1)):
        lectern.open(scene=scene, step=step, present=1)
        for width, height in ENLARGED:
            lectern.page.set_viewport_size({"width": width, "height": height})
            lectern.page.evaluate(DRAWN)
            assert lectern.wrong() == [], (scene, step, height)
            leave = lectern.root.get_by_role("button", name="Leave the presentation")
            for part in (leave, lectern.root.locator(".ln-notice"), lectern.root.locator(".ln-formula")):
                part.scroll_into_view_if_needed()
                expect(part).to_be_in_viewport(ratio=0.99)


def test_keys_walk_through_steps_and_scenes_and_each_scene_keeps_its_own(lectern: Lectern) -> None:
    lectern.open(present=1)
    lectern.press("Space")
    lectern.at(1, 1)
    lectern.press("ArrowRight")
    lectern.at(2, 0)
    lectern.press("PageDown")
    lectern.press("ArrowDown")
    lectern.at(2, 2)
    lectern.press("ArrowUp")
    lectern.at(2, 1)
    lectern.press("ArrowLeft")
    lectern.at(1, 1)
    lectern.press("Shift+Space")
    lectern.at(1, 0)
    lectern.press("PageUp")  # before the first there is nothing
    lectern.at(1, 0)
    lectern.press("ArrowRight")
    lectern.at(2, 1)
    expect(lectern.page.get_by_test_id("stSidebar")).to_be_hidden()
    lectern.press("Escape")
    expect(lectern.page.get_by_test_id("stSidebar")).to_be_visible()
    lectern.press("p")
    expect(lectern.page.get_by_test_id("stSidebar")).to_be_hidden()


def test_two_texts_are_typed_keys_are_the_field_s_and_a_state_tells_them_apart(lectern: Lectern) -> None:
    lectern.open(scene=2)
    expect(lectern.root.locator("text", has_text="=").first).to_be_visible()
    lectern.control("model").get_by_role("radio", name="RNN").click()
    expect(lectern.root.locator("text", has_text="≠").first).to_be_visible()
    lectern.rest()
    assert lectern.query()["model"] == "rnn"
    field = lectern.control("left").locator("input")
    field.fill("a")
    field.press("Space")
    field.press("p")
    field.press("ArrowLeft")
    field.press("g")
    expect(field).to_have_value("a gp")
    lectern.rest()
    lectern.at(2, 0)
    expect(lectern.page.get_by_test_id("stSidebar")).to_be_visible()
    field.press("Escape")
    lectern.press("Space")
    lectern.at(2, 1)
    assert lectern.query()["left"].replace("+", " ") == "a gp"


def test_entries_are_pointed_at_and_changed_by_click_and_by_keys_alone(lectern: Lectern) -> None:
    lectern.open(scene=4, step=4)
    product = lectern.root.locator("[data-hit='product.2.3']")
    before = product.text_content()
    lectern.root.locator("[data-hit='X.2.0']").click()
    entry = lectern.root.locator(".ln-entry")
    entry.fill("9,5")
    entry.press("Enter")
    expect(lectern.root.locator("[data-hit='X.2.0']")).to_have_text("9.50")
    assert lectern.root.locator("[data-hit='product.2.3']").text_content() != before
    total = lectern.root.locator("[data-hit='sum.2.3']").text_content()
    assert lectern.root.locator("[data-hit='product.2.3']").text_content() == total
    lectern.root.locator("[data-hit='product.2.3']").hover()
    expect(lectern.root.locator("text", has_text="9.50·")).to_be_visible()
    lectern.page.mouse.move(5, 500)
    first = lectern.root.locator("[data-hit='X.0.0']")
    first.focus()
    lectern.press("Enter")
    entry.fill("1.5")
    entry.press("Tab")  # before the answer is here
    entry.fill("-2")
    entry.press("Enter")
    expect(entry).to_have_count(0)
    for row, value in enumerate(("1.50", "−2.00")):
        expect(lectern.root.locator(f"[data-hit='X.{row}.0']")).to_have_text(value)
    lectern.rest()
    expect(lectern.root.locator("[data-hit='X.1.0']")).to_be_focused()
    lectern.press("Tab")
    lectern.press("Enter")
    entry.press("Tab")
    expect(entry).to_have_count(0)
    expect(lectern.root.locator("[data-hit='W_xh.0.0']")).to_be_focused()
    lectern.press("Enter")
    entry.fill("7")
    entry.press("Escape")
    expect(lectern.root.locator("[data-hit='W_xh.0.0']")).to_be_focused()
    lectern.at(4, 3)


MOVING = "root => root.getAnimations({ subtree: true }).length"
MOVED = """
root => Promise.all(root.getAnimations({ subtree: true }).map((a) => a.finished)).then((all) => all.length)
"""


def test_blocks_slide_into_one_matrix_once_and_forward(lectern: Lectern) -> None:
    lectern.page.emulate_media(reduced_motion="no-preference")
    lectern.open(scene=4, step=2)
    assert lectern.root.evaluate(MOVING) == 0, "opened by an address it is there"
    lectern.press("ArrowUp")
    lectern.at(4, 0)
    assert lectern.root.evaluate(MOVING) == 0
    lectern.press("Space")
    lectern.at(4, 1)
    assert lectern.root.evaluate(MOVED) == 5, "four blocks, and what stands above them"
    assert lectern.wrong() == []
    lectern.root.locator("[data-hit='sum.1.1']").hover()  # draws again
    assert lectern.root.evaluate(MOVING) == 0
    lectern.page.emulate_media(reduced_motion="reduce")
    lectern.press("ArrowUp")
    lectern.at(4, 0)
    lectern.press("Space")
    lectern.at(4, 1)
    assert lectern.root.evaluate(MOVING) == 0


def test_a_table_that_nobody_counted_shows_no_costs(lectern: Lectern) -> None:
    lectern.open(scene=1, step=3, n=10, present=1)
    expect(lectern.control("framed")).to_contain_text("counts up to n = 6")
    expect(lectern.root.locator("text", has_text="10-gram")).to_be_visible()
    slider = lectern.control("n").get_by_role("slider")
    slider.focus()
    for _ in range(4):
        slider.press("ArrowLeft")
    lectern.rest()
    expect(lectern.root.locator("text", has_text="6-gram")).to_be_visible()
    expect(lectern.control("framed")).to_contain_text("contexts are not in the book")
    assert lectern.wrong() == []


def test_a_character_is_pointed_at_by_keys_and_two_texts_are_compared_at_every_length(
    lectern: Lectern,
) -> None:
    lectern.open(scene=1, step=6, a="W" * 22, b="M" * 22, t=22, present=1)
    along = lectern.root.get_by_role("slider", name="character of the text")
    along.press("End")
    expect(lectern.root.locator("text", has_text="P(f):")).to_be_visible()
    along.press("ArrowLeft")
    along.press("ArrowLeft")
    expect(lectern.root.locator("text", has_text="P(o):")).to_be_visible()
    expect(along).to_be_focused()
    lectern.at(1, 5)
    assert lectern.wrong() == []
    along.blur()
    lectern.press("ArrowUp")
    lectern.at(1, 4)
    assert lectern.wrong() == [], "the longest texts fit"
    expect(lectern.root.locator("text", has_text="69²³")).to_be_visible()
    slider = lectern.control("t").get_by_role("slider")
    slider.focus()
    slider.press("Home")
    lectern.rest()
    assert lectern.query()["t"] == "1"
    expect(lectern.root.locator("text", has_text="69²")).to_be_visible()
    lectern.press("Escape")
    lectern.press("ArrowUp")
    lectern.at(1, 3)
    assert lectern.wrong() == []


def test_the_address_brings_the_scene_back_and_is_no_trap_for_the_back_button(lectern: Lectern) -> None:
    lectern.open(scene=1, n=5)
    slider = lectern.control("n").get_by_role("slider")
    expect(slider).to_have_value("5")
    lengths = lectern.page.evaluate("history.length")
    slider.focus()
    slider.press("ArrowRight")
    lectern.rest()
    lectern.press("Escape")
    lectern.press("ArrowDown")
    lectern.at(1, 1)
    assert lectern.query() == {"scene": "1", "step": "2", "n": "6"}
    assert lectern.page.evaluate("history.length") == lengths
    lectern.page.reload()
    lectern.at(1, 1)
    expect(lectern.control("n").get_by_role("slider")).to_have_value("6")


def test_another_page_and_back_finds_the_lecture_where_it_was(lectern: Lectern) -> None:
    lectern.open(scene=3, step=2, word="mace")
    lectern.page.get_by_test_id("stSidebarNav").get_by_text("Perplexity").click()
    expect(lectern.page.get_by_role("heading", level=1, name="Perplexity")).to_be_visible()
    assert not lectern.query().keys() & {"scene", "step", "word"}
    lectern.press("ArrowRight")  # the lecture's keys are gone with it
    lectern.page.get_by_test_id("stSidebarNav").get_by_text("Learn").click()
    lectern.at(3, 1)
    assert lectern.query() == {"scene": "3", "step": "2", "word": "mace"}

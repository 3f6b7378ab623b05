"""The page Inside in a real browser: select, rank and colour; clamp; change a letter; compare."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.driving import box_of, changed

COLOURS = "(board) => Array.from(board.querySelectorAll('.bd-open span'), (s) => s.style.background).join()"
MOVED = """(board) => {
  window.moved = 0;
  const count = (records) => { window.moved += records.length; };
  new MutationObserver(count).observe(board.querySelector('.bd-grid'), { childList: true });
}"""
BARS = "(board) => board.querySelector('[data-name=next] .barlayer')?.innerHTML"


pytestmark = pytest.mark.usefixtures("kept")


PARTS = {
    "units": "Units",
    "memory": "Memory",
    "match": "Match",
    "cause": "Cause",
}


def open_part(page: Page, url: str, part: str) -> Locator:
    """The first board of a part, drawn; by a click on its name where the page is there."""
    if page.url.startswith(f"{url}/inside?") and "model=tiny-gru" in page.url:
        page.locator(".st-key-part").get_by_text(PARTS[part], exact=True).click()
        expect(page).to_have_url(re.compile(f"part={part}"))
        expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    else:
        page.goto(f"{url}/inside?model=tiny-gru&part={part}")
    expect(page.get_by_test_id("stException")).to_have_count(0)
    board = page.get_by_test_id("rnnviz-board").first
    expect(board).to_have_attribute("data-drawn", re.compile(r"\d+"))
    return board


def letter(board: Locator, t: int) -> Locator:
    """A character of the board's first text."""
    return board.locator(f".bd-open span[data-t='{t}']").first


def test_a_selection_ranks_the_units_and_a_bar_colours_the_text(page: Page, app_url: str) -> None:
    board = open_part(page, app_url, "units")
    one, other = (box_of(letter(board, t)) for t in (4, 8))
    page.mouse.move(one["x"] + 3, one["y"] + 8)
    page.mouse.down()
    page.mouse.move(other["x"] + 3, other["y"] + 8, steps=4)
    page.mouse.move(other["x"] + 3, box_of(board.locator(".bd-flow").first)["y"] + 2)  # beside the text
    page.mouse.up()
    expect(board.locator(".bd-in")).to_have_count(5)
    expect(page.get_by_text("Too little text to tell")).to_be_visible()
    pad = page.locator("[data-name=ranking] .bd-pad")
    expect(page.locator("[data-name=ranking] .barlayer .point")).to_have_count(12)
    before, unit = board.evaluate(COLOURS), page.get_by_label("The unit, 0 to").input_value()
    box = box_of(pad)
    pad.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    expect(page.get_by_label("The unit, 0 to")).not_to_have_value(unit)
    changed(board, COLOURS, before)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_row_of_matches_becomes_the_text_with_the_match_selected(page: Page, app_url: str) -> None:
    board = open_part(page, app_url, "match")
    page.get_by_role("slider", name="Threshold").focus()
    for _ in range(9):  # down to 0.05: the network is small, and random
        page.keyboard.press("ArrowLeft")
    rows = page.get_by_test_id("rnnviz-board").nth(1)
    expect(rows.locator(".bd-flow.bd-one").first).to_be_visible()
    one, other = (box_of(letter(board, t)) for t in (4, 6))
    page.mouse.move(one["x"] + 3, one["y"] + 8)
    page.mouse.down()
    page.mouse.move(other["x"] + 3, other["y"] + 8, steps=4)
    page.mouse.up()
    expect(board.locator(".bd-in")).to_have_count(3)
    row = rows.locator(".bd-flow").first
    expect(row.locator(".bd-in")).not_to_have_count(0)
    expect(rows.locator(".bd-bars > span")).not_to_have_count(0)
    matched = row.locator(".bd-in").all_inner_texts()
    row.focus()
    page.keyboard.press("Enter")
    expect(board.locator(".bd-in")).to_have_count(len(matched))
    expect(board.locator(".bd-in")).to_have_text(matched, use_inner_text=True)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_pointing_finds_the_character_in_every_picture(page: Page, app_url: str) -> None:
    board = open_part(page, app_url, "match")
    letter(board, 3).hover()
    expect(board.locator(".bd-said")).to_contain_text("character 4")
    expect(board.locator("[data-name=pattern] .bd-upright")).to_be_visible()
    page.mouse.move(5, 5)
    expect(board.locator(".bd-said")).to_contain_text("Point at a character")
    expect(board.locator("[data-name=pattern] .bd-upright")).to_be_hidden()


def test_holding_units_changes_the_probabilities(page: Page, app_url: str) -> None:
    board = open_part(page, app_url, "cause")
    expect(board.locator("[data-name=next] .barlayer .point")).not_to_have_count(0)
    before = board.evaluate(BARS)
    page.get_by_role("textbox", name="Units, 0 to 11").fill("0-5")
    page.keyboard.press("Enter")
    clamped = changed(board, BARS, before)
    page.get_by_role("radio", name="set to 0").click()
    changed(board, BARS, clamped)


def test_the_cursor_moves_with_the_arrow_keys(page: Page, app_url: str) -> None:
    board = open_part(page, app_url, "memory")
    figures = board.locator(".bd-panel").count()
    expect(board.locator(".bd-plot .main-svg:first-child")).to_have_count(
        figures
    )  # those below the window too
    board.evaluate(MOVED)
    letter(board, 7).click()
    expect(board.locator(".bd-text b").first).to_contain_text("character 8")
    page.keyboard.press("ArrowRight")
    expect(board.locator(".bd-text b").first).to_contain_text("character 9")
    expect(letter(board, 8)).to_have_class(re.compile("bd-at"))
    assert page.evaluate("window.moved") == 0, "figures that stay aren't put into the page anew"


def test_a_changed_letter_is_felt_from_there_on(page: Page, app_url: str) -> None:
    board = open_part(page, app_url, "cause")
    page.get_by_role("radio", name="Change a letter").click()
    expect(page.get_by_role("textbox", name="In place of")).to_be_visible()
    board = page.get_by_test_id("rnnviz-board").first
    expect(board.locator("[data-name=divergence] .scatterlayer .trace")).to_have_count(2)
    letter(board, 6).click()
    expect(page.get_by_role("textbox", name="In place of “m”, character 7")).to_be_visible()
    expect(page.get_by_text("predicts differently").first).to_be_visible()


def test_two_networks_share_a_cursor(page: Page, app_url: str) -> None:
    board = open_part(page, app_url, "cause")
    page.get_by_role("radio", name="Compare").click()
    expect(page.locator("[data-name=running]")).to_be_visible()
    board = page.get_by_test_id("rnnviz-board").first
    expect(board.locator(".bd-open")).to_have_count(3)
    letter(board, 5).hover()
    expect(board.locator(".bd-here")).to_have_count(3)
    expect(board.locator(".bd-said")).to_contain_text("tiny-lstm")
    expect(board.locator("[data-name=heat-tiny-lstm] .bd-upright")).to_be_visible()


def test_colours_follow_the_appearance(page: Page, app_url: str) -> None:
    page.emulate_media(color_scheme="dark")
    expect(open_part(page, app_url, "memory")).to_have_attribute("data-theme", "dark")

"""Explore's text area behaves as any text field, and the picture speaks of what stands at its caret."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

import rnnviz
from rnnviz.text.characters import visible
from rnnviz.ui.pages.explore.session import LIMIT
from tests.browser.conftest import Live
from tests.browser.test_explore import MODEL

SENTENCE = "His grey eyes shone and twinkled. "


def bars(text: str, t: int) -> list[tuple[str, str]]:
    """The two highest bars that the page must show after t characters of a text."""
    return [
        (visible(symbol), f"{probability:.1%}".replace("%", " %"))
        for symbol, probability in rnnviz.trace(MODEL, text).top(t, 2)
    ]


def expect_bars(live: Live, t: int) -> None:
    """Wait until the bars tell what comes after t characters of the text that is there."""
    rows = live.page.locator(".rv-next-list li")
    for i, (symbol, chance) in enumerate(bars(live.text, t)):
        expect(rows.nth(i).locator(".rv-symbol")).to_have_text(symbol)
        expect(rows.nth(i).locator(".rv-chance")).to_have_text(chance)


def paste(live: Live, times: int) -> None:
    """With the keys, what was copied."""
    for _ in range(times):
        live.page.keyboard.press("Control+v")


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize("unit", ["His grey eyes shone. ", "🐒 eyes shone. "])
def test_too_long_a_paste_is_cut_and_undone_step_by_step(live: Live, unit: str) -> None:
    text = unit * (9_000 // len(unit))
    live.write(text)
    for key in ("Control+a", "Control+c", "Control+Home"):
        live.page.keyboard.press(key)
    paste(live, 1)
    live.painted(2 * len(text))
    for _ in range(10):
        live.page.keyboard.press("ArrowRight")
    paste(live, 1)
    live.painted(LIMIT)
    expect(live.page.get_by_role("link", name="Perplexity page")).to_be_visible()
    # What stood there stays, as where a field is full: of what was pasted comes what there is room for.
    kept, room, at = text + text, LIMIT - 2 * len(text), len(text) + 10
    assert live.text == kept[:at] + text[:room] + kept[at:]
    for length in (2 * len(text), len(text), 18):
        live.page.keyboard.press("Control+z")
        live.painted(length)
    assert live.text == "The Time Traveller"
    expect(live.page.locator(".rv-limit")).to_be_hidden()
    for length in (len(text), 2 * len(text), LIMIT):
        live.page.keyboard.press("Control+Shift+z")
        live.painted(length)


def test_a_full_field_takes_no_key_and_can_be_undone(live: Live) -> None:
    text = (SENTENCE * 600)[: LIMIT - 1]
    live.write(text)
    live.page.keyboard.press("Control+Home")
    live.page.keyboard.type("ab")
    live.painted(LIMIT)
    expect(live.page.locator(".rv-limit")).to_be_visible()
    assert live.text == "a" + text
    assert live.area.evaluate("(e) => e.selectionStart") == 1
    live.page.keyboard.press("Control+z")
    live.painted(LIMIT - 1)
    assert live.text == text
    expect(live.page.locator(".rv-limit")).to_be_hidden()


def test_escape_lets_go_wherever_the_focus_is(live: Live) -> None:
    pinned = live.page.locator(".rv-pinned")
    live.more()
    elsewhere: list[Callable[[], None]] = [
        lambda: live.page.get_by_role("link", name="Perplexity").focus(),
        lambda: live.area.focus(),
        lambda: live.page.get_by_role("combobox", name="Show").focus(),
        lambda: live.page.get_by_role("slider", name="temperature").focus(),
        lambda: live.page.locator(".rv-touch").first.focus(),
        lambda: live.page.get_by_role("button", name="Continue").focus(),
        lambda: live.page.get_by_test_id("stSidebar").get_by_role("combobox").focus(),
        lambda: live.page.get_by_role("radio", name="English").focus(),
        lambda: live.page.evaluate("document.activeElement.blur()"),
    ]
    for focus in elsewhere:
        live.page.mouse.click(*live.column(2.5 / 24))
        expect(pinned).to_be_visible()
        focus()
        live.page.keyboard.press("Escape")
        expect(pinned).to_be_hidden()


def test_escape_that_closes_a_list_lets_nothing_go(live: Live) -> None:
    live.page.mouse.click(*live.column(2.5 / 24))
    live.page.get_by_test_id("stSidebar").get_by_role("combobox").click()
    expect(live.page.get_by_role("option", name="tiny-lstm")).to_be_visible()
    live.page.keyboard.press("Escape")
    expect(live.page.get_by_role("option", name="tiny-lstm")).to_be_hidden()
    expect(live.page.locator(".rv-pinned")).to_be_visible()


def test_escape_that_closes_the_menu_lets_nothing_go(live: Live) -> None:
    live.page.mouse.click(*live.column(2.5 / 24))
    live.page.get_by_test_id("stMainMenu").get_by_role("button").click()
    menu = live.page.get_by_test_id("stMainMenuPopover")
    expect(menu).to_be_visible()
    live.page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(live.page.locator(".rv-pinned")).to_be_visible()
    live.page.keyboard.press("Escape")
    expect(live.page.locator(".rv-pinned")).to_be_hidden()


def test_the_bars_are_about_the_caret(live: Live) -> None:
    live.area.press("End")
    expect_bars(live, 18)
    for _ in range(9):
        live.page.keyboard.press("ArrowLeft")
    expect_bars(live, 9)
    expect(live.page.locator(".rv-next-before")).to_have_text("…he·Time·")
    expect(live.page.locator(".rv-next-list .rv-came .rv-symbol")).to_have_text("T")
    live.page.keyboard.type("old ")
    live.painted(22)
    assert live.text == "The Time old Traveller"
    expect_bars(live, 13)
    live.page.keyboard.press("End")
    expect_bars(live, 22)


def test_the_number_of_now_is_the_carets(live: Live) -> None:
    live.area.press("Home")
    entropy = rnnviz.trace(MODEL, live.text).entropy / 0.6931471805599453
    expect(live.page.get_by_test_id("rnnviz-entropy")).to_have_text(f"{entropy[0]:.2f}")
    live.page.keyboard.press("End")
    expect(live.page.get_by_test_id("rnnviz-entropy")).to_have_text(f"{entropy[18]:.2f}")


def test_a_selection_is_about_the_end_that_moves(live: Live) -> None:
    live.area.press("End")
    for _ in range(3):
        live.page.keyboard.press("Shift+ArrowLeft")
    expect_bars(live, 15)
    for _ in range(3):
        live.page.keyboard.press("Shift+ArrowRight")
    expect_bars(live, 18)


def test_a_held_arrow_key_is_followed_before_it_is_let_go(live: Live) -> None:
    live.area.press("End")
    live.page.keyboard.down("ArrowLeft")
    live.page.keyboard.down("ArrowLeft")  # repeats
    expect_bars(live, 16)
    live.page.keyboard.up("ArrowLeft")


def test_the_start_of_a_long_text_is_shown_when_the_caret_goes_there(live: Live) -> None:
    live.write(SENTENCE * 20)
    where = live.page.locator(".rv-where")
    expect(where).to_contain_text("to 680 of")
    live.page.keyboard.press("Control+Home")
    expect(where).to_contain_text("characters 1 to")
    expect_bars(live, 0)
    live.page.keyboard.press("Control+End")
    expect(where).to_contain_text("to 680 of")
    expect_bars(live, 680)


def test_a_window_moved_by_hand_comes_back_with_the_caret(live: Live) -> None:
    live.write(SENTENCE * 20)
    where = live.page.locator(".rv-where")
    live.page.locator(".rv-range").fill("0")
    expect(where).to_contain_text("characters 1 to")
    live.area.focus()
    expect(where).to_contain_text("characters 1 to")
    live.page.keyboard.press("ArrowLeft")
    expect(where).to_contain_text("to 680 of")
    expect_bars(live, 679)


def test_the_caret_wins_over_a_pointer_that_rests(live: Live) -> None:
    live.page.mouse.move(*live.column(2.5 / 24))
    expect(live.readout).to_contain_text("character 3")
    live.area.press("End")
    live.page.keyboard.press("ArrowLeft")
    expect(live.readout).to_be_empty()
    expect_bars(live, 17)
    live.page.keyboard.type("e")
    live.painted(19)
    expect_bars(live, 18)
    live.page.mouse.move(*live.column(4.5 / 24))
    expect(live.readout).to_contain_text("character 5")

"""Explore's text area behaves as any text field, and the picture speaks of what stands at its caret."""

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import expect

import rnnviz
from rnnviz.page.live_session import MAX_TEXT_CHARS
from tests.browser.conftest import Live
from tests.support.explore_page import MODEL, OPENING, expect_bars, perplexity

SENTENCE = "His grey eyes shone and twinkled. "


EDITS = {
    "typed at the end": (["End", *" was here"], f"{OPENING} was here", 27),
    "typed between": (["Home", *9 * ["ArrowRight"], *"old "], "The Time old Traveller", 13),
    "deleted at the beginning": (["Home", *4 * ["Delete"]], "Time Traveller", 0),
    "all deleted": (["Control+a", "Delete"], "", 0),
}


@pytest.mark.parametrize(("keys", "text", "caret"), EDITS.values(), ids=EDITS)
def test_typed_text_is_read_and_caret_stays(live: Live, keys: list[str], text: str, caret: int) -> None:
    live.press(*keys)
    live.reads(text)
    assert live.number("perplexity") == perplexity(text)
    assert live.area.evaluate("(e) => e.selectionStart") == caret
    expect_bars(live, caret)


@pytest.mark.usefixtures("anew")
def test_long_paste_is_cut_and_undone(live: Live) -> None:
    text = "🐒 eyes shone. " * 640
    twice, at = text + text, len(text) + 10
    live.page.get_by_role("button", name="One word", exact=True).click()
    live.reads("machine")
    live.write(text)
    live.press("Control+a", "Control+c", "Control+Home", "Control+v")
    live.reads(twice)
    live.press(*10 * ["ArrowRight"], "Control+v")
    # What stood there stays, as where a field is full: of what was pasted comes what there is room for.
    full = twice[:at] + text[: MAX_TEXT_CHARS - len(twice)] + twice[at:]
    live.reads(full)
    expect(live.page.get_by_role("link", name="Perplexity page")).to_be_visible()
    assert live.number("characters") == "20,000"
    assert live.number("perplexity") == perplexity(full)
    assert live.page.locator(".rv-editor *").count() < 20  # not an element for every character
    live.press("Control+a", "Control+x")
    live.reads("")
    for before in (full, twice, text, "machine", OPENING):  # an example takes the text's place as one step
        live.press("Control+z")
        live.reads(before)
    expect(live.page.locator(".rv-limit")).to_be_hidden()
    for after in ("machine", text, twice, full):
        live.press("Control+Shift+z")
        live.reads(after)


def test_full_field_takes_no_key(live: Live) -> None:
    text = (SENTENCE * 600)[: MAX_TEXT_CHARS - 1]
    live.write(text)
    live.press("Control+Home", "a", "b")
    live.reads("a" + text)
    expect(live.page.locator(".rv-limit")).to_contain_text("20,000")
    assert live.area.evaluate("(e) => e.selectionStart") == 1
    live.press("Control+z")
    live.reads(text)
    expect(live.page.locator(".rv-limit")).to_be_hidden()


def test_escape_unpins_from_any_focus(live: Live) -> None:
    pinned = live.page.locator(".rv-pinned")
    live.open_more()
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
        live.press("Escape")
        expect(pinned).to_be_hidden()


def test_escape_closing_menu_keeps_pin(live: Live) -> None:
    page, pinned = live.page, live.page.locator(".rv-pinned")
    page.mouse.click(*live.column(2.5 / 24))
    for opens, opened in (
        (page.get_by_test_id("stSidebar").get_by_role("combobox"), page.get_by_role("option").first),
        (page.get_by_test_id("stMainMenu").get_by_role("button"), page.get_by_test_id("stMainMenuPopover")),
    ):
        opens.click()
        expect(opened).to_be_visible()
        live.press("Escape")
        expect(opened).to_be_hidden()
        expect(pinned).to_be_visible()
    live.press("Escape")
    expect(pinned).to_be_hidden()


CARET = [
    (["End"], 18),
    (9 * ["ArrowLeft"], 9),
    (["End", *3 * ["Shift+ArrowLeft"]], 15),  # of a selection, the end that moves
    (3 * ["Shift+ArrowRight"], 18),
]


def test_bars_and_entropy_follow_caret(live: Live) -> None:
    nats = rnnviz.trace(MODEL, OPENING).entropy
    for keys, t in CARET:
        live.press(*keys)
        expect_bars(live, t)
        expect(live.page.get_by_test_id("rnnviz-entropy")).to_have_text(f"{nats[t] / np.log(2):.2f}")
    expect(live.page.locator(".rv-next-foot")).to_be_empty()  # it stands among the numbers
    for _ in range(2):  # held, it repeats
        live.page.keyboard.down("ArrowLeft")
    expect_bars(live, 16)
    live.page.keyboard.up("ArrowLeft")
    live.caret(9)
    expect(live.page.locator(".rv-next-before")).to_have_text("…he·Time·")
    expect(live.page.locator(".rv-next-list .rv-actual .rv-symbol")).to_have_text("T")


def test_window_follows_caret_or_slider(live: Live) -> None:
    live.write(SENTENCE * 20)
    page, where, first, last = live.page, live.page.locator(".rv-where"), "characters 1 to", "to 680 of"
    steps: list[tuple[Callable[[], None], str, int | None]] = [
        (lambda: live.press("Control+Home"), first, 0),
        (lambda: live.press("Control+End"), last, 680),
        (lambda: page.locator(".rv-range").fill("0"), first, None),
        (lambda: live.area.focus(), first, None),
        (lambda: live.press("ArrowLeft"), last, 679),
        (lambda: page.locator(".rv-range").fill("0"), first, None),
        (lambda: page.get_by_role("button", name="follow the caret").click(), last, 679),
    ]
    for step, place, t in steps:
        step()
        expect(where).to_contain_text(place)
        if t is not None:
            expect_bars(live, t)
    page.locator(".rv-range").fill("0")
    expect(where).to_contain_text(first)
    page.mouse.move(*live.column(0.002))
    expect(live.readout).to_contain_text("character 1 ·")


def test_caret_overrides_resting_pointer(live: Live) -> None:
    live.page.mouse.move(*live.column(2.5 / 24))
    expect(live.readout).to_contain_text("character 3")
    live.area.press("End")
    live.press("ArrowLeft")
    expect(live.readout).to_be_empty()
    expect_bars(live, 17)
    live.press("e")
    live.reads("The Time Travelleer")
    expect_bars(live, 18)
    live.page.mouse.move(*live.column(4.5 / 24))
    expect(live.readout).to_contain_text("character 5")

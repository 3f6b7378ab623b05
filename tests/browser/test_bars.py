"""Explore's bars are touched: they write, they are reshaped, and the network writes on by them."""

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import rnnviz
from rnnviz.figures import live as figures
from rnnviz.ui.pages.explore.session import SHORT
from tests.browser.conftest import Live
from tests.browser.driving import make_anew
from tests.browser.test_explore import MODEL
from tests.browser.test_explore_text import SENTENCE, expect_bars

OPENING = "The Time Traveller"


def best(text: str, t: int, n: int = 0) -> str:
    """The character of bar n after t characters of a text."""
    return rnnviz.trace(MODEL, text).top(t, n + 1)[n][0]


def bar(live: Live, n: int) -> Locator:
    """The button of bar n."""
    return live.page.locator(".rv-next-list li").nth(n).get_by_role("button")


def set_dial(live: Live, name: str, value: int) -> None:
    """Move one of the three sliders."""
    live.more()
    live.page.get_by_role("slider", name=name).fill(str(value))


def expect_reshaped(live: Live, t: int, **shape: float) -> None:
    """Wait until the bars show what `rnnviz.reshaped` makes of the prediction, inside its outline."""
    trace = rnnviz.trace(MODEL, live.text)
    P = rnnviz.reshaped(trace.log_probs[t], **shape)
    for i, (symbol, p) in enumerate(trace.top(t, 3)):
        row = live.page.locator(".rv-next-list li").nth(i)
        new = 0 if symbol == "<unk>" else P[MODEL.vocabulary.encode(symbol)[0]]
        shown = f"{new:.1%}" if 0 < new < 1 else f"{new:.0%}"
        expect(row.locator(".rv-chance")).to_have_text(
            re.compile(shown.replace("%", r"\s%").replace(".", r"\."))
        )
        expect(row.locator(".rv-outline")).to_be_visible()
        width = row.locator(".rv-outline").evaluate("(e) => parseFloat(e.style.width) / 100")
        assert width == pytest.approx(p, abs=1e-4)


@pytest.mark.usefixtures("anew")
def test_a_click_writes_the_character_at_the_caret(live: Live) -> None:
    expect_bars(live, 18)
    live.page.keyboard.press("Home")
    for _ in range(3):
        live.page.keyboard.press("ArrowRight")
    expect_bars(live, 3)
    written = best(OPENING, 3, 1)
    bar(live, 1).click()
    live.painted(19)
    assert live.text == "The" + written + " Time Traveller"
    assert live.area.evaluate("(e) => e.selectionStart") == 4
    expect_bars(live, 4)
    live.page.keyboard.press("Control+z")  # the focus never left the text
    live.painted(18)
    assert live.text == OPENING


def test_alt_and_a_number_write_and_plain_numbers_are_text(live: Live) -> None:
    expect_bars(live, 18)
    third = best(OPENING, 18, 2)
    live.page.keyboard.press("Alt+Digit3")
    live.painted(19)
    assert live.text == OPENING + third
    live.page.keyboard.type("3")
    live.painted(20)
    assert live.text == OPENING + third + "3"


def test_numbers_and_arrows_while_the_bars_have_the_focus(live: Live) -> None:
    expect_bars(live, 18)
    bar(live, 0).focus()
    live.page.keyboard.press("ArrowDown")
    expect(bar(live, 1)).to_be_focused()
    text = OPENING
    text += best(text, len(text), 1)
    live.page.keyboard.press("Enter")
    live.painted(19)
    text += best(text, len(text), 4)
    live.page.keyboard.press("5")
    live.painted(20)
    assert live.text == text
    expect(bar(live, 1)).to_be_focused()
    expect(live.page.locator(".rv-said")).to_have_text(re.compile("^wrote "))


def test_a_bar_of_a_kept_column_writes_there(live: Live) -> None:
    live.page.mouse.click(*live.column(2.5 / 24))
    expect_bars(live, 2)
    written = best(OPENING, 2)
    bar(live, 0).click()
    live.painted(19)
    assert live.text == "Th" + written + "e Time Traveller"
    expect(live.page.locator(".rv-pinned")).to_be_hidden()
    expect_bars(live, 3)


def test_in_a_long_text_the_bars_are_the_carets_also_before_its_window(live: Live) -> None:
    live.write(SENTENCE * 20)
    live.page.keyboard.press("Control+Home")
    expect_bars(live, 0)
    written = best(live.text, 0)
    bar(live, 0).click()
    live.painted(681)
    assert live.text == written + SENTENCE * 20
    expect_bars(live, 1)


def test_a_space_has_a_name_and_what_cannot_be_written_no_button(live: Live) -> None:
    expect_bars(live, 18)
    stop = [best(OPENING, 18, n) for n in range(figures.NEXT)].index(".")
    expect(bar(live, stop)).to_have_accessible_name(re.compile(r"^write full stop, [\d.]+.%$"))
    live.page.keyboard.press("Home")
    for _ in range(3):
        live.page.keyboard.press("ArrowRight")
    came = live.page.locator(".rv-came").get_by_role("button")
    expect(came).to_have_accessible_name(re.compile(r"^write space, [\d.]+.%$"))
    others = live.page.locator(".rv-rest")
    expect(others.get_by_role("button")).to_have_count(0)
    expect(others).to_have_accessible_name(re.compile("^others, "))


def test_the_dials_reshape_the_bars_and_leave_an_outline(live: Live) -> None:
    expect_bars(live, 18)
    outline = live.page.locator(".rv-outline").first
    expect(outline).to_be_hidden()
    set_dial(live, "temperature", 4)
    expect_reshaped(live, 18, temperature=0.4)
    set_dial(live, "top-k", 4)  # the fifth of the counts
    expect_reshaped(live, 18, temperature=0.4, top_k=5)
    expect(live.page.locator(".rv-next-foot")).to_have_text("5 left to draw from")
    set_dial(live, "top-p", 10)
    expect_reshaped(live, 18, temperature=0.4, top_k=5, top_p=0.5)
    live.area.press("End")
    live.page.keyboard.type(" was")
    live.painted(22)
    expect_reshaped(live, 22, temperature=0.4, top_k=5, top_p=0.5)
    live.page.mouse.move(*live.column(4.5 / 24))
    expect_reshaped(live, 4, temperature=0.4, top_k=5, top_p=0.5)
    live.page.mouse.move(5, 5)
    live.page.get_by_role("button", name="reset").click()
    expect_bars(live, 22)
    expect(outline).to_be_hidden()


@pytest.mark.usefixtures("anew")
def test_continue_writes_the_likeliest_at_the_caret_in_its_own_colour_as_one_step(
    live: Live,
) -> None:
    set_dial(live, "temperature", 0)
    expect_reshaped(live, 18, temperature=0)
    live.area.press("Home")
    for _ in range(4):
        live.page.keyboard.press("ArrowRight")
    live.page.get_by_role("button", name="Continue").focus()
    live.page.keyboard.press("Enter")
    live.painted(138)
    written = rnnviz.sample(MODEL, "The ", 120, temperature=0)
    assert live.text == "The " + written + "Time Traveller"
    under = """(canvas, t) => {
        const mirror = canvas.parentElement.querySelector(".rv-mirror");
        const range = document.createRange();
        range.setStart(mirror.firstChild, t);
        range.setEnd(mirror.firstChild, t + 1);
        const [box, at] = [range.getBoundingClientRect(), canvas.getBoundingClientRect()];
        const pixel = canvas.getContext("2d").getImageData(box.x - at.x + 3, box.bottom - at.y - 2, 1, 1);
        return [...pixel.data];
    }"""
    colours = [live.page.locator(".rv-tint").evaluate(under, t) for t in (2, 4, 10, 126)]
    assert colours[1] == colours[2] == [11, 106, 136, 255]  # the network's, figures/themes.py
    assert colours[0] != colours[1] != colours[3]
    expect(live.page.get_by_text("written by this small network")).to_be_visible()
    live.page.keyboard.press("Control+z")  # while the button has the focus
    live.painted(18)
    assert live.text == OPENING
    live.area.focus()
    live.page.keyboard.press("Control+y")
    live.painted(138)
    assert live.text == "The " + written + "Time Traveller"


@pytest.mark.usefixtures("anew")
def test_three_ways_side_by_side_and_one_is_taken(live: Live) -> None:
    branch = live.page.get_by_role("button", name="Show 3 continuations")
    branch.click()
    ways = live.page.locator(".rv-way bdi")
    expect(ways).to_have_count(3)
    texts = ways.all_text_contents()
    assert len(set(texts)) == 3
    assert {len(text) for text in texts} == {SHORT}
    assert live.text == OPENING  # nothing is written yet
    ways.nth(1).click()
    live.painted(18 + SHORT)
    assert live.text == OPENING + texts[1]
    expect(ways.first).to_be_hidden()
    live.page.keyboard.press("Control+z")
    live.painted(18)


def test_three_ways_with_the_keyboard(live: Live) -> None:
    branch = live.page.get_by_role("button", name="Show 3 continuations")
    ways = live.page.locator(".rv-way")
    branch.focus()
    live.page.keyboard.press("Enter")
    expect(ways.first).to_be_focused()
    live.page.keyboard.press("Escape")
    expect(ways.first).to_be_hidden()
    expect(branch).to_be_focused()
    live.page.keyboard.press("Enter")
    expect(ways.first).to_be_focused()
    third = live.page.locator(".rv-way bdi").nth(2).inner_text()
    live.page.keyboard.press("3")
    live.painted(18 + SHORT)
    assert live.text == OPENING + third
    expect(live.area).to_be_focused()
    live.page.keyboard.type("!")
    live.painted(19 + SHORT)
    assert live.text == OPENING + third + "!"


def test_typing_closes_what_was_offered(live: Live) -> None:
    live.page.get_by_role("button", name="Show 3 continuations").click()
    expect(live.page.locator(".rv-ways")).to_be_visible()
    live.page.keyboard.type("x")
    expect(live.page.locator(".rv-ways")).to_be_hidden()
    live.painted(19)
    assert live.text == OPENING + "x"


@pytest.mark.usefixtures("anew")
def test_fifteen_thousand_characters_are_undone(live: Live) -> None:
    live.area.press("End")
    text = (SENTENCE * 600)[:15_000]
    live.write(text)
    live.page.keyboard.press("Control+a")
    live.page.keyboard.press("Control+x")
    live.painted(0)
    live.page.keyboard.press("Control+v")
    live.painted(15_000)
    for length in (0, 15_000, 18):
        live.page.keyboard.press("Control+z")
        live.painted(length)
    assert live.text == OPENING


@pytest.mark.usefixtures("anew")
def test_words_are_undone_one_by_one(live: Live) -> None:
    live.area.press("End")
    live.page.keyboard.type(" was here")
    live.painted(27)
    for text in (OPENING + " was ", OPENING + " ", OPENING):
        live.page.keyboard.press("Control+z")
        live.painted(len(text))
        assert live.text == text
    live.page.keyboard.press("Control+Shift+z")
    live.painted(19)


@pytest.mark.usefixtures("anew")
def test_a_view_made_anew_keeps_its_pin_its_dials_and_what_can_be_undone(live: Live) -> None:
    live.area.press("End")
    live.page.keyboard.type("s")
    live.painted(19)
    set_dial(live, "temperature", 4)
    live.page.mouse.click(*live.column(2.5 / 24, "perplexity"))
    expect(live.page.locator(".rv-pinned")).to_be_visible()
    make_anew(live.root)
    expect(live.root).to_have_attribute("data-theme", "dark")
    live.painted(19)
    expect(live.page.locator(".rv-pinned")).to_be_visible()
    expect(live.page.locator(".rv-scrub")).to_have_class(re.compile("rv-idle"))  # every column is there
    expect_reshaped(live, 2, temperature=0.4)
    live.area.focus()
    live.page.keyboard.press("Control+z")
    live.painted(18)
    assert live.text == OPENING


def test_the_entropy_is_that_of_the_untouched_bars(live: Live) -> None:
    """At the caret among the numbers, elsewhere below the bars."""
    bits = [f"{nats / np.log(2):.2f}" for nats in rnnviz.trace(MODEL, OPENING).entropy]
    foot = live.page.locator(".rv-next-foot")
    expect(foot).to_be_empty()
    assert live.number("entropy") == bits[18]
    live.page.mouse.move(*live.column(4.5 / 24))
    expect(foot).to_have_text(f"undecided: {bits[4]} bits")

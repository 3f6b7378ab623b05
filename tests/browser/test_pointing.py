"""Pointing and clicking in the live view: the cursor that text and pictures share, and a chosen unit."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import rnnviz
from rnnviz.scoring.occlusion import occlusion_bits
from rnnviz.text.characters import visible
from tests.browser.conftest import Live
from tests.support.driving import box_of, until, until_changed
from tests.support.explore_page import MODEL, expect_bars


def test_hovered_column_frames_character_and_shows_prediction(live: Live) -> None:
    expect(live.readout).to_be_empty()
    notice = live.page.get_by_text("Each row is one number")
    expect(notice).to_be_visible()
    live.page.mouse.move(*live.column(4.5 / 24))  # short texts are drawn in 24 columns
    trace = rnnviz.trace(MODEL, live.text)
    bits = trace.nll[4] / np.log(2)
    expect(live.readout).to_contain_text(
        re.compile(rf"character 5 · unit \d+: .* · “T”: surprisal {bits:.2f} bits")
    )
    expect(notice).to_be_hidden()
    expect_bars(live, 4)
    expect(live.page.locator(".rv-next-foot")).to_have_text(
        f"unsure: {trace.entropy[4] / np.log(2):.2f} bits"
    )
    framed(live, "point", 4)
    expect(live.page.locator(".rv-next-head")).to_contain_text("Expected after The·")
    live.page.mouse.move(5, 5)
    expect(live.page.locator(".rv-point")).to_be_hidden()
    expect(live.page.locator(".rv-next-head")).to_contain_text("Next character")


def test_hovered_character_lights_column(live: Live) -> None:
    live.page.mouse.move(*middle(live, 6))
    expect(live.readout).to_contain_text("character 7 ·")
    cursor = box_of(live.page.locator(".rv-cursor"))
    x, _ = live.column(6.5 / 24)
    assert cursor["x"] - 1 <= x <= cursor["x"] + cursor["width"] + 1


def test_clicked_row_colours_text_by_its_unit(live: Live) -> None:
    page, by_surprisal = live.page, colours(live)
    live.open_more()
    expect(page.locator(".rv-zoom")).to_be_hidden()  # a dozen units need no magnifying
    page.locator(".rv-order").select_option("index")
    live.open_more(opened=False)
    expect(page.locator(".rv-scale span:not(.rv-power)")).to_have_text(list(map(str, range(12))))
    page.mouse.click(*live.column(2.5 / 24))
    expect(live.colour).to_have_text(re.compile(r"^unit \d+$"))
    unit = int(live.colour.inner_text().split()[1])
    assert unit in (5, 6)  # the middle of twelve rows
    mark, heat = box_of(page.locator(".rv-row")), box_of(page.locator(".rv-heat"))
    assert abs(mark["y"] + mark["height"] / 2 - heat["y"] - heat["height"] * (unit + 0.5) / 12) < 3
    page.mouse.move(*live.column(9.5 / 24, "perplexity"))
    expect(live.readout).to_contain_text(f"character 10 · unit {unit}: ")
    until_changed(page.locator(".rv-tint"), PAINTED, by_surprisal)
    page.get_by_role("button", name="Surprise").click()
    expect(page.locator(".rv-row")).to_be_hidden()
    coloured(live, by_surprisal)


def rests(live: Live, t: int) -> str:
    """What the caption must say of what character t rests on most."""
    bits = occlusion_bits(rnnviz.trace(MODEL, live.text), t)
    best = int(bits.argmax())
    likeliest = visible(live.text[t - len(bits) + best])
    most = rf"“{re.escape(likeliest)}” most of all \({bits[best]:.2f} bits\)"
    return rf"Why “{visible(live.text[t])}”\? .*{most}"


def test_clicked_letter_is_explained_until_next_key(live: Live) -> None:
    caption, ask = live.page.locator(".rv-caption"), live.page.get_by_role("button", name="Why this letter?")
    plain, before = colours(live), caption.inner_text()
    for t in (9, 12):
        live.page.mouse.click(*middle(live, t))
        expect(caption).to_have_text(re.compile(rests(live, t)))
        framed(live, "pin", t)
    expect(ask).to_have_attribute("aria-pressed", "true")
    until_changed(live.page.locator(".rv-tint"), PAINTED, plain)
    live.page.mouse.move(*middle(live, 11))
    bits = f"{occlusion_bits(rnnviz.trace(MODEL, live.text), 12)[11]:.2f}".replace("-", "−")
    expect(live.readout).to_have_text(
        f"character 12 · without “{live.text[11]}”, “{live.text[12]}” costs {bits} bits more"
    )
    live.press("End", "s")
    live.painted(19)
    expect(caption).to_have_text(before)
    expect(live.page.locator(".rv-pinned")).to_be_hidden()
    expect(live.page.locator(".rv-next-head")).to_contain_text("Next character")


def test_why_button_explains_letter_before_caret(live: Live) -> None:
    caption, ask = live.page.locator(".rv-caption"), live.page.get_by_role("button", name="Why this letter?")
    plain, before = colours(live), caption.inner_text()
    live.caret(5)
    ask.press("Enter")
    expect(caption).to_have_text(re.compile(rests(live, 4)))
    live.press("Escape")
    expect(caption).to_have_text(before)
    expect(ask).to_have_attribute("aria-pressed", "false")
    coloured(live, plain)
    live.page.mouse.click(*middle(live, 0))
    expect(caption).to_have_text("Why “T”? Nothing comes before it.")
    live.page.get_by_role("button", name="Surprise").click()
    expect(caption).to_have_text(before)


def test_drag_selects_and_explains_nothing(live: Live) -> None:
    live.page.mouse.move(*middle(live, 2))
    live.page.mouse.down()
    live.page.mouse.move(*middle(live, 8))
    live.page.mouse.up()
    assert live.area.evaluate("(area) => area.selectionEnd - area.selectionStart") > 3
    expect(live.page.get_by_role("button", name="Why this letter?")).to_have_attribute(
        "aria-pressed", "false"
    )


MIDDLE = """(mirror, t) => {
    const range = document.createRange();
    range.setStart(mirror.firstChild, t);
    range.setEnd(mirror.firstChild, t + 1);
    const box = range.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
}"""


def middle(live: Live, t: int) -> tuple[float, float]:
    """Where character t of the text stands on the screen (as long as all have one UTF-16 unit)."""
    x, y = live.page.locator(".rv-mirror").evaluate(MIDDLE, t)
    return x, y


AROUND = """(mark, [x, y]) => {
    const { left, right, top, bottom, width } = mark.getBoundingClientRect();
    return width < 20 && left < x && x < right && top < y && y < bottom;
}"""
PAINTED = "(canvas) => canvas.toDataURL()"


def framed(live: Live, kind: str, t: int) -> None:
    """Wait until the frame of a kind stands around character t, and no other."""
    expect(live.page.locator(f".rv-{kind}")).to_be_visible()
    until(live.page.locator(f".rv-{kind}"), AROUND, bool, middle(live, t))


def colours(live: Live) -> str:
    """All colours behind the text."""
    return str(live.page.locator(".rv-tint").evaluate(PAINTED))


def coloured(live: Live, colours: str) -> None:
    """Wait until all colours behind the text are these: they are painted with the next frame."""
    until(live.page.locator(".rv-tint"), PAINTED, lambda painted: painted == colours)


def test_colour_stands_behind_its_character(live: Live) -> None:
    live.write("e" * 300 + "Q" + "e" * 300)  # wraps; what nobody expects is in the middle
    live.area.evaluate("(area) => { area.scrollTop = 40 }")
    x, y = middle(live, 300)
    scrolled = live.area.evaluate("(area) => area.scrollTop")
    live.page.wait_for_function(  # it is painted with the next frame
        """([canvas, x, y]) => {
          const box = canvas.getBoundingClientRect();
          const pen = canvas.getContext('2d');
          const at = (dx) => String(pen.getImageData(x + dx - box.left, y - box.top, 1, 1).data);
          return at(0) !== at(-12) && at(0) !== at(12);
        }""",
        arg=[live.page.locator(".rv-tint").element_handle(), x, y - scrolled],
    )


REMEASURED = """async (area) => {
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const canvas = area.parentElement.querySelector(".rv-tint");
  await frames();
  const kept = canvas.toDataURL();
  area.style.width = "90%";  // of another width, every box is asked for again
  await frames();
  area.style.width = "";
  await frames();
  return kept === canvas.toDataURL();
}"""


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("the time machine " * 12, ["x", "y", " ", "z", "Backspace", "Backspace", "Backspace"]),
        ("one " + "w" * 400, ["Backspace", "Space", "w", "Home", "w", "Delete", "Space"]),
        ("to be " * 60, ["ArrowUp", "l", "o", "n", "g", "e", "r", "Enter", "Backspace", "Delete"]),
        ("x \u05d0\u05d1 1", ["2", "3", "\u05d2", "4", "Backspace", "a"]),  # Hebrew, with numbers in it
        ("\u6642\u9593\u6a5f\u5668\u3002" * 40, ["\u3002", "\uff09", "\U0001d49e", "Backspace", "a"]),
    ],
)
def test_colours_after_keys_equal_remeasured_ones(live: Live, text: str, keys: list[str]) -> None:
    live.write(text)
    for key in keys:
        if len(key) > 1 or key.isascii():
            live.page.keyboard.press(key)
        else:
            live.page.keyboard.insert_text(key)
        live.painted(len(live.text))
        assert live.area.evaluate(REMEASURED), key

"""Explore's bars are touched: they write, they are reshaped, and the network writes on by them."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

import rnnviz
from rnnviz.figures import live as figures
from rnnviz.text.characters import visible
from tests.browser.conftest import Live
from tests.support.driving import make_anew, until
from tests.support.explore_page import MODEL, OPENING, branch_out, expect_bars, expect_tree


def best(text: str, t: int, n: int = 0) -> str:
    """The character of bar n after t characters of a text."""
    return rnnviz.trace(MODEL, text).top(t, n + 1)[n][0]


def bar(live: Live, n: int) -> Locator:
    """The button of bar n."""
    return live.page.locator(".rv-next-list li").nth(n).get_by_role("button")


def set_dial(live: Live, name: str, value: int) -> None:
    """Move one of the three sliders."""
    live.open_more()
    live.page.get_by_role("slider", name=name).fill(str(value))


def expect_reshaped(live: Live, t: int, **shape: float) -> None:
    """Wait until the bars show what `sampling_distribution` makes of the prediction, inside its outline."""
    trace = rnnviz.trace(MODEL, live.text)
    P = rnnviz.sampling_distribution(trace.log_probs[t], **shape)
    for i, (symbol, p) in enumerate(trace.top(t, 3)):
        row = live.page.locator(".rv-next-list li").nth(i)
        new = 0 if symbol == "<unk>" else P[MODEL.vocabulary.encode(symbol)[0]]
        percent = f"{new:.1%}" if 0 < new < 1 else f"{new:.0%}"
        expect(row.locator(".rv-chance")).to_have_text(
            re.compile(percent.replace("%", r"\s%").replace(".", r"\."))
        )
        expect(row.locator(".rv-outline")).to_be_visible()
        width = row.locator(".rv-outline").evaluate("(e) => parseFloat(e.style.width) / 100")
        assert width == pytest.approx(p, abs=1e-4)


# Characters before the caret, the bar that is taken, the bar that keeps the focus, and how it is taken.
WRITING: dict[str, tuple[int, int, int | None, Callable[[Live], object]]] = {
    "a click": (3, 1, None, lambda live: bar(live, 1).click()),
    "Alt and a number": (18, 2, None, lambda live: live.press("Alt+Digit3")),
    "a number": (9, 4, 0, lambda live: bar(live, 0).press("5")),
    "an arrow and Enter": (9, 1, 1, lambda live: [bar(live, 0).press("ArrowDown"), live.press("Enter")]),
}


@pytest.mark.parametrize("way", WRITING)
def test_bar_writes_character_at_caret(live: Live, way: str) -> None:
    t, n, focus, take_bar = WRITING[way]
    live.caret(t)
    expect_bars(live, t)
    take_bar(live)
    live.reads(OPENING[:t] + best(OPENING, t, n) + OPENING[t:])
    assert live.area.evaluate("(e) => e.selectionStart") == t + 1
    expect_bars(live, t + 1)
    expect(live.area if focus is None else bar(live, focus)).to_be_focused()
    expect(live.page.locator(".rv-said")).to_have_text(re.compile("^" if focus is None else "^wrote "))
    live.press("Control+z")
    live.reads(OPENING)


def test_bar_of_pinned_column_writes_there(live: Live) -> None:
    live.page.mouse.click(*live.column(2.5 / 24))
    expect_bars(live, 2)
    bar(live, 0).click()
    live.reads("Th" + best(OPENING, 2) + "e Time Traveller")
    expect(live.page.locator(".rv-pinned")).to_be_hidden()
    expect_bars(live, 3)


def test_bar_names_space_and_rest_has_no_button(live: Live) -> None:
    live.caret(7)
    expect_bars(live, 7)
    bracket = [best(OPENING, 7, n) for n in range(figures.LISTED_NEXT)].index("(")
    expect(bar(live, bracket)).to_have_accessible_name(re.compile(r"^write opening bracket, [\d.]+.%$"))
    live.caret(3)
    actual = live.page.locator(".rv-actual").get_by_role("button")
    expect(actual).to_have_accessible_name(re.compile(r"^write space, [\d.]+.%$"))
    rest_row = live.page.locator(".rv-rest")
    expect(rest_row.get_by_role("button")).to_have_count(0)
    expect(rest_row).to_have_accessible_name(re.compile("^others, "))


def test_sampling_sliders_reshape_bars_with_outline(live: Live) -> None:
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
    live.press(*" was")
    live.reads(f"{OPENING} was")
    expect_reshaped(live, 22, temperature=0.4, top_k=5, top_p=0.5)
    live.page.mouse.move(*live.column(4.5 / 24))
    expect_reshaped(live, 4, temperature=0.4, top_k=5, top_p=0.5)
    live.page.mouse.move(5, 5)
    live.page.get_by_role("button", name="reset").click()
    expect_bars(live, 22)
    expect(outline).to_be_hidden()


UNDER = """(canvas, t) => {
    const mirror = canvas.parentElement.querySelector(".rv-mirror");
    const range = document.createRange();
    range.setStart(mirror.firstChild, t);
    range.setEnd(mirror.firstChild, t + 1);
    const [box, at] = [range.getBoundingClientRect(), canvas.getBoundingClientRect()];
    const scrolled = canvas.parentElement.querySelector("textarea").scrollTop; // the mirror doesn't scroll
    const y = box.bottom - at.y - scrolled - 2;
    const pixel = canvas.getContext("2d").getImageData(box.x - at.x + 3, y, 1, 1);
    return [...pixel.data];
}"""


@pytest.mark.usefixtures("anew")
def test_continue_writes_coloured_text_as_one_undo_step(live: Live) -> None:
    set_dial(live, "temperature", 0)
    expect_reshaped(live, 18, temperature=0)
    live.caret(4)
    live.page.get_by_role("button", name="Continue").press("Enter")
    text = "The " + rnnviz.sample(MODEL, "The ", 120, temperature=0) + "Time Traveller"
    live.reads(text)
    tint, network = live.page.locator(".rv-tint"), "11,106,136,255"  # figures/themes.py
    wait = (
        f"([tint, t, own, network]) => {{ const pixel = `${{({UNDER})(tint, t)}}`; "
        "return own ? !/,0$/.test(pixel) && pixel !== network : pixel === network; }"
    )
    for top, reader_place, written in ((0, 2, 5), (10_000, 126, 120)):
        live.area.evaluate("(area, top) => { area.scrollTop = top; }", top)
        for t in (reader_place, written):
            live.page.wait_for_function(wait, arg=[tint.element_handle(), t, t == reader_place, network])
    expect(live.page.get_by_text("written by this small network")).to_be_visible()
    live.press("Control+z")  # while the button has the focus
    live.reads(OPENING)
    live.area.press("Control+y")
    live.reads(text)


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize("model", ["names-lstm"])
def test_continue_says_that_the_network_ended_the_text(live: Live) -> None:
    live.write("Elizabeth")
    set_dial(live, "temperature", 0)
    said = live.page.get_by_text("The network ended the text there")
    live.caret(0)
    live.page.get_by_role("button", name="Continue").click()
    live.reads(rnnviz.sample(rnnviz.load("names-lstm"), "", 40, temperature=0) + "Elizabeth")
    expect(said).to_be_hidden()
    live.write("Elizabeth")
    live.page.get_by_role("button", name="Continue").click()
    expect(said).to_be_visible()
    live.reads("Elizabeth")
    live.press("!")
    expect(said).to_be_hidden()


@pytest.mark.usefixtures("anew")
def test_tree_shows_what_could_follow_and_writes_it(live: Live) -> None:
    branch_out(live)


@pytest.mark.usefixtures("anew")
def test_tree_begins_at_caret_and_follows_sliders(live: Live) -> None:
    live.caret(4)
    live.page.get_by_role("button", name="Show what could follow").click()
    expect_tree(live, 4)
    set_dial(live, "top-k", 1)  # the second of the counts
    expect_tree(live, 4, top_k=2)
    set_dial(live, "temperature", 0)
    text, first = next(iter(expect_tree(live, 4, temperature=0, top_k=2).items()))
    first.click()
    live.reads("The " + text + "Time Traveller")
    expect_tree(live, 5, 1, temperature=0, top_k=2)
    live.area.press("ArrowRight")  # the caret alone
    expect_tree(live, 6, temperature=0, top_k=2)
    live.area.press("Escape")


@pytest.mark.usefixtures("anew")
def test_tree_is_walked_by_keys(live: Live) -> None:
    opener = live.page.get_by_role("button", name="Show what could follow")
    opener.press("Enter")
    tree = expect_tree(live, 18)
    first, second, *_ = tree
    expect(tree[first]).to_be_focused()
    live.press("ArrowDown", "ArrowUp", "ArrowLeft")  # nothing stands before the first
    expect(tree[first]).to_be_focused()
    live.press("ArrowDown")
    expect(tree[second]).to_be_focused()
    live.press("ArrowRight")
    after = next(way for way in tree if way[0] == second and len(way) == 2)
    expect(tree[after]).to_be_focused()
    name = "".join(map(visible, after))
    expect(tree[after]).to_have_accessible_name(
        re.compile(rf"^{re.escape(name[1])} [\d.]+ %: write {re.escape(name)}$")
    )
    live.press("Enter")
    live.reads(OPENING + after)
    expect(expect_tree(live, 20, 2)[after]).to_be_focused()
    live.press("ArrowLeft", "Enter")  # back by one
    live.reads(OPENING + second)
    live.press("Escape")
    expect(live.page.locator(".rv-step button").first).to_be_hidden()
    expect(opener).to_be_focused()


@pytest.mark.usefixtures("anew")
def test_remounted_view_keeps_tree(live: Live) -> None:
    live.page.get_by_role("button", name="Show what could follow").click()
    expect_tree(live, 18)
    make_anew(live.root)
    expect(live.root).to_have_attribute("data-theme", "dark")
    expect_tree(live, 18)


CORNER = "(c) => [...c.getContext('2d').getImageData(c.width - 2, 2, 1, 1).data].slice(0, 3)"


@pytest.mark.usefixtures("anew")
def test_remounted_view_keeps_pin_sliders_and_undo(live: Live) -> None:
    live.area.press("End")
    live.press(*" was here")
    live.reads(f"{OPENING} was here")
    set_dial(live, "temperature", 4)
    live.page.mouse.click(*live.column(2.5 / 32, "perplexity"))
    expect(live.page.locator(".rv-pinned")).to_be_visible()
    make_anew(live.root)
    expect(live.root).to_have_attribute("data-theme", "dark")
    # The empty part of the heat map is the page's own dark.
    until(live.page.locator(".rv-heat"), CORNER, lambda corner: max(corner) < 64)
    live.reads(f"{OPENING} was here")
    expect(live.page.locator(".rv-pinned")).to_be_visible()
    expect(live.page.locator(".rv-scrub")).to_have_class(re.compile("rv-idle"))  # every column is there
    expect_reshaped(live, 2, temperature=0.4)
    live.area.focus()
    live.press("Control+z")
    live.reads(f"{OPENING} was ")

"""The model and the opening text of Explore's tests in a browser, and what the page must show of them."""

from playwright.sync_api import Locator, expect

import rnnviz
from rnnviz.scoring.sampling import SamplingSettings, branches
from rnnviz.text.characters import visible
from rnnviz.text.vocabulary import UNKNOWN_ID
from tests.browser.conftest import Live
from tests.support.driving import until
from tests.support.models import tiny, tiny_card

MODEL = tiny("gru", card=tiny_card())
OPENING = "The Time Traveller"


def perplexity(text: str) -> str:
    """The perplexity that the page must show."""
    if not text:
        return "–"
    value = float(rnnviz.trace(MODEL, text).perplexity[-1])
    return f"{value:,.0f}" if value >= 10_000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"


def expect_bars(live: Live, t: int) -> None:
    """Wait until the bars tell what comes after t characters of the text that is there."""
    rows = live.page.locator(".rv-next-list li")
    for row, (symbol, p) in enumerate(rnnviz.trace(MODEL, live.text).top(t, 2)):
        expect(rows.nth(row).locator(".rv-symbol")).to_have_text(visible(symbol))
        expect(rows.nth(row).locator(".rv-chance")).to_have_text(f"{p:.1%}".replace("%", " %"))


# Of each branch: its words, whether it is struck through, whether it is called never drawn, the width of its
# line, and whether it stands before the caret.
TREE = """(tree) => [...tree.querySelectorAll(".rv-step button")].map((button, n) => [
    button.innerText.replace(/\\s+/gu, " "),
    getComputedStyle(button).textDecorationLine === "line-through",
    button.ariaLabel.includes("never drawn"),
    Number([...tree.querySelectorAll("path")][n].getAttribute("stroke-width")).toFixed(2),
    button.ariaCurrent === "true",
])"""


def expect_tree(live: Live, at: int, past: int = 0, **shape: float) -> dict[str, Locator]:
    """Wait until the tree of what may follow `at` characters stands there, with what this sampling would do.
    Returns the buttons of its branches, by the text that leads to each.
    """
    text = live.text
    tree = branches(rnnviz.trace(MODEL, text), at, past, SamplingSettings(**shape))  # type: ignore[arg-type]
    texts, rows = [""], []
    for branch in tree:
        character = MODEL.vocabulary.symbol(branch.symbol)
        if branch.symbol == UNKNOWN_ID:  # it stands as it was typed
            character = text[at - past + len(texts[branch.parent])]
        texts.append(texts[branch.parent] + character)
        seen, never = f"{visible(character)} {branch.p:.1%}".replace("%", " %"), branch.share == 0
        width = f"{max(1, 14 * branch.share):.2f}"
        rows.append([seen, never, never, width, past > 0 and texts[-1] == text[at - past : at]])
    until(live.page.locator(".rv-tree"), TREE, lambda shown: shown == rows)
    buttons = live.page.locator(".rv-step").get_by_role("button")
    return {text: buttons.nth(n) for n, text in enumerate(texts[1:])}


def branch_out(live: Live) -> None:
    """Open the tree, go along it, back, elsewhere, type on, and close it."""
    text = live.text
    opener = live.page.get_by_role("button", name="Show what could follow")
    live.area.press("Control+End")
    opener.click()
    expect(opener).to_have_attribute("aria-expanded", "true")
    tree = expect_tree(live, len(text))
    deep = next(way for way in tree if len(way) == 3)
    tree[deep].click()
    live.reads(text + deep)
    tree = expect_tree(live, len(text) + 3, 3)
    other = next(way for way in tree if len(way) == 2 and way != deep[:2])
    tree[other].click()
    live.reads(text + other)
    tree = expect_tree(live, len(text) + 2, 2)
    on = next(way for way in tree if len(way) == 3 and way.startswith(other))
    tree[on].click()
    live.reads(text + on)
    for before in (text + other, text + deep, text):  # each click was a step
        live.press("Control+z")
        live.reads(before)
    live.page.keyboard.insert_text("é")  # which the network doesn't know
    live.reads(f"{text}é")
    expect_tree(live, len(text) + 1, 1)
    live.press("Backspace", "Escape")
    live.reads(text)
    expect(live.page.locator(".rv-step button").first).to_be_hidden()
    expect(opener).to_have_attribute("aria-expanded", "false")

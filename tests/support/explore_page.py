"""The model and the opening text of Explore's tests in a browser, and what the page must show of them."""

from playwright.sync_api import expect

import rnnviz
from rnnviz.text.characters import visible
from tests.browser.conftest import Live
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

"""Explore on a projector and beside the network without memory: titles, the pairs' key, and Escape."""

import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import Live
from tests.support.driving import box_of

SCREENS: list[ViewportSize] = [
    {"width": 1024, "height": 768},
    {"width": 1280, "height": 720},
    {"width": 1440, "height": 900},
]
CUT = "(e) => e.scrollWidth > e.clientWidth + 1"
ON = re.compile("present=1")


@pytest.mark.parametrize("size", SCREENS, ids=lambda size: str(size["width"]))
@pytest.mark.parametrize("present", ["", "&present=1"])
def test_titles_are_whole_and_pairs_match_legend(
    page: Page, app_url: str, size: ViewportSize, present: str
) -> None:
    page.set_viewport_size(size)
    Live(page, f"{app_url}/?model=holmes-lstm{present}")
    page.locator(".rv-all").click()  # "8 units that change least often" is longer than "all 384 units"
    page.locator(".rv-memoryless").check(force=True)
    expect(page.locator(".rnnviz.rv-comparing")).to_be_visible()
    for title in page.locator(".rv-title > b").all():
        assert box_of(title)["width"] > 20
        assert not title.evaluate(CUT), title.inner_text()
    legend = page.locator(".rv-legend")
    assert not legend.evaluate(CUT)
    assert box_of(legend)["width"] <= box_of(page.locator(".rv-title-perplexity"))["width"]
    above = box_of(page.locator(".rv-title-perplexity"))
    assert box_of(page.locator(".rv-strip"))["y"] + 18 <= above["y"] + 8
    assert above["y"] + above["height"] <= box_of(page.locator(".rv-lines"))["y"] + 1
    key = page.locator(".rv-beside > :is(span, label)")
    pair = page.locator(".rv-next-list li").first.locator(".rv-chance, .rv-share")
    for places in (key, pair):
        upper, lower = (box_of(places.nth(n)) for n in (0, 1))
        assert upper["y"] < lower["y"]
    colour = "(e) => getComputedStyle(e).color"
    for n in (0, 1):
        assert key.nth(n).evaluate(colour) == pair.nth(n).evaluate(colour)
    assert key.nth(0).evaluate(colour) != key.nth(1).evaluate(colour)


def test_escape_undoes_steps_before_ending_presentation(page: Page, app_url: str) -> None:
    area = Live(page, f"{app_url}/?model=timemachine-gru&present=1").area
    page.locator(".rv-all").click()
    page.locator(".rv-pad").click(position={"x": 400, "y": 90})
    expect(page.locator(".rv-pinned")).to_be_visible()
    area.focus()
    page.keyboard.press("Shift+Home")
    selected = "(e) => e.selectionEnd - e.selectionStart"
    assert area.evaluate(selected) > 0
    page.keyboard.press("Escape")
    assert area.evaluate(selected) == 0
    expect(page.locator(".rv-pinned")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".rv-pinned")).to_be_hidden()
    expect(page.locator(".rv-row")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".rv-row")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator(".rv-all")).to_have_text("all 256 units")
    expect(page).to_have_url(ON)
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(ON)


@pytest.mark.parametrize(
    "address", ["perplexity", "inside?part=memory", "train", "learn?step=back", "learn/"]
)
def test_page_finds_server_at_once(page: Page, app_url: str, address: str) -> None:
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.goto(f"{app_url}/{address}")
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    health = [url for url in urls if "/_stcore/" in url]
    assert health
    assert all(url.startswith(f"{app_url}/_stcore/") for url in health)

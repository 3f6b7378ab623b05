"""The keyboard alone: it writes, moves, pins, picks and uploads; what has the focus is seen."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Live
from tests.support.browser import FOCUSED, settle, tab_to


@pytest.mark.usefixtures("anew")
def test_explore_writes_moves_pins_picks_and_takes_a_bar(live: Live) -> None:
    page = live.page
    expect(live.area).to_be_focused()  # without a click
    live.press(*" was")
    live.painted(22)
    live.press("Home", "ArrowRight")
    tab_to(page, css="rv-pad")
    live.press("Home", "ArrowRight")
    expect(live.readout).to_contain_text("character 2 ·")
    live.press("Enter")
    expect(live.readout).to_contain_text("Escape unpins")
    live.press("ArrowDown")
    expect(live.colour).to_have_text(re.compile(r"^unit \d+$"))
    unit = live.colour.inner_text()
    picture = page.get_by_role("img", name=re.compile(rf"character 2 · {unit}: .* Escape unpins"))
    expect(picture).to_be_attached()  # the picture's alternative says so too
    live.press("Escape", "Escape")
    expect(live.colour).to_have_text("Surprise")
    tab_to(page, css="rv-touch")
    live.press("ArrowDown", "Enter")
    live.painted(23)
    live.area.focus()
    tab_to(page, "^More$")
    live.press("Enter")
    tab_to(page, css="rv-fold")
    live.press("Enter")
    expect(page.get_by_role("button", name="Show", exact=True)).to_be_focused()
    expect(page.get_by_text("uniform guess").first).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize(
    "address", ["inside?part=memory&model=tiny-gru", "learn?step=first", "train", "perplexity?model=tiny-gru"]
)
def test_what_has_the_focus_is_seen(page: Page, app_url: str, address: str) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(f"{app_url}/{address}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    for scheme, key in (("light", "Tab"), ("dark", "Shift+Tab")):  # there, and back in the dark
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        settle(page)
        seen = set()
        for _ in range(35):
            page.keyboard.press(key)
            found, _classes, markup, shows = page.evaluate(FOCUSED)
            assert shows, markup
            seen.add(found)
        assert len(seen) > 8


def test_perplexity_takes_a_file(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/perplexity?model=tiny-gru")
    expect(page.get_by_text("Perplexity of an example")).to_be_visible()
    # Waited for from here on: the browser is told so in its own time.
    with page.expect_file_chooser() as chosen:
        tab_to(page, r"(^|\n)Upload$")
        page.keyboard.press("Enter")
    chosen.value.set_files(
        {"name": "a.txt", "mimeType": "text/plain", "buffer": b"The Time Traveller.\n" * 20}
    )
    expect(page.get_by_text("Perplexity of a.txt")).to_be_visible()
    curve = page.locator(".vw-plot")
    expect(curve).to_have_count(1)  # the example's goes
    expect(curve).to_have_attribute("aria-label", re.compile(r"ends at [\d.]+\. Of the last"))

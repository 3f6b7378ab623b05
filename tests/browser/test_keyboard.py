"""The keyboard alone: it writes, moves, pins, picks and uploads; what has the focus is seen."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Live
from tests.support.browser import FOCUSED, settle, tab_to


@pytest.mark.usefixtures("anew")
def test_explore_works_by_keyboard_alone(live: Live) -> None:
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
def test_focus_is_visible(page: Page, app_url: str, address: str) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(f"{app_url}/{address}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    for scheme, key in (("light", "Tab"), ("dark", "Shift+Tab")):  # there, and back in the dark
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        settle(page)
        focused = set()
        for _ in range(35):
            page.keyboard.press(key)
            name, _classes, markup, shows = page.evaluate(FOCUSED)
            assert shows, markup
            focused.add(name)
        assert len(focused) > 8

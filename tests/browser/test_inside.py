"""The page Inside in a real browser: select, rank and colour; clamp; change a letter; compare."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.driving import (
    HIGHLIGHTED,
    box_of,
    drag,
    highlighted,
    letter,
    until_changed,
    until_highlighted,
)

IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"
COLOURS = (
    f"(dashboard) => JSON.stringify(({HIGHLIGHTED})(dashboard.querySelector('.dash-open'), 'diverging'))"
)
MOVED = """(dashboard) => {
  window.moved = 0;
  const count = (records) => { window.moved += records.length; };
  new MutationObserver(count).observe(dashboard.querySelector('.dash-grid'), { childList: true });
}"""
MATCHED = f"(row) => ({HIGHLIGHTED})(row, 'passage').map((one) => one[1]).join('|')"


pytestmark = pytest.mark.usefixtures("same_page")


def open_part(page: Page, url: str, part: str) -> Locator:
    """The first dashboard of a part, drawn; by a click on its name where the page is there."""
    if page.url.startswith(f"{url}/inside?") and "model=tiny-gru" in page.url:
        page.locator(".st-key-part").get_by_text(part.title(), exact=True).click()
        expect(page).to_have_url(re.compile(f"part={part}"))
        expect(page.locator(IDLE)).to_be_visible()
    else:
        page.goto(f"{url}/inside?model=tiny-gru&part={part}")
    expect(page.get_by_test_id("stException")).to_have_count(0)
    dashboard = page.get_by_test_id("rnnviz-dashboard").first
    expect(dashboard).to_have_attribute("data-drawn", re.compile(r"\d+"))
    return dashboard


def text_of(dashboard: Locator) -> Locator:
    """The dashboard's first text."""
    return dashboard.locator(".dash-open").first


def test_selection_ranks_units_and_bar_colours_text(page: Page, app_url: str) -> None:
    dashboard = open_part(page, app_url, "units")
    drag(text_of(dashboard), 4, 8)
    until_highlighted(text_of(dashboard), "passage", 5)
    expect(page.get_by_text("Too little text to tell")).to_be_visible()
    pad = page.locator("[data-name=ranking] .dash-pad")
    expect(page.locator("[data-name=ranking] .barlayer .point")).to_have_count(12)
    before, unit = dashboard.evaluate(COLOURS), page.get_by_label("The unit, 0 to").input_value()
    box = box_of(pad)
    pad.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    expect(page.get_by_label("The unit, 0 to")).not_to_have_value(unit)
    until_changed(dashboard, COLOURS, before)


def test_match_row_becomes_selected_text(page: Page, app_url: str) -> None:
    dashboard = open_part(page, app_url, "match")
    page.get_by_role("slider", name="Threshold").press("Home")  # 0.05: the network is small, and random
    rows = page.get_by_test_id("rnnviz-dashboard").nth(1)
    expect(rows.locator(".dash-flow.dash-one").first).to_be_visible()
    chosen = re.findall(r"at=\d+", page.url)  # by another test in this tab, perhaps
    drag(text_of(dashboard), 4, 6)
    until_highlighted(text_of(dashboard), "passage", 3)
    expect(page.locator(IDLE)).to_be_visible()  # before, the rows are those of another passage
    row = rows.locator(".dash-flow").first
    matched = until_changed(row, MATCHED, "")  # a row that was made anew is lit once its style is there
    expect(rows.locator(".dash-bars > span")).not_to_have_count(0)
    row.focus()
    page.keyboard.press("Enter")
    until_highlighted(text_of(dashboard), "passage", len(matched))
    assert highlighted(text_of(dashboard), "passage") == [matched]
    assert re.findall(r"at=\d+", page.url) == chosen, "where a drag ends is not chosen"


def test_arrow_keys_move_cursor(page: Page, app_url: str) -> None:
    dashboard = open_part(page, app_url, "memory")
    expect(
        dashboard.locator("[data-name=reach]")
    ).to_be_visible()  # the gates stand first while it is computed
    figures = dashboard.locator(".dash-panel").count()
    expect(dashboard.locator(".dash-plot .main-svg:first-child")).to_have_count(
        figures
    )  # those below the window too
    dashboard.evaluate(MOVED)
    text = text_of(dashboard)
    page.mouse.click(*letter(text, 1))
    expect(dashboard.locator(".dash-text b").first).to_contain_text("character 2")
    for _ in range(7):
        page.keyboard.press("ArrowRight", delay=40)  # faster than answers come
    expect(dashboard.locator(".dash-text b").first).to_contain_text("character 9")
    (pinned,) = text.evaluate(HIGHLIGHTED, "pin")
    assert pinned[0] == 8
    assert page.evaluate("window.moved") == 0, "figures that stay aren't put into the page anew"


def test_compared_networks_share_cursor(page: Page, app_url: str) -> None:
    dashboard = open_part(page, app_url, "cause")
    page.get_by_role("radio", name="Compare").click()
    expect(page.locator("[data-name=running]")).to_be_visible()
    dashboard = page.get_by_test_id("rnnviz-dashboard").first
    expect(dashboard.locator(".dash-open")).to_have_count(3)
    page.mouse.move(*letter(text_of(dashboard), 5))
    until_highlighted(dashboard, "point", 3)
    expect(dashboard.locator(".dash-said")).to_contain_text(re.compile("character 6.*tiny-lstm"))
    expect(dashboard.locator("[data-name=heat-tiny-lstm] .dash-upright")).to_be_visible()
    page.mouse.move(5, 5)
    expect(dashboard.locator(".dash-said")).not_to_contain_text("character 6")  # but the page's own character

"""What Explore's picture shows on opening, and that what is pointed at is what is painted there."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from rnnviz.networks import checkpoint
from rnnviz.page import shown_units
from tests.browser.conftest import SCREEN, Live
from tests.support.driving import box_of, until

UNITS = 256
STEADY_UNITS = 8
LEAVE = "Leave the presentation"
RATIOS = (1, 1.25, 2)  # of the screen's pixels to the page's
WIDTH = "(e) => e.getBoundingClientRect().width"
IS_DRAWN = "(e) => Math.abs(e.width - e.clientWidth * devicePixelRatio) < 1"


@pytest.fixture
def model() -> str:
    """A network without a named unit, larger than its picture."""
    return "timemachine-gru"


def test_click_takes_pointed_unit_and_character(live: Live) -> None:
    page = live.page
    page.get_by_role("button", name=f"all {UNITS} units").click()
    session = page.context.new_cdp_session(page)
    live.write("The Time Traveller smiled round at us.")
    try:
        for ratio in RATIOS:
            size = {**SCREEN, "deviceScaleFactor": ratio, "mobile": False}
            session.send("Emulation.setDeviceMetricsOverride", size)
            assert page.evaluate("devicePixelRatio") == ratio
            session.send("Page.captureScreenshot")  # without a screen, a frame is what tells the page
            page.wait_for_function(IS_DRAWN, arg=page.locator(".rv-heat").element_handle())
            pointed_at_is_taken(live)
    finally:
        session.send("Emulation.clearDeviceMetricsOverride")
        session.detach()
    page.get_by_role("button", name=f"{STEADY_UNITS} units that change least often").click()


def pointed_at_is_taken(live: Live) -> None:
    """A dozen points, each less than a row from the one before and never a whole number of pixels."""
    page = live.page
    heat = box_of(page.locator(".rv-heat"))
    for step in range(12):
        x, y = heat["x"] + 40.3 + 17.37 * step, heat["y"] + 31.7 + 0.61 * step
        page.mouse.move(x, y)
        expect(live.readout).to_contain_text(re.compile(r"unit \d+"))
        pointed = re.search(r"character (\d+) · unit (\d+)", live.readout.inner_text())
        page.mouse.click(x, y)
        expect(live.colour).to_have_text(f"unit {pointed[2]}")
        expect(live.readout).to_contain_text("Escape unpins")
        assert re.search(r"character (\d+)", live.readout.inner_text())[1] == pointed[1]  # type: ignore[index]
        pinned_box = box_of(page.locator(".rv-pinned"))
        assert pinned_box["x"] - 1 <= x <= pinned_box["x"] + pinned_box["width"] + 1
        page.keyboard.press("Escape")
        expect(page.locator(".rv-pinned")).to_be_hidden()


def test_heat_map_opens_on_steadiest_units(live: Live) -> None:
    numbers = live.page.locator(".rv-scale span:not(.rv-power)")
    expect(numbers).to_have_count(STEADY_UNITS)
    units = numbers.all_inner_texts()
    assert len(set(units)) == STEADY_UNITS
    heat = box_of(live.page.locator(".rv-heat"))
    assert heat["height"] / STEADY_UNITS >= 20  # tall enough to hit
    row = 5
    live.page.mouse.move(heat["x"] + 30, heat["y"] + heat["height"] * (row + 0.5) / STEADY_UNITS)
    expect(live.readout).to_contain_text(f"unit {units[row]}:")
    live.area.press("End")
    live.page.keyboard.type(" tonight")
    live.painted(len(live.text))
    assert numbers.all_inner_texts() == units  # they don't move while one types
    expect(live.page.locator(".rv-counting")).to_contain_text("counts 6-character sequences")
    live.page.get_by_role("button", name=f"all {UNITS} units").click()
    expect(numbers).to_have_count(0)
    live.open_more()
    expect(live.page.get_by_role("combobox", name="Units")).to_have_value("alike")
    live.open_more(False)


def test_any_unit_colours_text_without_named_unit(live: Live) -> None:
    page, legend = live.page, live.page.locator(".rv-key-tint")
    expect(page.locator(".rv-caption")).to_contain_text(
        "No unit and no direction could be named from 100,000 characters of holmes.txt"
    )
    first = page.locator(".rv-scale span:not(.rv-power)").first.inner_text()
    for colour, label, ends in (
        ("Surprise", "Surprise", "0≥ 10 bits"),
        ("Any unit", f"unit {first}", "lowhigh"),  # of a unit's values
        ("Why this letter?", "Why this letter?", "≤ −6 bits≥ 6 bits"),  # beyond, the colour stays
        ("Surprise", "Surprise", "0≥ 10 bits"),
    ):
        page.get_by_role("button", name=colour).click()
        expect(live.colour).to_have_text(label)
        expect(legend).to_have_text(ends)
        caption = page.get_by_text(f"Unit {first}, one of {UNITS} numbers in this network")
        expect(caption).to_be_visible(visible=colour == "Any unit")


def test_view_fills_wide_screen(live: Live) -> None:
    live.page.set_viewport_size({"width": 1920, "height": 1080})
    live.write("He was expounding a recondite matter to us; his grey eyes shone and twinkled. Nobody spoke.")
    heat = box_of(live.page.locator(".rv-heat"))
    live.page.mouse.move(heat["x"] + 0.93 * heat["width"], heat["y"] + 20)
    expect(live.readout).to_contain_text("character")  # a character stands there
    bars = box_of(live.page.locator(".rv-next"))
    assert bars["x"] + bars["width"] > 1920 - 60
    assert heat["y"] + heat["height"] > 500


@pytest.mark.parametrize("name", ["chinese-gru", "python-lstm"])
def test_named_row_colours_text_and_links_to_inside(page: Page, app_url: str, name: str) -> None:
    row = shown_units.named_units(checkpoint.load_numpy(name))[0]
    sums = row.findings[0].weighted is not None
    colour, text = {
        "chinese-gru": ("Inside quotes", "行者笑道：“师父莫怕"),
        "python-lstm": ("Inside a string", 'print("mean'),
    }[name]
    what = colour if sums else f"unit {row.unit}"
    live = Live(page, app_url, name)
    expect(live.colour).to_have_text(colour)
    expect(page.locator(".rv-scale span:not(.rv-power)").first).to_have_text(colour)
    expect(page.get_by_text(re.compile("Type .* and watch"))).to_be_visible()
    live.write(text)
    heat = box_of(page.locator(".rv-heat"))
    page.mouse.click(heat["x"] + 20, heat["y"] + 5)
    expect(live.readout).to_contain_text(f"{what}:")
    expect(page.locator(".rv-caption")).to_contain_text(f"{what.capitalize()} after")  # its arithmetic there
    page.get_by_role("link", name=f"See this {'direction' if sums else 'unit'} on Inside").click()
    page.wait_for_url(re.compile(rf"/inside\?.*model={name}"))
    chosen = page.get_by_role("spinbutton", name="The unit")
    if sums:
        chosen = page.get_by_role("combobox", name="Colour the text by")
    expect(chosen).to_have_value(
        re.compile(shown_units.target_name(row.findings[0].target) if sums else str(row.unit))
    )


def test_pages_have_one_heading_and_whole_sidebar(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?model=timemachine-gru")  # its title takes two lines
    heading, before = page.locator("h1"), "nothing yet"
    for name in ("Explore", "Perplexity", "Inside", "Train", "Learn"):
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=name).click()
        expect(heading).not_to_have_text(before)  # nor more than one
        before = heading.text_content() or ""
        if name not in ("Train", "Learn"):
            expect(page.get_by_text("About this model")).to_be_visible()
        expect(page.get_by_test_id("stSidebar").get_by_text("中文")).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280, name


def test_presentation_shows_text_picture_and_bars_alone(live: Live) -> None:
    page = live.page
    sidebar = page.get_by_test_id("stSidebar")
    before = box_of(page.locator(".rv-heat"))
    page.get_by_role("button", name="Present").click()
    expect(sidebar).to_be_hidden()
    expect(page).to_have_url(re.compile("present=1"))
    for hidden in (".rv-chips", ".rv-desk", ".rv-scrub", "[data-testid=stHeader]"):
        expect(page.locator(hidden)).to_be_hidden()
    for selector in (".rv-text", ".rv-heat", ".rv-next"):
        expect(page.locator(selector)).to_be_visible()
    until(page.locator(".rv-heat"), WIDTH, lambda width: width > before["width"])
    assert page.get_by_test_id("stMain").evaluate("(e) => e.scrollHeight - e.clientHeight") <= 0
    assert smallest(live.root) >= 20
    live.area.press("End")
    live.press(*" p")  # a letter where one writes
    live.painted(len(live.text))
    live.press("Escape")
    expect(sidebar).to_be_visible()
    expect(page).not_to_have_url(re.compile("present"))
    live.figure.press("p")
    expect(sidebar).to_be_hidden()
    page.get_by_role("button", name=LEAVE).click()
    expect(sidebar).to_be_visible()
    until(page.locator(".rv-heat"), WIDTH, lambda width: width == before["width"])


def test_address_presents_and_caret_stays_in_view(page: Page, app_url: str) -> None:
    live = Live(page, f"{app_url}/?model=tiny-lstm&present=1")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    page.get_by_role("button", name=LEAVE).click()
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    live.write("one\ntwo\nthree")  # the last of three lines, where a projector has room for two
    page.get_by_role("button", name="Present").click()
    until(live.area, "(e) => e.scrollHeight - e.clientHeight - e.scrollTop", lambda hidden: hidden < 2)
    page.goto(f"{app_url}/perplexity?present=1")  # which doesn't
    expect(page.get_by_test_id("stSidebar")).to_be_visible()


def test_back_from_presentation_restores_page(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/train")  # where no run is to be presented
    page.get_by_role("link", name="Explore").click()
    page.get_by_role("button", name="Present").click()
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    page.go_back()
    expect(page.get_by_role("heading", name="Train your own")).to_be_visible()
    expect(page.get_by_test_id("stSidebar")).to_be_visible()


def test_run_presentation_shows_picture_curve_bars_and_sample_alone(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/train?run=shipped:timemachine-gru&present=1")
    view = page.get_by_test_id("rnnviz-training")
    expect(page.locator(".rt-lines .main-svg").first).to_be_attached()
    for selector in (".rt-heat", ".rt-curve", ".rv-next", ".rt-sample"):
        expect(page.locator(selector)).to_be_visible()
    hidden = (page.get_by_test_id("stSidebar"), page.get_by_role("button", name="Start"), page.locator("h1"))
    explore = page.get_by_role("button", name="Open in Explore")
    for element in (*hidden, explore, page.locator(".rt-numbers"), page.locator(".rt-details-chart")):
        expect(element).to_be_hidden()
    assert smallest(view) >= 20
    assert box_of(view)["height"] <= SCREEN["height"]
    page.keyboard.press("Escape")
    for element in hidden:
        expect(element).to_be_visible()
    expect(page).not_to_have_url(re.compile("present"))


def smallest(view: Locator) -> float:
    """The smallest type to be seen in a view, in pixels, but for the numbers of rows, which are as high."""
    return float(
        view.evaluate(
            """(root) => Math.min(...[...root.querySelectorAll('*')]
              .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
              .filter((e) => e.checkVisibility())
              .filter((e) => !e.matches('.rv-intro, .rv-scale span'))
              .map((e) => parseFloat(getComputedStyle(e).fontSize)))"""
        )
    )

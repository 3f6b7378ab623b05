"""The keyboard alone: it writes, moves, pins, picks and uploads; what has the focus is seen."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Live
from tests.browser.test_accessible import settle

STOPS = 80  # of the Tab key: more than any page has before what is looked for
# The name, classes and element that has the focus, and whether it looks otherwise than without, in a view of
# ours by a ring of two pixels. A table draws its focus some frames after it has it: it is looked for again, a
# second in all.
FOCUSED = """async () => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    if (!at || at === document.body) return ["", "", "", true];
    const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const name = at.getAttribute("aria-label") || at.innerText || at.labels?.[0]?.innerText || "";
    const around = [at, ...at.children];
    for (let e = at.parentElement, n = 0; e && n < 5; e = e.parentElement, n++) around.push(e);
    const look = () => {
        for (const one of document.getAnimations())
            if (one.effect?.getComputedTiming().endTime !== Infinity) one.finish(); // a spinner never ends
        return around.map((e) => {
            const { outline, boxShadow, borderColor, backgroundColor, stroke } = getComputedStyle(e);
            return [outline, boxShadow, borderColor, backgroundColor, stroke].join();
        }).join() + (at.closest("canvas")?.toDataURL() ?? ""); // a table draws its focus
    };
    let shows = false;
    for (let tries = 0; !shows && tries < 15; tries++) {
        if (tries) await drawn();
        const focused = look();
        at.blur();
        shows = look() !== focused;
        if (!shows) {
            await drawn();
            shows = look() !== focused;
        }
        at.focus({ preventScroll: true });
    }
    const { outlineStyle, outlineWidth } = getComputedStyle(at);
    if (at.getRootNode().host) shows &&= outlineStyle === "solid" && parseFloat(outlineWidth) >= 2;
    return [name.trim(), String(at.className?.baseVal ?? at.className), at.outerHTML.slice(0, 120), shows];
}"""


def tab_to(page: Page, name: str = "", *, css: str = "", key: str = "Tab") -> None:
    """Press Tab until what has this name, or class, has the focus; every stop shows that it has it."""
    for _ in range(STOPS):
        found, classes, markup, shows = page.evaluate(FOCUSED)
        assert shows, markup
        if (name and re.search(name, found)) or (css and css in classes.split()):
            return
        page.keyboard.press(key)
    raise AssertionError(f"the Tab key doesn't come to {name or css}")


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

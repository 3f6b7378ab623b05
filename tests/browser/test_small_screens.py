"""On a phone, and enlarged to 200 %: nothing covers anything, and no page scrolls sideways."""

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.support.browser import settle
from tests.support.driving import box_of

PHONE: ViewportSize = {"width": 390, "height": 844}
ENLARGED: ViewportSize = {"width": 720, "height": 450}  # 1440 × 900 at 200 %
PAGES = (
    "?model=tiny-gru",
    "perplexity?model=tiny-gru",
    "inside?part=memory&model=tiny-gru",
    "train",
    "train?run=shipped:timemachine-gru",
    "learn?step=first",
    "learn?step=back",
)
WIDER = """() => Math.max(...[document.scrollingElement, document.querySelector("[data-testid=stMain]")]
    .map((element) => element.scrollWidth - element.clientWidth))"""
# Headings and what can be pressed: whether what is seen in their middle is they, where they are in sight.
COVERED = """(scrolled) => {
    const found = [];
    const seen = (element, box) => {  // within what scrolls or is clipped around it
        for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
            const style = getComputedStyle(at);
            if (style.overflowX === "visible" && style.overflowY === "visible") continue;
            const frame = at.getBoundingClientRect();
            if (box.x < frame.left || box.x > frame.right) return false;
            if (box.y < frame.top || box.y > frame.bottom) return false;
        }
        return true;
    };
    const walk = (root) => {
        for (const element of root.querySelectorAll("*")) {
            if (element.shadowRoot) walk(element.shadowRoot);
            if (!element.matches("h1, h2, button, select, textarea, input[type=range], a[href]")) continue;
            if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
            let frame = element.getBoundingClientRect();
            if (element.matches("h1, h2")) {
                const range = document.createRange();
                range.selectNodeContents(element);
                frame = range.getClientRects()[0] ?? frame;
            }
            const [x, y] = [frame.x + frame.width / 2, frame.y + frame.height / 2];
            if (frame.width < 2 || frame.height < 2) continue;
            if (x < 0 || x > innerWidth || y < 0 || y > innerHeight) continue;
            if (element.disabled || !seen(element, { x, y })) continue;
            if (getComputedStyle(element).pointerEvents === "none") continue;
            // Streamlit's bar is transparent but for its buttons; what has been scrolled goes under it.
            const bar = (e) => e.closest("[data-testid=stHeader]");
            const over = document.elementsFromPoint(x, y);
            if (scrolled && over.some(bar)) continue;
            let top = over.find((e) => !bar(e) || e.closest("button, a, img"));
            while (top?.shadowRoot) {
                const inner = top.shadowRoot.elementsFromPoint(x, y).find((e) => top.shadowRoot.contains(e));
                if (!inner) break;
                top = inner;
            }
            const related = (a, b) => {
                for (let at = b; at; at = at.parentElement ?? at.getRootNode().host)
                    if (at === a) return true;
                return false;
            };
            if (top && (related(element, top) || related(top, element))) continue;
            found.push(`${element.outerHTML.slice(0, 90)} is under ${top?.outerHTML.slice(0, 90)}`);
        }
    };
    walk(document);
    return found;
}"""


@pytest.mark.slow
@pytest.mark.parametrize("address", PAGES)
def test_small_screen_covers_nothing_and_never_scrolls_sideways(
    page: Page, app_url: str, address: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{app_url}/{address}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    for size in (PHONE, ENLARGED):
        page.set_viewport_size(size)
        settle(page)
        assert page.evaluate(WIDER) <= 0, size
        main = page.get_by_test_id("stMain")
        for share in (0, 0.5, 1):
            main.evaluate("(e, share) => e.scrollTo(0, share * (e.scrollHeight - e.clientHeight))", share)
            settle(page)
            assert page.evaluate(COVERED, share > 0) == [], (size, share)


@pytest.mark.parametrize("size", [PHONE, {"width": 320, "height": 700}], ids=lambda size: str(size["width"]))
def test_phone_shows_text_and_picture_on_one_screen(page: Page, app_url: str, size: ViewportSize) -> None:
    page.set_viewport_size(size)
    page.goto(f"{app_url}/?model=holmes-lstm")
    bars = page.locator(".rv-next-list li:visible")
    expect(bars).to_have_count(4)
    visible = [page.get_by_role("textbox", name="Your text"), *bars.all(), page.locator(".rv-caption")]
    for element in [*visible, page.get_by_text("More", exact=True)]:
        box = box_of(element)
        assert box["y"] + box["height"] <= size["height"]
    colours = page.get_by_role("group", name="Text colour").get_by_role("button")
    assert len({box_of(button)["y"] for button in colours.all()}) == 1
    hidden = page.locator(":is(.rv-chips, .rv-write, .rv-present, .rv-numbers):visible")
    expect(hidden).to_have_count(0)
    # Below them all: a tall phone has room for it, while no keyboard is up.
    expect(page.locator(".rv-heat:visible")).to_have_count(1 if size == PHONE else 0)
    page.get_by_text("More", exact=True).click()
    expect(page.locator(".rv-write")).to_be_visible()
    expect(page.locator(".rv-heat")).to_be_visible()
    expect(page.locator(".rv-scale .rv-name")).to_have_text(["Inside quotes", "Line position"])
    for name in page.locator(".rv-scale .rv-name").all():
        assert box_of(name)["x"] >= 0
    assert page.evaluate(WIDER) <= 0
    page.get_by_role("button", name="Show what could follow").click()
    expect(page.locator(".rv-step:visible")).to_have_count(3)
    for branch in page.locator(".rv-step button:visible").all():
        box = box_of(branch)
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size["width"]
    expect(page.get_by_role("textbox", name="Your text")).to_be_in_viewport()
    expect(page.locator(".rv-step button").first).to_be_in_viewport()
    page.get_by_role("button", name="Close").click()
    assert page.evaluate(WIDER) <= 0
    page.get_by_role("textbox", name="Your text").click(position={"x": 60, "y": 15})  # a letter
    why = page.get_by_role("button", name="Why this letter?", pressed=True)
    expect(why).to_be_in_viewport(ratio=0.99)  # the row has scrolled to it
    page.get_by_role("button", name="Present").click()  # shows the whole picture
    expect(page.locator(".rv-heat")).to_be_visible()

"""The picture of the app's first answer: there before Streamlit is, alive, and left without a loss."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, Route, expect

from rnnviz.lecture.scenes import scenes
from tests.support.browser import inaccessible
from tests.support.driving import box_of
from tests.support.explore_page import OPENING

PAINTED = re.compile(r"\d")


class Slow:
    """A page whose Streamlit is on its way until `arrive`."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.held: list[Route] | None = []
        page.route("**/static/js/index.*.js", self.hold)
        page.goto(url, wait_until="commit")
        self.layer = page.locator("#first-picture")
        self.view = self.layer.locator(".rnnviz")
        self.area = page.get_by_role("textbox", name="Your text")

    def hold(self, route: Route) -> None:
        if self.held is None:
            route.continue_()
        else:
            self.held.append(route)

    def arrive(self) -> None:
        """Let Streamlit come."""
        held, self.held = self.held, None
        for route in held or ():
            route.continue_()

    @property
    def app(self) -> Locator:
        """The app's own view."""
        return self.page.get_by_test_id("rnnviz-live")


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """A reader's first visit."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, locale="en-GB")
    yield context.new_page()
    context.close()


@pytest.fixture
def slow(page: Page, app_url: str) -> Slow:
    return Slow(page, f"{app_url}/?model=tiny-gru")


def test_picture_reads_what_is_typed_before_streamlit_is_there(slow: Slow) -> None:
    expect(slow.view).to_have_attribute("data-painted", str(len(OPENING)))
    expect(slow.area).to_be_focused()
    expect(slow.layer.get_by_role("link", name="Explore")).to_have_attribute("aria-current", "page")
    slow.page.keyboard.type("s smile")
    expect(slow.view).to_have_attribute("data-painted", str(len(OPENING) + 7))
    expect(slow.page.locator(".rv-next-list li")).to_have_count(14)
    slow.page.get_by_role("button", name=re.compile("all .* units")).click()
    expect(slow.page.get_by_role("button", name=re.compile("that change least"))).to_be_visible()
    assert inaccessible(slow.page) == []
    slow.arrive()
    expect(slow.layer).to_have_count(0)
    expect(slow.area).to_be_focused()
    slow.page.keyboard.type("d")
    expect(slow.area).to_have_value(f"{OPENING}s smiled")
    expect(slow.app).to_have_attribute("data-painted", str(len(OPENING) + 8))
    expect(slow.page.get_by_role("button", name=re.compile("that change least"))).to_be_visible()
    for _word in range(2):
        slow.page.keyboard.press("Control+z")
    expect(slow.area).to_have_value(OPENING)


def test_caret_stays_where_it_was(slow: Slow) -> None:
    expect(slow.view).to_have_attribute("data-painted", PAINTED)
    slow.page.keyboard.press("Control+Home")
    slow.page.keyboard.type("O! ")
    slow.arrive()
    expect(slow.layer).to_have_count(0)
    slow.page.keyboard.type("the")
    expect(slow.area).to_have_value(f"O! the{OPENING}")


def test_change_waits_for_composition(slow: Slow) -> None:
    expect(slow.view).to_have_attribute("data-painted", PAINTED)
    slow.page.keyboard.press("Control+End")
    method = slow.page.context.new_cdp_session(slow.page)
    compose = "Input.imeSetComposition"
    method.send(compose, {"text": "ni", "selectionStart": 2, "selectionEnd": 2})
    slow.arrive()
    expect(slow.app).to_have_attribute("data-painted", PAINTED)
    # The app's view has been there for a second: more than the time of rest after a key.
    slow.page.wait_for_function(
        "since => performance.now() > since + 1000", arg=slow.page.evaluate("performance.now()")
    )
    expect(slow.layer).to_have_count(1)
    method.send(compose, {"text": "nih", "selectionStart": 3, "selectionEnd": 3})
    method.send("Input.insertText", {"text": "你好"})
    expect(slow.layer).to_have_count(0)
    expect(slow.area).to_have_value(f"{OPENING}你好")
    expect(slow.area).to_be_focused()
    method.send(compose, {"text": "m", "selectionStart": 1, "selectionEnd": 1})
    method.send("Input.insertText", {"text": "吗"})
    expect(slow.area).to_have_value(f"{OPENING}你好吗")


def test_typing_through_change_loses_no_key(slow: Slow) -> None:
    expect(slow.view).to_have_attribute("data-painted", PAINTED)
    typed, after = "", 0
    slow.arrive()
    for n in range(400):
        typed += "abcdefgh"[n % 8]
        slow.page.keyboard.type(typed[-1])
        slow.page.wait_for_timeout(400 if n % 6 == 5 else 20)  # a writer who stops now and then
        after += slow.layer.count() == 0
        if after == 10:
            break
    assert after == 10
    expect(slow.area).to_have_value(OPENING + typed)
    expect(slow.app).to_have_attribute("data-painted", str(len(OPENING + typed)))


def test_other_network_is_chosen_once_app_stands(slow: Slow) -> None:
    expect(slow.view).to_have_attribute("data-painted", PAINTED)
    slow.page.get_by_role("button", name="Code", exact=True).click()
    slow.arrive()
    expect(slow.layer).to_have_count(0)
    expect(slow.page).to_have_url(re.compile("model=python-lstm"))
    expect(slow.area).to_have_value(re.compile("^def show"))


@pytest.mark.parametrize("mode", ["", "&present=1", "&code=1&lang=zh"])
def test_lecture_stands_where_app_draws_it(page: Page, app_url: str, mode: str) -> None:
    slow = Slow(page, f"{app_url}/learn?step=softmax{mode}")
    first, app = slow.layer.locator(".rnnviz-learn"), page.get_by_test_id("rnnviz-learn")
    parts = ("", "h1", ".ln-math", ".ln-stage", ".kit-picture", ".ln-notice", ".ln-tools")

    def boxes(root: Locator) -> list[FloatRect]:
        return [box_of(root.locator(part) if part else root) for part in parts]

    expect(first).to_have_attribute("data-drawn", PAINTED)
    assert page.url.endswith(f"step=softmax{mode}")
    expect(slow.layer.get_by_role("link", name=re.compile("Explore|探索"))).to_be_visible(
        visible="present" not in mode
    )
    assert inaccessible(page) == []
    before = boxes(first)
    slow.arrive()
    expect(slow.layer).to_have_count(0)
    assert boxes(app) == before
    expect(page.locator("html")).to_have_attribute("lang", "zh" if "zh" in mode else "en")


def test_lecture_goes_where_first_picture_was_led(page: Page, app_url: str) -> None:
    titles = [step.title for step in scenes()[4].main_steps]
    slow = Slow(page, f"{app_url}/learn?step=labels")
    expect(slow.layer.locator(".rnnviz-learn")).to_have_attribute("data-drawn", PAINTED)
    address = page.url
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")  # held until the first step is there
    page.get_by_role("button", name="Present", exact=True).click()
    assert page.url == address
    slow.arrive()
    expect(slow.layer).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_have_text(titles[2])
    expect(page).to_have_url(re.compile("present=1"))
    page.keyboard.press("ArrowUp")  # one step: the first picture's view is deaf now
    expect(page.get_by_role("heading", level=1)).to_have_text(titles[1])
    page.evaluate("history.pushState(null, '', '?step=labels'); history.pushState(null, ''); history.back()")
    expect(page.get_by_role("heading", level=1)).to_have_text(titles[0])


@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize("address", ["perplexity", "inside", "train"])
def test_title_stays_where_it_was(page: Page, app_url: str, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 720})
    slow = Slow(page, f"{app_url}/{address}")
    title = page.get_by_role("heading", level=1)
    before = box_of(title)
    slow.arrive()
    expect(slow.layer).to_have_count(0)
    after = box_of(title)
    assert (after["x"], after["y"]) == (before["x"], before["y"])


@pytest.mark.parametrize("address", ["", "perplexity", "inside", "train", "learn", "?model=nobody"])
def test_layer_gives_way_on_every_page(page: Page, app_url: str, address: str) -> None:
    page.goto(f"{app_url}/{address}")
    expect(page.locator("#first-picture")).to_have_count(0)
    expect(page.get_by_role("link", name="Explore")).to_be_visible()


def test_without_javascript_a_sentence_says_what_is_needed(browser: Browser, app_url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(app_url)
    sentence = page.locator("#first-picture noscript p")  # no text there is looked at by get_by_text
    expect(sentence).to_be_visible()
    expect(sentence).to_have_text("This page needs JavaScript.")
    context.close()

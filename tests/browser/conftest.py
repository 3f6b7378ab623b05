"""A running app, a real browser, and the Explore page as a reader meets it."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Page,
    Playwright,
    Request,
    TimeoutError,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.support.driving import box_of, browser_path, launch, once_app_stands
from tests.support.lecturing import Lectern
from tests.support.needs import missing
from tests.support.serving import ROOT, serve

PATIENCE = 60_000  # milliseconds; the machine may be busy
SCREEN: ViewportSize = {"width": 1280, "height": 720}
expect.set_options(timeout=PATIENCE)
REFUSED = "Failed to load resource: net::ERR_FAILED"  # said of requests that a test itself refused
UNHURRIED = "--js-flags=--no-turbofan"  # no page lives long enough to gain from optimised scripts
CUT_OFF = (  # what Streamlit's own scripts say where a test ended the connection
    "Cannot send rerun backMessage when disconnected from server.",
    "WebSocket is already in CLOSING or CLOSED state.",
)
REPLACED = "Unexpected response code: 403"  # to a view that connects when a rerun has just replaced it


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """What drives the browsers; a process has it once."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A headless Chromium; without one these tests are skipped, or fail if RNNVIZ_REQUIRE_BROWSER is 1."""
    path = browser_path(playwright)
    try:
        if path is None:
            raise FileNotFoundError("no Chromium here: install one, or name it in RNNVIZ_BROWSER")
        started = launch(playwright, path, UNHURRIED)
    except (Error, OSError) as error:
        missing("BROWSER", error)
    yield started
    started.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the app keeps its runs and the models that it makes."""
    app_folder = tmp_path_factory.mktemp("app")
    (app_folder / "models").mkdir()
    return app_folder


@pytest.fixture(scope="session")
def app_url(folder: Path, models_folder: Path) -> Iterator[str]:
    """Where the app answers; the tiny models are among its models."""
    environment = {
        **os.environ,
        "RNNVIZ_RUNS": str(folder / "runs"),
        "RNNVIZ_MODELS": os.pathsep.join([str(folder / "models"), str(models_folder)]),
        "RNNVIZ_NICE": "0",  # other tests are at work
    }
    with serve(ROOT / "app.py", environment=environment, warm=False) as url:
        yield url


# All that is to be seen and set in the live view, but for what is painted and what is said aloud.
LOOK = """(root) => [...root.querySelectorAll("*:not(.rv-said)")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }))
    .map((one) => {
        const words = [...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data);
        return [one.localName, one.className, one.disabled, one.value, ...words].join(" ");
    }).join("\\n") + root.dataset.theme"""


class Live:
    """The live view of a model, the tiny GRU, its opening text painted."""

    def __init__(self, page: Page, url: str, model: str = "tiny-gru") -> None:
        self.page, self.model = page, model
        page.goto(url if "?" in url else f"{url}/?model={model}")
        self.root = page.get_by_test_id("rnnviz-live")
        self.area = page.get_by_role("textbox", name="Your text")
        self.figure = page.locator(".rv-pad")
        self.readout = page.locator(".rv-readout")
        self.colour = page.get_by_role("group", name="Text colour").get_by_role("button", pressed=True)
        expect(self.root).to_have_attribute("data-painted", re.compile("[1-9]"))
        self.painted(len(self.text))

    @property
    def text(self) -> str:
        """What stands in the text area."""
        return self.area.input_value()

    def open_more(self, opened: bool = True) -> None:
        """Open what stands behind "More", or close it."""
        summary = self.page.get_by_text("More", exact=True)
        if summary.evaluate("(e) => e.parentElement.open") != opened:
            summary.click()

    def mark(self) -> None:
        """Keep how it looks now that it has been loaded, for `set_back`."""
        self.opening = self.text
        self.root.evaluate(f"(root) => {{ window.opened = ({LOOK})(root); }}")

    def set_back(self) -> bool:
        """Whether it is, its opening text written again, as it was when loaded: nothing was left behind."""
        if not self.page.evaluate("Boolean(window.opened)") or not self.area.is_visible():
            return False
        self.open_more(False)
        self.area.focus()
        for _ in range(2):  # the pin, and the unit
            self.page.keyboard.press("Escape")
        if (reset := self.page.get_by_role("button", name="reset")).is_visible():
            reset.click()
        self.area.fill(self.opening)
        self.page.keyboard.press("Control+End")
        with suppress(TimeoutError):
            again = f"(root) => ({LOOK})(root) === window.opened"
            self.page.wait_for_function(again, arg=self.root.element_handle(), timeout=500)
            return True
        return False

    def painted(self, length: int) -> None:
        """Wait until a text of so many characters is on the screen."""
        expect(self.root).to_have_attribute("data-painted", str(length))

    def write(self, text: str) -> None:
        """Put a text there at once, and wait for its picture."""
        self.area.fill(text)
        self.painted(len(text))

    def press(self, *keys: str) -> None:
        """Keys one after the other, wherever the focus is."""
        for key in keys:
            self.page.keyboard.press(key)

    def caret(self, t: int) -> None:
        """Put the caret before character t, with keys."""
        self.area.press("Control+Home")
        self.press(*t * ["ArrowRight"])

    def reads(self, text: str) -> None:
        """Wait until a text stands there, and its picture."""
        expect(self.area).to_have_value(text)
        self.painted(len(text))

    def number(self, name: str) -> str:
        """One of the numbers under the text area."""
        return self.page.get_by_test_id(f"rnnviz-{name}").inner_text()

    def column(self, share: float, panel: str = "states") -> tuple[float, float]:
        """A point of the figure: `share` of the way along it, inside a panel."""
        heat = box_of(self.page.locator(".rv-heat"))
        y = heat["y"] + heat["height"] * (0.5 if panel == "states" else 1.6)
        return heat["x"] + share * heat["width"], y


@pytest.fixture(scope="session")
def tab(browser: Browser) -> Iterator[Page]:
    """A reader's one tab: each new one would compile Streamlit's scripts again, for seconds."""
    context = browser.new_context(viewport=SCREEN, locale="en-GB")
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    for name in ("goto", "reload"):  # what a test does is for the app, not for the picture that precedes it
        setattr(opened, name, once_app_stands(opened, getattr(opened, name)))
    yield opened
    context.close()


@pytest.fixture
def page(tab: Page, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The reader's tab; what stands in it is for `live` and `same_page`, every other test opens an address.
    An error in a script or a request to another machine fails the test.
    """
    wrong: list[str] = []
    failed = request.session.testsfailed

    def listen(message: ConsoleMessage) -> None:
        said_by = message.location.get("url", "")
        cut_off = message.text in CUT_OFF and "/static/js/" in said_by
        cut_off |= message.text.endswith(REPLACED) and said_by.endswith("/kit.js")
        if message.type == "error" and message.text != REFUSED and not cut_off:
            wrong.append(f"{message.text} ({said_by})")

    def watch(request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme.startswith(("http", "ws")) and address.hostname != "127.0.0.1":
            wrong.append(request.url)

    listeners = {"console": listen, "request": watch, "pageerror": lambda error: wrong.append(str(error))}
    for event, listener in listeners.items():
        tab.on(event, listener)  # type: ignore[call-overload]
    yield tab
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    for opened in tab.context.pages:  # the next test meets a reader who was never here
        if opened.url.startswith("http"):
            opened.evaluate("localStorage.clear(), sessionStorage.clear()")
        if opened is not tab:
            opened.close()
    tab.unroute_all()
    tab.emulate_media(color_scheme="null", reduced_motion="null")
    tab.set_viewport_size(SCREEN)
    tab.mouse.move(0, 0)
    if (
        wrong
        or {"live", "same_page"}.isdisjoint(request.fixturenames)
        or request.session.testsfailed > failed
    ):
        tab.goto("about:blank")
    assert wrong == []


@pytest.fixture(scope="session")
def opened() -> list[Live]:
    """The live view that was loaded last."""
    return []


@pytest.fixture
def anew() -> None:
    """For `live`: loaded for this test, with nothing that could be undone or gone back to."""


@pytest.fixture
def same_page() -> None:
    """What this test leaves in the tab is not taken away: the next one looks whether that will do."""


@pytest.fixture
def model() -> str:
    """Whose live view `live` is."""
    return "tiny-gru"


@pytest.fixture
def live(page: Page, app_url: str, opened: list[Live], request: pytest.FixtureRequest, model: str) -> Live:
    """The Explore page as it opens; loaded anew, for a second, only where the test before changed more."""
    is_open = opened and opened[-1].model == model and "anew" not in request.fixturenames
    if not (is_open and opened[-1].set_back()):
        opened[:] = [Live(page, app_url, model)]
        opened[-1].mark()
    return opened[-1]


@pytest.fixture
def lectern(page: Page, app_url: str) -> Lectern:
    """The Learn page."""
    return Lectern(page, app_url)

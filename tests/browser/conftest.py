"""A running app, a real browser, and the Explore page as a reader meets it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, expect, sync_playwright

from tests.browser.driving import ROOT, browser_path, launch, serve

PATIENCE = 60_000  # milliseconds; the machine may be busy
expect.set_options(timeout=PATIENCE)
REFUSED = "Failed to load resource: net::ERR_FAILED"  # said of requests that a test itself refused


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; without one these tests are skipped, or fail if RNNVIZ_REQUIRE_BROWSER is 1."""
    with sync_playwright() as playwright:
        path = browser_path(playwright)
        try:
            if path is None:
                raise FileNotFoundError("no Chromium here: install one, or name it in RNNVIZ_BROWSER")
            started = launch(playwright, path)
        except (Error, OSError) as error:
            if os.environ.get("RNNVIZ_REQUIRE_BROWSER") == "1":
                raise
            pytest.skip(f"no browser for these tests: {str(error).splitlines()[0]}")
        yield started
        started.close()


@pytest.fixture(scope="session")
def app_url(models_folder: Path) -> Iterator[str]:
    """Where the app answers; the tiny models are among its models."""
    environment = {**os.environ, "RNNVIZ_MODELS": str(models_folder), "OMP_NUM_THREADS": "1"}
    with serve(ROOT / "app.py", environment=environment) as url:
        yield url


class Live:
    """The live view on an open page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.root = page.get_by_test_id("rnnviz-live")
        self.area = page.get_by_role("textbox", name="Your text")
        self.figure = page.locator(".rv-pad")
        self.readout = page.locator(".rv-readout")

    @property
    def text(self) -> str:
        """What stands in the text area."""
        return self.area.input_value()

    def painted(self, length: int) -> None:
        """Wait until a text of so many characters is on the screen."""
        expect(self.root).to_have_attribute("data-painted", str(length), timeout=PATIENCE)

    def write(self, text: str) -> None:
        """Put a text there at once, and wait for its picture."""
        self.area.fill(text)
        self.painted(len(text))

    def number(self, name: str) -> str:
        """One of the numbers under the text area."""
        return self.page.get_by_test_id(f"rnnviz-{name}").inner_text()

    def next(self) -> list[tuple[str, str]]:
        """The next characters' bars: (mark, probability as shown)."""
        rows = self.page.locator(".rv-next-list li:not(.rv-none)")
        return [
            (row.locator(".rv-symbol").inner_text(), row.locator(".rv-chance").inner_text())
            for row in rows.all()
        ]

    def column(self, share: float, panel: str = "states") -> tuple[float, float]:
        """A point of the figure: `share` of the way along it, inside a panel."""
        heat = self.page.locator(".rv-heat").bounding_box()
        assert heat is not None
        y = heat["y"] + heat["height"] * (0.5 if panel == "states" else 1.6)
        return heat["x"] + share * heat["width"], y


@pytest.fixture(scope="module")
def reader(browser: Browser) -> Iterator[BrowserContext]:
    """A reader's browser, which has fetched the scripts once."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, locale="en-GB")
    yield context
    context.close()


@pytest.fixture
def page(reader: BrowserContext) -> Iterator[Page]:
    """A page of its own; a script's error or a console error on it fails the test."""
    opened = reader.new_page()
    opened.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))

    def listen(message: ConsoleMessage) -> None:
        # Opened on a page other than the first, Streamlit finds its server by trying addresses.
        tried = "/_stcore/" in message.location.get("url", "")
        if message.type == "error" and message.text != REFUSED and not tried:
            wrong.append(message.text)

    opened.on("console", listen)
    yield opened
    for tab in reader.pages:  # the next test meets a reader who was never here
        if tab.url.startswith("http"):
            tab.evaluate("localStorage.clear()")
        tab.close()
    assert wrong == []


@pytest.fixture
def live(page: Page, app_url: str) -> Live:
    """The Explore page with the tiny GRU, its example painted."""
    page.goto(f"{app_url}/?model=tiny-gru")
    view = Live(page)
    expect(view.root).to_have_attribute("data-painted", "18", timeout=3 * PATIENCE)
    return view

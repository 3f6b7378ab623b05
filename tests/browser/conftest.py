"""One browser and one running app for all browser tests; a fresh page for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.driving import ROOT, browser_path, launch, serve

REQUIRED = bool(os.environ.get("RNNVIZ_REQUIRE_BROWSER"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; without one the tests are skipped, or fail where one is required."""
    with sync_playwright() as playwright:
        path = browser_path(playwright)
        if path is None:
            reason = "no Chromium here; install one, or name it in RNNVIZ_BROWSER"
            (pytest.fail if REQUIRED else pytest.skip)(reason)
        running = launch(playwright, path)
        yield running
        running.close()


@pytest.fixture(scope="session")
def app_url(models_folder: Path) -> Iterator[str]:
    """The address of `streamlit run app.py`, with the tiny models beside the shipped ones."""
    environment = {**os.environ, "RNNVIZ_MODELS": str(models_folder), "OMP_NUM_THREADS": "1"}
    with serve(ROOT / "app.py", environment=environment) as url:
        yield url


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of an English browser that must not break and must not leave this machine."""
    context = browser.new_context(locale="en-GB", viewport={"width": 1440, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    broken: list[str] = []
    opened.on("pageerror", lambda error: broken.append(str(error)))
    opened.on("request", lambda request: broken.append(request.url) if _is_away(request.url) else None)
    yield opened
    context.close()
    assert not broken


def _is_away(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("http", "https", "ws", "wss") and parts.hostname not in ("127.0.0.1", "localhost")

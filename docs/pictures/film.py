"""Records the moving picture that README opens with, from the app itself: `python docs/pictures/film.py`.

It writes typing-light.webp and typing-dark.webp beside this file, about ten seconds each. A sentence is typed
on Explore as it opens: coloured by the unit that its network's card names first, which is on inside a
quotation. A frame is a screenshot, taken once the view says that it has painted the text; how long it is
shown is a typist's pace, drawn from a seed. So the film is the same on a slow machine. It needs the extra
`test`, and Chromium.
"""

import io
import random
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.support.driving import browser_path, launch
from tests.support.serving import ROOT, serve

FOLDER = Path(__file__).parent
SCHEMES = ("light", "dark")
SIZE = (1280, 720)  # of the window, and of the film
TEXT = '"I know nothing," said Holmes. "There is a light on the moor." He closed the window.'
OPENING, EMPTY, END = 1200, 500, 2500  # milliseconds: all of it, nothing yet, all of it again
QUICK, SLOW = 60, 115  # milliseconds from key to key
QUALITY = 70  # of 100
PATIENCE = 120_000  # milliseconds, on a busy machine

Film = list[tuple[Image.Image, int]]
"""Frames, and how many milliseconds each is shown."""


def screenshot(page: Page, characters: int) -> Image.Image:
    """The window, once so many characters are on the screen."""
    expect(page.get_by_test_id("rnnviz-live")).to_have_attribute("data-painted", str(characters))
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    shot = page.screenshot(animations="disabled", caret="initial")
    return Image.open(io.BytesIO(shot)).convert("RGB")


def opened(page: Page, address: str) -> Locator:
    """Where one types, once the view is there."""
    page.goto(address)
    expect(page.locator("#first-picture")).to_have_count(0)
    expect(page.locator(".rv-scale span").first).to_be_visible()
    return page.get_by_role("textbox", name="Your text")


def played(page: Page, url: str) -> Film:
    """The whole film. It begins with how it ends: that is what is shown where nothing moves."""
    pace = random.Random(8)
    opened(page, f"{url}/?model=holmes-lstm&present=1").fill("")
    frames: Film = [(screenshot(page, 0), EMPTY)]
    for i, character in enumerate(TEXT, start=1):
        page.keyboard.type(character)
        frames.append((screenshot(page, i), QUICK if character == " " else pace.randint(QUICK, SLOW)))
    last = frames.pop()[0]
    return [(last, OPENING), *frames, (last, END)]


def record(browser: Browser, url: str, scheme: str) -> Path:
    """The film in light or dark, as a file."""
    width, height = SIZE
    page = browser.new_page(viewport={"width": width, "height": height}, locale="en-GB")
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    pictures, times = zip(*played(page, url), strict=True)
    page.close()
    file = FOLDER / f"typing-{scheme}.webp"
    first, *later_pictures = pictures
    first.save(
        file,
        save_all=True,
        append_images=later_pictures,
        duration=list(times),
        loop=0,
        quality=QUALITY,
        method=4,
    )
    return file


def main() -> None:
    expect.set_options(timeout=PATIENCE)
    with serve(ROOT / "app.py") as url, sync_playwright() as playwright:
        path = browser_path(playwright)
        if path is None:
            raise SystemExit("no Chromium here: install one, or name it in RNNVIZ_BROWSER")
        browser = launch(playwright, path)
        for scheme in SCHEMES:
            file = record(browser, url, scheme)
            print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e6:.2f} MB")
        browser.close()


if __name__ == "__main__":
    main()

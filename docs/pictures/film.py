"""Records README's moving pictures from the app and the page themselves: `python docs/pictures/film.py`.

It writes three files beside this one, of about ten seconds each:

    typing    in light and dark: a sentence is typed on Explore as it opens, coloured by the unit that its
              network's card names first, which is on inside a quotation. A frame is a screenshot, taken once
              the view says that it has painted the text; how long it is shown is a typist's pace, drawn from
              a seed. So the film is the same on a slow machine
    training  a minute in which a phone's window trains on names, six times as fast; how much it learns in
              that minute is this machine's

It needs the extra `test`, and Chromium.
"""

import io
import random
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from rnnviz.networks import checkpoint
from rnnviz.page import build, folder
from tests.support.driving import browser_path, launch
from tests.support.serving import ROOT, serve, serve_files

FOLDER = Path(__file__).parent
SIZE = (1280, 720)  # of the window, and of the film
PHONE = (390, 700)
TEXT = '"I know nothing," said Holmes. "There is a light on the moor." He closed the window.'
OPENING, EMPTY, END = 1200, 500, 2500  # milliseconds: all of it, nothing yet, all of it again
QUICK, SLOW = 60, 115  # milliseconds from key to key
SECONDS, FASTER = 60, 6  # of training
QUALITY = 70  # of 100
PATIENCE = 120_000  # milliseconds, on a busy machine

Film = list[tuple[Image.Image, int]]
"""Frames, and how many milliseconds each is shown."""


def screenshot(page: Page, characters: int) -> Image.Image:
    """The window, once so many characters are on the screen."""
    expect(page.get_by_test_id("rnnviz-live")).to_have_attribute("data-painted", str(characters))
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return shot(page)


def shot(page: Page) -> Image.Image:
    """The window as it is."""
    return Image.open(io.BytesIO(page.screenshot(animations="disabled", caret="initial"))).convert("RGB")


def opened(page: Page, address: str) -> Locator:
    """Where one types, once the view is there."""
    page.goto(address)
    expect(page.locator("#first-picture")).to_have_count(0)
    expect(page.locator(".rv-scale span").first).to_be_visible()
    return page.get_by_role("textbox", name="Your text")


def typing(page: Page, url: str) -> Film:
    """The whole film. It begins with how it ends: that is what is shown where nothing moves."""
    pace = random.Random(8)
    opened(page, f"{url}/?model=holmes-lstm&present=1").fill("")
    frames: Film = [(screenshot(page, 0), EMPTY)]
    for i, character in enumerate(TEXT, start=1):
        page.keyboard.type(character)
        frames.append((screenshot(page, i), QUICK if character == " " else pace.randint(QUICK, SLOW)))
    last = frames.pop()[0]
    return [(last, OPENING), *frames, (last, END)]


def training(page: Page, url: str) -> Film:
    """A minute of the page's training, a frame a second."""
    page.goto(f"{url}/page/?show=train")
    part = page.locator("#training")
    part.get_by_role("combobox", name="Text", exact=True).select_option("names")
    part.get_by_role("combobox", name="Train for", exact=True).select_option(str(SECONDS))
    part.get_by_role("button", name="Start", exact=True).click()
    expect(part.locator(".tr-said")).to_contain_text("perplexity")
    frames: Film = []
    while part.get_by_role("button", name="Pause", exact=True).is_visible():
        frames.append((shot(page), 1000 // FASTER))
        page.wait_for_timeout(1000)
    return [*frames, (shot(page), END // 2)]


def record(browser: Browser, file: Path, play: Callable[[Page], Film], size: tuple[int, int]) -> None:
    """Write a film of the window. It is light or dark by its file's name."""
    width, height = size
    page = browser.new_page(viewport={"width": width, "height": height}, locale="en-GB")
    page.emulate_media(color_scheme="dark" if file.stem.endswith("dark") else "light")
    pictures, times = zip(*play(page), strict=True)
    page.close()
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
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e6:.2f} MB")


def main() -> None:
    expect.set_options(timeout=PATIENCE)
    networks = [checkpoint.read_info(checkpoint.find("names-lstm"))]
    with (
        tempfile.TemporaryDirectory() as root,
        serve(ROOT / "app.py") as url,
        serve_files(Path(root)) as port,
        sync_playwright() as playwright,
    ):
        folder.write(Path(root) / "page", build.folder_files(networks))
        path = browser_path(playwright)
        if path is None:
            raise SystemExit("no Chromium here: install one, or name it in RNNVIZ_BROWSER")
        browser = launch(playwright, path)
        for scheme in ("light", "dark"):
            record(browser, FOLDER / f"typing-{scheme}.webp", partial(typing, url=url), SIZE)
        trained = partial(training, url=f"http://127.0.0.1:{port}")
        record(browser, FOLDER / "training.webp", trained, PHONE)
        browser.close()


if __name__ == "__main__":
    main()

"""Takes the stills of README and the guides from the app: every page, light and dark, English and Chinese.

    python -m docs.pictures.take [explore perplexity learn inside train] [--check DIFFERENT]

writes PAGE.png, PAGE-dark.png, PAGE.zh.png and PAGE.zh-dark.png beside this file, in 256 colours: enough for
a page, and a third of the size. A picture is taken once nothing on the page changes; texts are fixed, carets
and animations off. It takes five minutes and needs the extra `test`, and Chromium.

--check writes none of them: it fails where a page no longer looks as in its still, which somebody approved
when it was committed, and puts the new picture into the folder DIFFERENT. The distance is ꟻLIP's (Andersson
et al. 2020), the difference that an eye sees when one picture takes the other's place: 0 none, 1 black for
white.
"""

import argparse
import io
import os
import re
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from rnnviz import corpora
from tests.support.driving import browser_path, launch
from tests.support.serving import ROOT, serve

FOLDER = Path(__file__).parent
SIZE = (1440, 900)
LIMIT = 250_000
"""Bytes of a picture at most; tests/docs holds it."""
COLOURS = 256
LANGUAGES = {"en": "", "zh": ".zh"}
SCHEMES = {"light": "", "dark": "-dark"}
TILE = 40
"""Pixels along a tile, about a button's height: pictures are compared tile by tile, at half their size."""
MAX_DISTANCE = 0.08
"""Mean distance of a tile from which on a person should look: axes that are missing give 0.10 to 0.14."""
PATIENCE = 120_000  # milliseconds, on a busy machine


def explore(page: Page, url: str, language: str) -> None:
    """What a newcomer meets."""
    page.goto(f"{url}/?{urlencode({'lang': language})}")
    expect(page.locator("#first-picture")).to_have_count(0)
    expect(page.get_by_test_id("rnnviz-live")).to_have_attribute("data-painted", re.compile("[1-9]"))


def perplexity(page: Page, url: str, language: str) -> None:
    """The part of a novel that the model was not trained on."""
    page.goto(f"{url}/perplexity?{urlencode({'model': 'timemachine-gru', 'lang': language})}")
    text = corpora.open_corpus("timemachine").split().held_out
    file = {"name": "last-chapters.txt", "mimeType": "text/plain", "buffer": text.encode()}
    page.locator("input[type=file]").first.set_input_files([file])
    answer = page.locator(".st-key-answer")
    expect(answer.get_by_test_id("stMetricValue")).to_be_visible()
    still(page)
    answer.evaluate("(e) => { e.style.scrollMarginTop = '24px'; e.scrollIntoView({ block: 'start' }); }")


def learn(page: Page, url: str, language: str) -> None:
    """How a recurrent layer uses one set of weights at every step."""
    page.goto(f"{url}/learn?{urlencode({'step': 'adjacent', 'lang': language})}")


def inside(page: Page, url: str, language: str) -> None:
    """Which units tell whether a quotation is open."""
    page.goto(f"{url}/inside?{urlencode({'model': 'holmes-lstm', 'lang': language, 'part': 'units'})}")
    expect(page.get_by_test_id("rnnviz-dashboard").first).to_have_attribute("data-drawn", re.compile(r"\d+"))


def train(page: Page, url: str, language: str) -> None:
    """A shipped network's own training, replayed to its end."""
    page.goto(f"{url}/train?{urlencode({'run': 'shipped:timemachine-gru', 'lang': language})}")
    view = page.locator("[data-testid=rnnviz-training]:not([hidden])")
    expect(view.locator(".rt-lines .main-svg").first).to_be_visible()
    expect(view).to_have_attribute("data-playing", "false")


PAGES: dict[str, Callable[[Page, str, str], None]] = {
    "explore": explore,
    "perplexity": perplexity,
    "learn": learn,
    "inside": inside,
    "train": train,
}


def still(page: Page) -> bytes:
    """The window once all work is done, and two pictures of it a second apart are one."""
    page.mouse.move(0, 0)
    before, shot = b"", b"-"
    while shot != before:
        page.evaluate("new Promise((done) => setTimeout(done, 1000))")
        expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
        expect(page.get_by_test_id("stProgress")).to_have_count(0)
        before, shot = shot, page.screenshot(animations="disabled", caret="hide")
    return shot


def take_picture(browser: Browser, url: str, name: str, language: str, scheme: str) -> Image.Image:
    """One picture."""
    width, height = SIZE
    page = browser.new_page(
        viewport={"width": width, "height": height},
        locale={"en": "en-GB", "zh": "zh-CN"}[language],
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page.set_default_timeout(PATIENCE)
    PAGES[name](page, url, language)
    picture = Image.open(io.BytesIO(still(page))).convert("RGB")
    page.close()
    return picture.quantize(COLOURS, dither=Image.Dither.NONE)


def distance(first: Image.Image, second: Image.Image) -> float:
    """The largest mean distance of a tile of one picture to the other's; 1 where their sizes differ."""
    import flip_evaluator  # which not every machine has a build of: the tests of the stills need none

    if first.size != second.size:
        return 1.0
    floats = [np.asarray(picture.convert("RGB").reduce(2), np.float32) / 255 for picture in (first, second)]
    distances = np.squeeze(flip_evaluator.evaluate(*floats, "LDR", applyMagma=False)[0])
    rows, columns = (size // TILE for size in distances.shape)
    tiles = distances[: rows * TILE, : columns * TILE].reshape(rows, TILE, columns, TILE)
    return float(tiles.mean(axis=(1, 3)).max())


def written(picture: Image.Image, file: Path) -> str:
    """Write a picture; what there is to say of it."""
    picture.save(file, optimize=True)
    if (size := file.stat().st_size) > LIMIT:
        raise SystemExit(f"{file.name} has {size:,} bytes; at most {LIMIT:,}")
    return f"{file.name}: {file.stat().st_size / 1000:.0f} kB"


def main() -> None:
    words = argparse.ArgumentParser(description="Take the stills of README and the guides.")
    words.add_argument("pages", nargs="*", choices=[[], *PAGES], metavar="PAGE", help=", ".join(PAGES))
    words.add_argument("--check", type=Path, metavar="DIFFERENT", help="compare; where to put what differs")
    arguments = words.parse_args()
    expect.set_options(timeout=PATIENCE)
    changed_names = []
    with tempfile.TemporaryDirectory() as runs, sync_playwright() as playwright:
        path = browser_path(playwright)
        if path is None:
            raise SystemExit("no Chromium here: install one, or name it in RNNVIZ_BROWSER")
        with serve(ROOT / "app.py", environment={**os.environ, "RNNVIZ_RUNS": runs}) as url:
            browser = launch(playwright, path)
            for name, language, scheme in product(arguments.pages or PAGES, LANGUAGES, SCHEMES):
                picture = take_picture(browser, url, name, language, scheme)
                file = FOLDER / f"{name}{LANGUAGES[language]}{SCHEMES[scheme]}.png"
                if arguments.check is None:
                    print(written(picture, file))
                    continue
                with Image.open(file) as approved:
                    change = distance(approved, picture)
                print(f"{file.name}: {change:.3f}")
                if change > MAX_DISTANCE:
                    arguments.check.mkdir(parents=True, exist_ok=True)
                    written(picture, arguments.check / file.name)
                    changed_names.append(file.name)
            browser.close()
    if changed_names:
        raise SystemExit(
            f"not as approved: {', '.join(changed_names)}; see {arguments.check}, "
            "and take them anew if they should be"
        )


if __name__ == "__main__":
    main()

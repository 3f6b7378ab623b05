"""A browser and a running app, for the browser tests and the benchmarks."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, FloatRect, Locator, Page, Playwright, expect

LAUNCH = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
WITHIN = 60.0  # seconds in which a page shows what it should; the machine may be busy


def browser_path(playwright: Playwright) -> str | None:
    """A Chromium on this machine: the one named by RNNVIZ_BROWSER, an installed one, or Playwright's own."""
    named = os.environ.get("RNNVIZ_BROWSER")
    if named:
        return named
    for name in NAMES:
        value = shutil.which(name)
        if value:
            return value
    playwrights = playwright.chromium.executable_path
    return playwrights if Path(playwrights).exists() else None


def launch(playwright: Playwright, path: str, *flags: str) -> Browser:
    """A headless browser that stays off the network."""
    return playwright.chromium.launch(executable_path=path, args=[*LAUNCH, *flags])


def once_app_stands(page: Page, load: Callable[..., Any]) -> Callable[..., Any]:
    """`load`, such as the page's `goto`, which returns once the app's first picture has given way to it."""

    def loaded(*arguments: Any, **options: Any) -> Any:
        response = load(*arguments, **options)
        expect(page.locator("#first-picture")).to_have_count(0, timeout=1000 * WITHIN)
        return response

    return loaded


def tabs(page: Page, key: str) -> Iterator[str]:
    """Each sub-page of an open page, chosen by a click; its name, once the address holds it as `key`."""
    choices, name = page.locator(f".st-key-{key}").get_by_role("radio"), ""
    expect(choices.first).to_be_visible()
    for choice in choices.all():
        choice.click()
        page.mouse.move(0, 0)
        expect(page).to_have_url(re.compile(rf"[?&]{key}=(?!{name or '-'}(&|$))"))
        name = re.findall(rf"[?&]{key}=(\w+)", page.url)[0]
        yield name


def box_of(element: Locator) -> FloatRect:
    """Where an element stands on the screen."""
    box = element.bounding_box()
    assert box is not None
    return box


def letter(text: Locator, t: int, side: str = "left") -> tuple[float, float]:
    """A point in the left or right half of character `t` of a coloured text in one piece."""
    text.scroll_into_view_if_needed()
    rect: FloatRect = text.evaluate(
        r"""(pane, t) => {
            const { firstChild: node } = pane.querySelector(".ct-chunk");
            const parts = node.data.match(/⏎\n|‹[0-9A-F]+›|[^]/gu);
            const range = document.createRange();
            range.setStart(node, parts.slice(0, t).join("").length);
            range.setEnd(node, parts.slice(0, t).join("").length + parts[t].length);
            const { x, y, width, height } = range.getClientRects()[0];
            return { x, y, width, height };
        }""",
        t,
    )
    return rect["x"] + rect["width"] * (0.25 if side == "left" else 0.75), rect["y"] + rect["height"] / 2


def drag(text: Locator, first: int, last: int) -> None:
    """Select characters `first` to `last` of a coloured text with the mouse."""
    mouse = text.page.mouse
    mouse.move(*letter(text, first))
    mouse.down()
    mouse.move(*letter(text, last, "right"), steps=4)
    mouse.up()


def click_table(table: Locator, x: float, y: float) -> None:
    """Click in a table, once it has been drawn and knows the pointer."""
    table.scroll_into_view_if_needed()
    box, mouse = box_of(table), table.page.mouse
    mouse.move(box["x"] + x, box["y"] + y)
    expect(table.get_by_test_id("stElementToolbar")).to_be_visible()
    mouse.down()
    mouse.up()


HIGHLIGHTED = """(element, name) => [...CSS.highlights].flatMap(([key, all]) =>
    !key.startsWith(`ct-${name}`) ? [] : [...all]
        .filter((range) => element.contains(range.startContainer))
        .map(({ startContainer: node, startOffset: from, endOffset: to }) =>
            [from, node.data.slice(from, to), key])
).sort((a, b) => a[0] - b[0])"""


def highlighted(element: Locator, name: str) -> list[str]:
    """The pieces of an element's coloured texts that bear a highlight whose name begins so."""
    return [text for _start, text, _name in element.evaluate(HIGHLIGHTED, name)]


def until(element: Locator, look: str, accepts: Callable[[Any], bool], arg: object = None) -> Any:
    """What `look`, a function of the element in JavaScript, returns, once it is wanted.

    The element is looked up each time: Streamlit may make it anew meanwhile.
    """
    end = time.monotonic() + WITHIN
    while not accepts(value := element.evaluate(look, arg)):
        assert time.monotonic() < end, f"after {WITHIN} s it is still {value!r}"
        element.page.wait_for_timeout(30)
    return value


def until_highlighted(element: Locator, name: str, length: int) -> None:
    """Wait until so many UTF-16 units bear a highlight."""
    until(element, HIGHLIGHTED, lambda pieces: sum(len(piece[1]) for piece in pieces) == length, name)


def expect_highlighted(element: Locator, name: str, pieces: list[str]) -> None:
    """Wait until these pieces of an element's coloured texts, and no others, bear a highlight."""
    until(element, HIGHLIGHTED, lambda value: [text for _start, text, _name in value] == pieces, name)


def until_changed(element: Locator, look: str, before: object) -> Any:
    """Wait until `look`, a function of the element in JavaScript, returns something else; what it returns.

    Nothing, while what it looks at is being drawn anew, doesn't count.
    """
    return until(element, look, lambda value: value not in (None, before))


def make_anew(root: Locator) -> None:
    """Have Streamlit mount a component anew with the answer that is there, as it may while a page loads.

    The page turns dark by it.
    """
    root.evaluate(
        """(old) => {
            const other = old.cloneNode(false);
            for (const name of Object.keys(other.dataset)) if (name !== "testid") delete other.dataset[name];
            other.hidden = true;
            old.replaceWith(other);
        }"""
    )
    root.page.emulate_media(color_scheme="dark")

"""Every page as axe-core sees it: contrast, names, headings, how large a target is; in both themes."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import inaccessible, settle, upload
from tests.support.driving import tabs
from tests.support.lecturing import Lectern

BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 25, 30)"}


def explore(page: Page, url: str) -> Iterator[str]:
    page.goto(url)
    yield "as it opens"
    page.get_by_text("More", exact=True).click()
    yield "with what stands behind More"
    page.get_by_role("button", name="Show what could follow").click()
    page.locator(".rv-step button").first.click()
    expect(page.locator(".rv-step [aria-current]")).to_be_visible()
    yield "with the tree of continuations"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Present").click()
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    yield "presented"


def perplexity(page: Page, url: str) -> Iterator[str]:
    page.goto(f"{url}/perplexity?model=tiny-gru")
    yield from tabs(page, "section")
    page.goto(f"{url}/perplexity?model=tiny-gru&section=against")
    upload(page, {"a.txt": b"The Time Traveller smiled.\n" * 20, "b.txt": b"grey eyes " * 30})
    expect(page.locator(".st-key-texts canvas").first).to_be_visible()
    yield "a scored file beside another"


def inside(page: Page, url: str) -> Iterator[str]:
    page.goto(f"{url}/inside?model=tiny-gru")
    yield from tabs(page, "part")


def train(page: Page, url: str) -> Iterator[str]:
    page.goto(f"{url}/train")
    page.get_by_role("radio", name="English").hover()
    yield "without a run, its language pointed at"
    page.get_by_test_id("stBaseButton-primary").first.hover()
    yield "its button pointed at"
    page.goto(f"{url}/train?run=shipped:timemachine-gru")
    expect(page.locator(".rt-lines .main-svg").first).to_be_attached()
    yield "a run"
    page.get_by_role("button", name="Present").click()
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    yield "a run, presented"


def learn(page: Page, url: str) -> Iterator[str]:
    lectern = Lectern(page, url)
    for step, answered in lectern.tour():
        yield f"{step.name}, answered: {answered}"
    lectern.open(step="joined", code=1)
    expect(lectern.root.locator("aside.ln-code")).to_be_visible()
    yield "a step with its code"


@pytest.mark.slow
@pytest.mark.parametrize("tour", [explore, perplexity, inside, train, learn])
def test_axe_finds_nothing_wrong(
    page: Page, app_url: str, tour: Callable[[Page, str], Iterator[str]]
) -> None:
    page.emulate_media(color_scheme="light")
    schemes, violations = ["light", "dark"], {}
    for place in tour(page, app_url):
        for scheme in schemes:  # names, headings and sizes are the same in the dark
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            expect(page.get_by_test_id("stApp")).to_have_css("background-color", BACKGROUNDS[scheme])
            settle(page)
            violations[place, scheme] = inaccessible(
                page, *(() if scheme == "light" else ("color-contrast",))
            )
        schemes.reverse()  # the next place begins as this one ends
    assert {place: lines for place, lines in violations.items() if lines} == {}

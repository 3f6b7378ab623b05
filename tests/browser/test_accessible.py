"""Every page as axe-core sees it: contrast, names, headings; in both themes."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

PAGES = (
    "",
    "?present=1",
    *(f"perplexity?section={name}" for name in ("where", "against", "sum", "compression", "export")),
    *(
        f"inside?part={name}"
        for name in ("units", "match", "map", "gates", "memory", "cause", "patch", "compare")
    ),
    "train",
    "train?run=shipped:timemachine-gru",
    "train?run=shipped:timemachine-gru&present=1",
    *(f"learn?scene={number}" for number in range(1, 10)),
    "learn?scene=4&code=1",
    "learn?scene=9&step=3",
)
# A landmark's second name is looked for by nobody, and the uploader's part is Streamlit's own.
BEARABLE = {"landmark-unique", "presentation-role-conflict"}
BACKGROUNDS = ("rgb(255, 255, 255)", "rgb(18, 25, 30)")
SETTLED = "() => Promise.allSettled(document.getAnimations().map((one) => one.finished)).then(() => true)"


def settle(page: Page) -> None:
    """Wait until nothing is being computed, drawn or faded."""
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    page.wait_for_function(SETTLED)


def wrong(page: Page, *rules: str) -> list[str]:
    """A line for each thing that axe finds wrong, by these rules or by all, with where it is."""
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{one['impact']} {one['id']}: {node['target'][-1]} {node['html'][:120]} {node['failureSummary']}"
        for one in found
        if one["id"] not in BEARABLE
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("address", PAGES)
def test_axe_finds_nothing_wrong(page: Page, app_url: str, address: str) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(f"{app_url}/{address}")
    in_both_themes(page)


def test_axe_finds_nothing_wrong_with_a_scored_file_beside_another(page: Page, app_url: str) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(f"{app_url}/perplexity?section=against")
    texts = {"a.txt": "The Time Traveller smiled.\n" * 20, "b.txt": "grey eyes " * 30}
    page.locator("input[type=file]").set_input_files(
        [{"name": name, "mimeType": "text/plain", "buffer": text.encode()} for name, text in texts.items()]
    )
    expect(page.locator(".st-key-texts canvas").first).to_be_visible()
    in_both_themes(page)


def in_both_themes(page: Page) -> None:
    """Fail for anything that axe finds wrong with the page in the light theme, then in the dark."""
    rules = ((), ("color-contrast",))  # names and headings are the same in the dark
    for scheme, background, looked in zip(("light", "dark"), BACKGROUNDS, rules, strict=True):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        expect(page.get_by_test_id("stApp")).to_have_css("background-color", background)
        settle(page)
        assert wrong(page, *looked) == []

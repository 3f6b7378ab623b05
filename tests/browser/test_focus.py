"""Where the focus is in Explore, what is said aloud, and what outlives the server's restart."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import PATIENCE, SCREEN, Live
from tests.support.browser import open_perplexity, score_file
from tests.support.explore_page import OPENING
from tests.support.serving import ROOT, free_port, serve


@pytest.mark.usefixtures("anew")
def test_typing_announces_nothing(live: Live) -> None:
    live_regions = live.page.locator(
        ".rnnviz [aria-live], .rnnviz [role='status'], .rnnviz [role='alert'], .rnnviz output"
    )
    silence = [""] * live_regions.count()
    assert live_regions.all_inner_texts() == silence
    live.area.press("End")
    live.press(*" was")
    live.reads(f"{OPENING} was")
    assert live_regions.all_inner_texts() == silence
    live.figure.press("Home")
    expect(live.page.locator(".rv-said")).to_contain_text("character 1")  # what a key asked for is said


@pytest.mark.slow
def test_server_restart_keeps_text_and_focus(browser: Browser, models_folder: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "RNNVIZ_RUNS": str(tmp_path), "RNNVIZ_MODELS": str(models_folder)}
    port = free_port()
    context = browser.new_context(viewport=SCREEN, locale="en-GB")
    context.set_default_timeout(PATIENCE)
    scoring = context.new_page()
    with serve(ROOT / "app.py", environment=environment, port=port, warm=False) as url:
        open_perplexity(scoring, url)
        score_file(scoring, "mine.txt", b"The Time Traveller smiled.")
        read = Live(context.new_page(), url)
        live = Live(context.new_page(), url)
        live.press(*" was")
        live.reads(f"{OPENING} was")
        live.press("ArrowLeft")
    expect(live.page.get_by_role("dialog")).to_be_visible()  # Streamlit's, which takes the focus
    expect(live.area).not_to_be_focused()
    # The browser comes back by itself.
    with serve(ROOT / "app.py", environment=environment, port=port, warm=False):
        expect(live.page.get_by_role("dialog")).to_be_hidden()
        expect(live.area).to_be_focused()
        live.press("n")
        live.reads(f"{OPENING} wans")
        read.page.bring_to_front()
        read.area.press("End")
        read.press("!")  # nothing was typed yet, so Streamlit alone would ask for nothing
        read.reads(f"{OPENING}!")
        scoring.bring_to_front()
        scoring.get_by_text("How it's calculated").click()
        expect(scoring.get_by_text("no longer here")).to_be_visible()
        expect(scoring.get_by_text("Perplexity of an example")).to_be_visible()
        expect(scoring.get_by_text("mine.txt")).to_have_count(0)
    context.close()

"""Where the focus is in Explore, whether it can be seen, and what is said aloud."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import PATIENCE, SCREEN, Live
from tests.browser.driving import ROOT, free_port, serve
from tests.browser.test_bars import OPENING
from tests.browser.test_perplexity import open_page, scored


@pytest.mark.usefixtures("anew")
def test_the_text_has_the_focus_on_opening(live: Live) -> None:
    expect(live.area).to_be_focused()
    live.page.keyboard.type("s")
    live.painted(19)
    assert live.text == OPENING + "s"


def test_the_focus_comes_back_when_the_dialog_that_took_it_is_gone(live: Live) -> None:
    expect(live.area).to_be_focused()
    live.page.evaluate(
        """() => {
            const dialog = document.createElement("div");
            dialog.id = "takes-the-focus";
            dialog.role = "dialog";
            dialog.tabIndex = -1;
            document.body.append(dialog);
            dialog.focus();
        }"""
    )
    expect(live.area).not_to_be_focused()
    live.page.evaluate("document.getElementById('takes-the-focus').remove()")
    expect(live.area).to_be_focused()


def test_every_stop_of_the_tab_key_shows_a_ring(live: Live) -> None:
    live.more()
    live.area.focus()
    seen = set()
    for _ in range(16):
        live.page.keyboard.press("Tab")
        found = live.page.evaluate(
            """() => {
                let at = document.activeElement;
                while (at?.shadowRoot) at = at.shadowRoot.activeElement;
                const style = getComputedStyle(at);
                const inside = Boolean(at.getRootNode().host);
                return [inside, at.className, style.outlineStyle, parseFloat(style.outlineWidth)];
            }"""
        )
        inside, name, style, width = found
        if inside:
            seen.add(name)
            assert style == "solid", name
            assert width >= 2, name
    assert {"rv-touch", "rv-temperature", "rv-pad"} <= seen


@pytest.mark.usefixtures("anew")
def test_nothing_chatters_while_one_types(live: Live) -> None:
    said = live.page.locator(
        ".rnnviz [aria-live], .rnnviz [role='status'], .rnnviz [role='alert'], .rnnviz output"
    )
    before = [element.inner_text() for element in said.all()]
    assert set(before) == {""}
    live.area.press("End")
    live.page.keyboard.type(" was")
    live.painted(22)
    assert [element.inner_text() for element in said.all()] == before
    live.figure.focus()
    live.page.keyboard.press("Home")
    expect(live.page.locator(".rv-said")).to_contain_text("character 1")  # what a key asked for is said
    live.page.keyboard.press("ArrowRight")
    expect(live.page.locator(".rv-said")).to_contain_text("character 2")


@pytest.mark.slow
def test_a_server_that_restarts_takes_neither_text_nor_focus_and_gives_no_file_an_example_s_figures(
    browser: Browser, models_folder: Path, tmp_path: Path
) -> None:
    environment = {**os.environ, "RNNVIZ_RUNS": str(tmp_path), "RNNVIZ_MODELS": str(models_folder)}
    port = free_port()
    context = browser.new_context(viewport=SCREEN, locale="en-GB")
    context.set_default_timeout(PATIENCE)
    scoring = context.new_page()
    with serve(ROOT / "app.py", environment=environment, port=port, warm=False) as url:
        open_page(scoring, url)
        scored(scoring, "mine.txt", b"The Time Traveller smiled.")
        live = Live(context.new_page(), url)
        live.page.keyboard.type(" was")
        live.painted(22)
        live.page.keyboard.press("ArrowLeft")
    expect(live.page.get_by_role("dialog")).to_be_visible()  # Streamlit's, which takes the focus
    expect(live.area).not_to_be_focused()
    with serve(
        ROOT / "app.py", environment=environment, port=port, warm=False
    ):  # the browser comes back by itself
        expect(live.page.get_by_role("dialog")).to_be_hidden()
        expect(live.area).to_be_focused()
        live.page.keyboard.type("n")
        live.painted(23)
        assert live.text == OPENING + " wans"
        scoring.bring_to_front()
        scoring.get_by_text("How it's calculated").click()
        expect(scoring.get_by_text("your files are no longer here")).to_be_visible()
        expect(scoring.get_by_text("Perplexity of an example")).to_be_visible()
        expect(scoring.get_by_text("mine.txt")).to_have_count(0)
    context.close()

"""The Explore page in a browser: what a reader does, what must be seen, and what must not happen."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import rnnviz
from rnnviz.figures import live as figures
from tests.browser.conftest import Live
from tests.support.browser import choose_model, holds_text
from tests.support.explore_page import MODEL, OPENING
from tests.support.models import tiny, tiny_card


@pytest.mark.usefixtures("anew")
def test_explore_opens_with_bars_on_one_screen(live: Live) -> None:
    expect(live.page.locator(".rv-next-list li:not(.rv-none)")).to_have_count(figures.LISTED_NEXT + 1)
    expect(live.page.locator(".rv-note")).to_have_count(0)  # nothing is foreign in it
    # The whole view fits on the screen.
    assert live.page.get_by_test_id("stMain").evaluate("(e) => e.scrollHeight - e.clientHeight") <= 0


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize("model", ["timemachine-gru"])
def test_memoryless_network_is_shown_and_kept_in_address(live: Live) -> None:
    page, switch = live.page, live.page.get_by_role("switch", name="Without memory")
    line, caption = page.locator(".rv-line-memoryless"), page.get_by_text("sees only the last character")
    first = page.locator(".rv-next-list li").first
    for element in (line, caption, first.locator(".rv-share")):
        expect(element).to_be_hidden()
    switch.check()
    expect(caption).to_be_visible()
    text = f"{live.text} The lever"
    live.area.press("End")
    live.press(*" The lever")
    live.reads(text)
    networks = [rnnviz.trace(rnnviz.load(f"timemachine-{cell}"), text) for cell in ("gru", "mlp")]
    with_memory, without = (f"{read.perplexity[-1]:.2f}" for read in networks)
    assert live.number("perplexity") == with_memory
    expect(line).to_have_text(f"without memory{without}")
    ((symbol, _p),) = networks[0].top(len(text), 1)
    q = np.exp(networks[1].log_probs[-1])[networks[1].vocabulary.encode(symbol)[0]]
    expect(first.locator(".rv-share")).to_have_text(f"{q:.1%}".replace("%", " %"))
    expect(first.get_by_role("button")).to_have_accessible_name(re.compile("; without memory "))
    expect(page).to_have_url(re.compile("[?&]memoryless=1(&|$)"))
    holds_text(page, text)
    page.reload()
    live.painted(len(text))
    expect(switch).to_be_checked()
    expect(line).to_have_text(f"without memory{without}")
    choose_model(page, "Python code, LSTM")  # beside which there is none
    expect(switch).to_be_hidden()
    expect(page).to_have_url(re.compile("model=python-lstm(?!.*memoryless)"))
    choose_model(page, "The Time Machine, RNN")
    expect(line).to_be_visible()
    switch.uncheck()
    expect(line).to_be_hidden()


def test_characters_are_counted_as_code_points(live: Live) -> None:
    text = "一只🐒\tcafe\u0301\nשלום"
    live.write(text)
    assert live.number("characters") == str(len(text))
    assert live.number("unknown") == str(sum(c not in MODEL.vocabulary for c in text))
    live.page.mouse.move(*live.column(2.5 / 24))
    expect(live.readout).to_contain_text("“🐒”: surprisal")
    live.area.press("Control+End")
    live.press("!")
    live.reads(text + "!")


def test_composition_sends_nothing(page: Page, app_url: str) -> None:
    sent: list[Any] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda data: sent.append(data)))
    live = Live(page, app_url)
    live.area.press("End")
    input_method = page.context.new_cdp_session(page)
    page.wait_for_function("() => document.readyState === 'complete'")
    before = len(sent)
    for part in ("n", "ni", "ni h", "你好"):
        input_method.send("Input.imeSetComposition", {"text": part, "selectionStart": 0, "selectionEnd": 0})
    assert live.text.endswith("你好")
    assert len(sent) == before
    assert live.root.get_attribute("data-painted") == "18"
    input_method.send("Input.insertText", {"text": "你好"})
    live.reads(f"{OPENING}你好")


def test_typing_stops_continue(live: Live) -> None:
    again = live.page.get_by_role("button", name="Continue")
    again.click()
    expect(live.area).to_have_value(re.compile(f"^{OPENING}.{{5}}", re.DOTALL))
    live.press("Control+End", "Q")
    expect(again).to_be_visible()
    live.painted(len(live.text))
    assert live.text.endswith("Q")
    assert len(live.text) < 18 + 120


def test_text_survives_model_page_and_language_changes(live: Live) -> None:
    page = live.page
    live.write("pale face")
    before = live.number("perplexity")
    choose_model(page, "tiny-lstm")
    expect(page.get_by_test_id("rnnviz-perplexity")).not_to_have_text(before)
    live.reads("pale face")
    page.get_by_role("link", name="Perplexity").click()
    expect(page.get_by_test_id("stFileUploader")).to_be_visible()
    page.get_by_role("link", name="Explore").click()
    live.reads("pale face")
    page.get_by_text("中文").click()
    text = page.locator(".rv-text")
    expect(text).not_to_have_attribute("aria-label", "Your text")
    expect(text).to_have_value("pale face")


def test_addresses_in_names_are_no_links(app_url: str, folder: Path, page: Page) -> None:
    addresses = "https://example.org/x www.example.org a@example.org"
    path = folder / "models" / "addressed.safetensors"
    rnnviz.save(
        tiny("gru", card={**tiny_card(), "title": addresses, "versions": {addresses: addresses}}), path
    )
    missing = quote(f"none {addresses}")
    for where in ("?model=addressed", f"?model={missing}", f"train?run={missing}"):
        page.goto(f"{app_url}/{where}")
        expect(page.get_by_text(re.compile("a\u2060?@example.org")).first).to_be_visible()
        links = page.eval_on_selector_all("a", "(all) => all.map((a) => a.href)")
        assert not [link for link in links if re.match(r"(https?://(www\.)?|mailto:a@)example\.org", link)]
    path.unlink()

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
from rnnviz.text.characters import visible
from rnnviz.ui.pages.explore.session import LIMIT
from tests.browser.conftest import Live
from tests.browser.test_address import holds_text
from tests.conftest import tiny, tiny_card

MODEL = tiny("gru", card=tiny_card())


def perplexity(text: str) -> str:
    """The perplexity that the page must show."""
    value = float(rnnviz.trace(MODEL, text).perplexity[-1])
    return f"{value:,.0f}" if value >= 10_000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"


@pytest.mark.usefixtures("anew")
def test_it_is_alive_on_opening(live: Live) -> None:
    assert live.text == "The Time Traveller"
    assert live.number("characters") == "18"
    assert live.number("perplexity") == perplexity("The Time Traveller")
    bars = live.next()
    assert len(bars) == figures.NEXT + 1
    trace = rnnviz.trace(MODEL, live.text)
    best, probability = trace.top(len(trace), 1)[0]
    assert bars[0] == (
        visible(best),
        f"{probability:.1%}".replace("%", " %"),
    )
    # The whole view fits on the screen.
    overflow = "(e) => e.scrollHeight - e.clientHeight"
    assert live.page.get_by_test_id("stMain").evaluate(overflow) <= 0


def test_typing(live: Live) -> None:
    live.area.press("End")
    live.page.keyboard.type(" was here")
    live.painted(27)
    assert live.text == "The Time Traveller was here"
    assert live.number("perplexity") == perplexity(live.text)
    assert live.area.evaluate("(e) => e.selectionStart") == 27  # the caret never jumps


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize("model", ["timemachine-gru"])
def test_without_memory_stands_beside_while_one_types_and_in_the_address(live: Live) -> None:
    page, switch = live.page, live.page.get_by_role("switch", name="Without memory")
    line, caption = page.locator(".rv-line-memoryless"), page.get_by_text("reads one character only")
    first = page.locator(".rv-next-list li").first
    for shown in (line, caption, first.locator(".rv-share")):
        expect(shown).to_be_hidden()
    switch.check()
    expect(caption).to_be_visible()
    live.area.press("End")
    page.keyboard.type(" The lever")
    live.painted(len(live.text))
    networks = [rnnviz.trace(rnnviz.load(f"timemachine-{cell}"), live.text) for cell in ("gru", "mlp")]
    own, without = (f"{read.perplexity[-1]:.2f}" for read in networks)
    assert live.number("perplexity") == own
    expect(line).to_have_text(f"without memory{without}")
    ((symbol, p),) = networks[0].top(len(live.text), 1)
    q = np.exp(networks[1].log_probs[-1])[networks[1].vocabulary.encode(symbol)[0]]
    for part, chance in ((".rv-chance", p), (".rv-share", q)):
        expect(first.locator(part)).to_have_text(f"{chance:.1%}".replace("%", " %"))
    expect(first.get_by_role("button")).to_have_accessible_name(re.compile("; without memory "))
    expect(page).to_have_url(re.compile("[?&]memoryless=1(&|$)"))
    holds_text(page, live.text)
    page.reload()
    live.painted(len(live.text))
    expect(switch).to_be_checked()
    expect(line).to_have_text(f"without memory{without}")
    others = {"The Time Machine, LSTM": "timemachine-lstm", "Python code, GRU": "python-gru"}
    for title, model in {**others, "The Time Machine, RNN": "timemachine-rnn"}.items():
        stays = model != "python-gru"
        page.get_by_test_id("stSidebar").get_by_role("combobox").click()
        page.get_by_role("option", name=title).click()
        expect(switch).to_be_visible(visible=stays)
        expect(line).to_be_visible(visible=stays)
        said = ".*memoryless=1" if stays else "(?!.*memoryless)"
        expect(page).to_have_url(re.compile(f"model={model}{said}"))
    switch.uncheck()
    expect(line).to_be_hidden()


def test_deleting_in_the_middle(live: Live) -> None:
    live.area.press("Home")
    for _ in range(4):
        live.page.keyboard.press("Delete")
    live.painted(14)
    assert live.text == "Time Traveller"
    assert live.number("perplexity") == perplexity("Time Traveller")
    assert live.area.evaluate("(e) => e.selectionStart") == 0


def test_an_empty_text_has_no_perplexity_and_still_a_prediction(live: Live) -> None:
    live.write("")
    assert live.number("perplexity") == "–"
    assert live.next()[0][0] == visible(rnnviz.trace(MODEL, "").top(0, 1)[0][0])


def test_pasting_twenty_thousand_characters(live: Live) -> None:
    text = ("His grey eyes shone and twinkled. " * 600)[:LIMIT]
    live.write(text)
    assert live.number("characters") == "20,000"
    assert live.number("perplexity") == perplexity(text)
    live.area.press("Control+End")
    live.area.fill(text + "and more")
    expect(live.page.locator(".rv-limit")).to_contain_text("20,000")
    expect(live.page.get_by_role("link", name="Perplexity page")).to_be_visible()
    assert live.text == text
    assert live.page.locator(".rv-editor *").count() < 20  # not an element for every character


def test_the_window_moves_and_comes_back(live: Live) -> None:
    text = "He was expounding a recondite matter to us. " * 10
    live.write(text)
    where = live.page.locator(".rv-where")
    expect(where).to_contain_text(f"to {len(text)} of")
    live.page.locator(".rv-range").fill("0")
    expect(where).to_contain_text("characters 1 to")
    live.page.mouse.move(*live.column(0.002))
    expect(live.readout).to_contain_text("character 1 ·")
    live.page.get_by_role("button", name="follow the caret").click()
    expect(where).to_contain_text(f"to {len(text)} of")


def test_the_keyboard_alone(live: Live) -> None:
    live.figure.focus()
    live.page.keyboard.press("Home")
    expect(live.readout).to_contain_text("character 1 ·")
    live.page.keyboard.press("ArrowRight")
    live.page.keyboard.press("Enter")
    live.page.keyboard.press("ArrowDown")
    expect(live.colour).to_have_text(re.compile(r"^unit \d+$"))
    live.page.get_by_text("More", exact=True).focus()
    expect(live.readout).to_contain_text("character 2 ·")
    live.page.keyboard.press("Escape")
    expect(live.page.locator(".rv-pinned")).to_be_hidden()


def test_gates_and_the_cell(live: Live, app_url: str) -> None:
    live.more()
    live.page.get_by_role("combobox", name="Show").select_option("update gate Z")
    expect(live.page.locator(".rv-title-states")).to_contain_text("update gate Z", ignore_case=True)
    live.page.goto(f"{app_url}/?model=tiny-lstm")
    live.painted(18)
    expect(live.page.locator(".rv-key-states")).to_have_text("−1+1")
    live.more()
    live.page.get_by_role("combobox", name="Show").select_option("cell C")
    expect(live.page.locator(".rv-title-states")).to_contain_text("cell C", ignore_case=True)
    expect(live.page.locator(".rv-key-states")).to_have_text("lowhigh")  # it has no bounds


def test_another_model_reads_the_same_text(live: Live) -> None:
    live.write("matter to us")
    before = live.number("perplexity")
    live.page.get_by_test_id("stSidebar").get_by_role("combobox").click()
    live.page.get_by_role("option", name="tiny-lstm").click()
    expect(live.page.get_by_test_id("rnnviz-perplexity")).not_to_have_text(before)
    assert live.text == "matter to us"
    live.painted(12)
    expect(live.page.locator(".rv-quantity option")).to_have_count(6)


def test_chinese_emoji_and_marks_are_counted_as_code_points(live: Live) -> None:
    text = "一只🐒\tcafe\u0301\nשלום"
    live.write(text)
    assert live.number("characters") == str(len(text))
    unknown = sum(c not in MODEL.vocabulary for c in text)
    assert live.number("unknown") == str(unknown)
    live.page.mouse.move(*live.column(2.5 / 24))
    expect(live.readout).to_contain_text("“🐒”: surprisal")
    live.area.press("Control+End")
    live.page.keyboard.type("!")
    live.painted(len(text) + 1)
    assert live.text == text + "!"


def test_nothing_is_sent_while_an_input_method_composes(page: Page, app_url: str) -> None:
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
    live.painted(20)
    assert live.text == "The Time Traveller你好"


def test_html_stays_text(live: Live) -> None:
    text = "<img src=x onerror=\"document.title='owned'\"><b>bold</b>"
    live.write(text)
    assert live.text == text
    assert live.page.locator(".rnnviz img, .rv-editor b").count() == 0
    assert live.page.title() != "owned"
    live.page.mouse.move(*live.column(0.01))
    expect(live.readout).to_contain_text("“<”: surprisal")


def test_examples_replace_the_text_and_undo_brings_it_back(live: Live) -> None:
    live.page.get_by_role("button", name="One word", exact=True).click()
    live.painted(7)
    assert live.text == "machine"
    live.page.keyboard.press("Control+z")
    live.painted(18)
    assert live.text == "The Time Traveller"


def test_continue_writes_on_and_stops_when_the_reader_types(live: Live) -> None:
    live.page.get_by_role("button", name="Continue").click()
    expect(live.area).to_have_value(re.compile(".{23}", re.DOTALL))
    assert live.text.startswith("The Time Traveller")
    live.page.keyboard.press("Control+End")
    live.page.keyboard.type("Q")
    expect(live.page.get_by_role("button", name="Continue")).to_be_visible()
    length = len(live.text)
    live.painted(length)
    assert live.text.endswith("Q")
    assert length < 18 + 120


def test_the_last_keystroke_wins(live: Live) -> None:
    live.area.press("End")
    text = " and his usually pale face"
    live.area.evaluate(
        "(e, text) => { for (const c of text) { e.value += c; e.dispatchEvent(new InputEvent('input')); } }",
        text,
    )
    live.painted(18 + len(text))
    assert live.number("perplexity") == perplexity("The Time Traveller" + text)


def test_the_page_can_be_left_and_come_back_to(live: Live) -> None:
    live.write("usually pale")
    live.page.get_by_role("link", name="Perplexity").click()
    expect(live.page.get_by_test_id("stFileUploader")).to_be_visible()
    live.page.get_by_role("link", name="Explore").click()
    live.painted(12)
    assert live.text == "usually pale"


def test_the_words_change_with_the_language(live: Live) -> None:
    live.write("pale face")
    live.page.get_by_text("中文").click()
    expect(live.page.locator(".rv-text")).not_to_have_attribute("aria-label", "Your text")
    assert live.page.locator(".rv-text").input_value() == "pale face"


def test_dark_is_dark(page: Page, app_url: str) -> None:
    page.emulate_media(color_scheme="dark")
    live = Live(page, app_url)
    expect(live.root).to_have_attribute("data-theme", "dark")
    corner = page.locator(".rv-heat").evaluate(
        "(c) => [...c.getContext('2d').getImageData(c.width - 2, 2, 1, 1).data]"
    )
    assert max(corner[:3]) < 64  # the empty part of the heat map is the page's own dark


def test_without_plotly_it_says_what_to_do(page: Page, app_url: str) -> None:
    page.route("**/plotly/plotly.min.js", lambda route: route.abort())
    Live(page, app_url)  # what doesn't need it works
    expect(page.locator(".rv-limit")).to_contain_text("streamlit run app.py")


def test_two_readers_do_not_see_each_other(live: Live, app_url: str) -> None:
    second = Live(live.page.context.new_page(), app_url)
    live.write("flushed")
    second.write("animated, and his")
    assert live.number("perplexity") == perplexity("flushed")
    assert second.number("perplexity") == perplexity("animated, and his")


def test_addresses_in_a_card_and_in_names_are_text(app_url: str, folder: Path, page: Page) -> None:
    said = "https://example.org/x www.example.org a@example.org"
    path = folder / "models" / "addressed.safetensors"
    rnnviz.save(tiny("gru", card={**tiny_card(), "title": said, "versions": {said: said}}), path)
    missing = quote(f"none {said}")
    for where in ("?model=addressed", f"?model={missing}", f"train?run={missing}"):
        page.goto(f"{app_url}/{where}")
        expect(page.get_by_text(re.compile("a\u2060?@example.org")).first).to_be_visible()
        links = page.eval_on_selector_all("a", "(all) => all.map((a) => a.href)")
        assert not [link for link in links if re.match(r"(https?://(www\.)?|mailto:a@)example\.org", link)]
    path.unlink()

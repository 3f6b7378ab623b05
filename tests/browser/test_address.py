"""The address in a browser: a reload, Back and Forward bring the view back, and a button copies it."""

from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from rnnviz.ui.shell.address import MAX_ADDRESS_TEXT_CHARS, pack_text
from tests.browser.conftest import Live
from tests.support.browser import MODEL_FIELD, choose_model, holds, holds_text

anew = pytest.mark.usefixtures("anew")  # with a history of its own


def query(page: Page) -> dict[str, str]:
    """What the address holds."""
    return {name: values[-1] for name, values in parse_qs(urlsplit(page.url).query).items()}


@anew
def test_reload_restores_view(live: Live) -> None:
    page = live.page
    holds(page, {"model": "tiny-gru", "text": None})
    live.area.press("End")
    page.keyboard.type(", 水🐒 said")
    text = "The Time Traveller, 水🐒 said"
    live.reads(text)
    live.open_more()
    page.get_by_role("combobox", name="Show").select_option("update gate Z")
    page.mouse.click(*live.column(0.1))
    expect(page.locator(".rv-pinned")).to_be_visible()
    live.area.evaluate("(area) => { area.focus(); area.setSelectionRange(4, 4); }")
    holds(page, {"quantity": "update", "at": "4"})
    holds_text(page, text)
    before_reload = query(page)
    assert before_reload.keys() == {"model", "text", "quantity", "at", "pin", "unit"}
    page.reload()
    live.reads(text)
    expect(page.locator(".rv-title-states")).to_contain_text("update gate Z", ignore_case=True)
    expect(live.colour).to_have_text(f"unit {before_reload['unit']}")
    expect(page.locator(".rv-pinned")).to_be_visible()
    assert live.area.evaluate("(area) => area.selectionStart") == 4
    assert query(page) == before_reload


@anew
def test_history_restores_models_examples_and_pages(live: Live) -> None:
    page = live.page
    live.write("matter to us")
    holds_text(page, "matter to us")
    choose_model(page, "tiny-lstm")
    holds(page, {"model": "tiny-lstm"})
    page.get_by_role("button", name="One word", exact=True).click()
    holds_text(page, "machine")
    page.get_by_role("link", name="Perplexity").click()
    holds(page, {"model": "tiny-lstm", "text": None})
    page.go_back()
    live.reads("machine")
    page.go_back()
    live.reads("matter to us")
    live.area.press("End")
    live.press("!")
    holds_text(page, "matter to us!")  # in the entry that was gone back to
    for turn, text, model in (  # what was typed has no entry of its own
        (page.go_back, "matter to us", "tiny-gru"),
        (page.go_forward, "matter to us!", "tiny-lstm"),
        (page.go_forward, "machine", "tiny-lstm"),
    ):
        turn()
        live.reads(text)
        expect(page.locator(MODEL_FIELD)).to_have_value(model)
        holds_text(page, text)  # the page has come to rest: nobody turns faster
    page.go_forward()
    expect(page.get_by_test_id("stFileUploader")).to_be_visible()
    holds(page, {"model": "tiny-lstm"})


@anew
def test_page_left_before_it_was_read_keeps_the_readers_model(live: Live) -> None:
    page = live.page
    choose_model(page, "tiny-lstm")
    holds(page, {"model": "tiny-lstm"})
    live.write("matter to us")
    holds_text(page, "matter to us")
    page.evaluate(
        """() => {
            const push = history.pushState;
            history.pushState = (...entry) => {
                history.pushState = push;
                push.apply(history, entry);
                history.back(); // the page's values come later, with the answer
            };
        }"""
    )
    page.get_by_role("link", name="Perplexity").click()
    page.wait_for_function("history.length > 2 && location.pathname === '/'")
    live.reads("matter to us")
    expect(page.locator(MODEL_FIELD)).to_have_value("tiny-lstm")
    holds_text(page, "matter to us")
    page.go_forward()
    expect(page.get_by_test_id("stFileUploader")).to_be_visible()
    holds(page, {"model": "tiny-lstm", "section": "origin"})
    expect(page.locator(MODEL_FIELD)).to_have_value("tiny-lstm")


def test_share_copies_current_address(live: Live) -> None:
    page, share = live.page, live.page.get_by_role("button", name="Share")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    live.write("usually pale")
    share.click()
    expect(page.get_by_text("Address copied.")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    page.context.clear_permissions()
    expect(page).to_have_url(copied)
    Live(page.context.new_page(), copied).reads("usually pale")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    share.click()
    expect(page.get_by_role("textbox", name="Copy this address:")).to_have_value(page.url)
    page.goto("about:blank")  # the next reader has a clipboard


@anew
def test_long_text_is_cut_in_address_with_note(live: Live) -> None:
    page = live.page
    text = "His grey eyes shone and twinkled. " * 70
    live.write(text)
    expect(page.locator(".rv-note-long")).to_contain_text("the first 2,000 characters")
    holds(page, {"of": str(len(text))})
    page.reload()
    live.reads(text[:MAX_ADDRESS_TEXT_CHARS])
    expect(page.locator(".rv-note-cut")).to_contain_text(f"the first 2,000 of {len(text):,} characters")


def test_markup_stays_text_and_damaged_text_is_noted(page: Page, app_url: str) -> None:
    html = "<img src=x onerror=\"document.title='owned'\"><b>bold</b>"
    live = Live(page, f"{app_url}/?model=tiny-gru&text={quote(html)}")
    live.reads(html)
    page.mouse.move(*live.column(0.01))
    expect(live.readout).to_contain_text("“<”: surprisal")
    assert page.locator(".rnnviz img, .rv-editor b").count() == 0
    assert page.title() != "owned"
    Live(page, f"{app_url}/?model=tiny-gru&text={pack_text('machine')[:-4]}AAAA")
    expect(page.locator(".rv-note-wrong")).to_contain_text("The text in the address is")
    holds(page, {"text": None})

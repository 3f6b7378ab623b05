"""A text that is foreign to the model: one sentence, one click; and examples that choose a model."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import Live
from tests.support.browser import MODEL_FIELD

TEXT = "行者笑道：“师父莫怕！那妖精就在前面山里。”"
CHINESE = "Journey to the West (Chinese), GRU"


def test_foreign_text_offers_another_model(page: Page, app_url: str) -> None:
    live = Live(page, app_url, "timemachine-gru")
    live.write(TEXT)
    note = page.locator(".rv-note-foreign")
    expect(note).to_contain_text("The Time Machine, GRU hasn't learnt this kind of text.")
    assert "million" in live.number("perplexity")
    page.get_by_role("button", name=f"Use {CHINESE}?").click()
    expect(page.locator(MODEL_FIELD)).to_have_value(CHINESE)
    expect(note).to_have_count(0)
    live.painted(len(TEXT))
    assert live.text == TEXT
    assert "million" not in live.number("perplexity")
    live.area.press("Control+End")
    page.keyboard.type("好")
    live.painted(len(TEXT) + 1)  # the conversation goes on


def test_example_chooses_model_and_shows_notice(page: Page, app_url: str) -> None:
    Live(page, app_url, "timemachine-gru")
    examples = page.get_by_role("group", name="Examples").get_by_role("button")
    examples.nth(3).click()
    expect(page.locator(MODEL_FIELD)).to_have_value("Python code, LSTM")
    note = page.locator(".rv-note-notice")
    expect(note).to_contain_text("each changes the colour of a named row")
    examples.nth(4).click()
    expect(page.locator(MODEL_FIELD)).to_have_value(CHINESE)
    expect(note).to_contain_text("徒")
    page.get_by_role("textbox", name="Your text").press("End")
    page.keyboard.type("。")
    expect(note).to_be_hidden()  # it is another text now


def test_rewriting_makes_characters_known(page: Page, app_url: str) -> None:
    live = Live(page, app_url, "timemachine-gru")
    live.write("It’s late, “so” he said, and went home again.")
    before = float(live.number("perplexity"))
    note = page.locator(".rv-note-rewriting")
    expect(note).to_contain_text("With straight quotes: 3 fewer unknown.")
    page.get_by_role("button", name="Use straight quotes").click()
    straight = 'It\'s late, "so" he said, and went home again.'
    live.painted(len(straight))
    assert live.text == straight
    expect(note).to_be_hidden()
    assert float(live.number("perplexity")) < before

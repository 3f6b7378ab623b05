"""The Perplexity page and the shell around all pages, in a real browser."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest
from playwright.sync_api import Locator, Page, expect

from rnnviz.networks.checkpoint import load
from rnnviz.scoring.perplexity import perplexity
from tests.support.browser import open_perplexity, score_file, upload
from tests.support.driving import box_of, click_table, tabs


def figure(page: Page) -> Locator:
    """The large figure."""
    return page.locator(".st-key-answer").get_by_test_id("stMetricValue")


def test_dropped_files_are_scored_and_click_shows_one(page: Page, app_url: str, models_folder: Path) -> None:
    open_perplexity(page, app_url)
    texts = {"a.txt": "The Time Traveller smiled.\n" * 400, "b.txt": "grey eyes"}
    upload(page, {name: text.encode() for name, text in texts.items()})
    expect(page.get_by_text("Perplexity of a.txt")).to_be_visible()
    model = load(models_folder / "tiny-gru.safetensors")
    a, b = (f"{perplexity(model, text=text).perplexity:.2f}" for text in texts.values())
    expect(figure(page)).to_have_text(a)
    expect(page.get_by_test_id("stProgress")).to_have_count(0)  # what is above the table has come to rest
    table = page.locator(".st-key-texts").get_by_test_id("stDataFrame")
    click_table(table, 40, box_of(table)["height"] * 5 / 6)  # the last of head and two rows
    expect(page.get_by_text("Perplexity of b.txt")).to_be_visible()
    expect(page.get_by_role("combobox", name="Text shown below")).to_have_value("b.txt")
    expect(figure(page)).to_have_text(b)


CHINESE = "却说那怪物坐在上面，自思自想。" * 200


@pytest.mark.slow
def test_phone_page_has_no_overlap(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_perplexity(page, app_url)
    score_file(page, "a.txt", CHINESE.encode())
    expect(figure(page)).to_contain_text(re.compile("million|billion"))
    for section in tabs(page, "section"):
        expect(page.get_by_text("Perplexity of a.txt")).to_be_visible()
        expect(page.get_by_test_id("stProgress")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, section
        assert page.locator(".st-key-answer").evaluate(OVERLAPS) == [], section


# Words that lie upon others, or outside the answer's frame.
OVERLAPS = """answer => {
    const frame = answer.getBoundingClientRect();
    const words = [...answer.querySelectorAll(".rv-scale span, [data-testid=stMetric] p, p")]
        .filter(e => e.textContent.trim() && e.checkVisibility({ visibilityProperty: true }));
    const boxes = words.map(e => {
        const range = document.createRange();
        range.selectNodeContents(e);
        return [e, range.getBoundingClientRect()];
    }).filter(([, box]) => box.width && box.height);
    const found = [];
    for (const [one, a] of boxes) {
        if (a.left < frame.left - 1 || a.right > frame.right + 1) found.push([one.textContent, "outside"]);
        for (const [other, b] of boxes) {
            if (one === other || one.contains(other) || other.contains(one)) continue;
            const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (across > 1 && down > 3) found.push([one.textContent, other.textContent]);
        }
    }
    return found;
}"""


def test_long_file_shows_progress_and_cancels(page: Page, app_url: str) -> None:
    open_perplexity(page, app_url)
    score_file(page, "a.txt", b"grey eyes")
    upload(page, {"long.txt": b"The Time Traveller smiled.\n" * 200_000})
    bar = page.get_by_test_id("stProgress")
    expect(bar).to_contain_text("perplexity so far")
    expect(bar).to_contain_text("left")
    page.get_by_text("How it's calculated").click()  # the page stays usable
    expect(page.get_by_text("start symbol")).to_be_visible()
    expect(bar).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(bar).to_have_count(0)
    expect(page.get_by_text("long.txt: cancelled")).to_be_visible()
    expect(page.get_by_text("Perplexity of a.txt")).to_be_visible()


TAKEN: dict[str, Callable[[Path], str]] = {
    "Results as JSON": lambda file: json.loads(file.read_text("utf-8"))[0]["file"],
    "Characters as CSV": lambda file: "".join(pandas.read_csv(file)["character"]),
    "Words as CSV": lambda file: " ".join(pandas.read_csv(file)["word"]),
    "Characters as Parquet": lambda file: "".join(pandas.read_parquet(file)["character"]),
    "HTML page": lambda file: re.findall("<svg", file.read_text("utf-8"))[0],
}


# The heights of the advice's row under a.txt, in every frame; 0 without a row.
WATCH_ADVICE = """
(() => {
    window.heights = new Set();
    const look = () => {
        const answer = document.querySelector(".st-key-answer");
        const row = answer?.querySelector(".st-key-advice");
        if (answer?.textContent.includes("Perplexity of a.txt")) heights.add(row?.offsetHeight ?? 0);
        requestAnimationFrame(look);
    };
    look();
})()
"""


def test_late_suggestion_moves_nothing(page: Page, app_url: str) -> None:
    page.add_init_script(WATCH_ADVICE)
    open_perplexity(page, app_url)
    score_file(page, "a.txt", b"The Time Traveller smiled.")
    expect(page.get_by_role("button", name="Use The Time")).to_be_visible()
    heights = page.evaluate("[...heights]")
    assert len(heights) == 1
    assert heights[0] > 0


def test_downloads_hold_every_character(page: Page, app_url: str, tmp_path: Path) -> None:
    text = "The Time Traveller smiled."
    open_perplexity(page, app_url, section="take")
    score_file(page, "a.txt", text.encode())
    contents = {}
    for label, read in TAKEN.items():
        with page.expect_download() as started:
            page.get_by_role("button", name=label).click()
        started.value.save_as(tmp_path / label)
        contents[label] = read(tmp_path / label)
    assert contents == {**dict.fromkeys(TAKEN, text), "Results as JSON": "a.txt", "HTML page": "<svg"}


def test_a_file_waits_for_a_busy_browser(page: Page, app_url: str) -> None:
    open_perplexity(page, app_url, section="take")
    score_file(page, "a.txt", b"The Time Traveller smiled.")
    with page.expect_download() as started:
        page.get_by_role("button", name="Words as CSV").click()
    other = page.context.new_page()
    for section in ("take", "curve"):  # two runs of the page at least
        open_perplexity(other, app_url, section=section)
        score_file(other, "b.txt", b"grey eyes")
    assert "Traveller" in page.request.get(started.value.url).text()


def test_result_stands_under_its_source_and_markup_stays_text(page: Page, app_url: str) -> None:
    open_perplexity(page, app_url)
    name = "<img src=x onerror=alert(1)>.txt"
    files, paste, corpus = (page.get_by_role("tab", name=name) for name in ("Upload", "Paste", "Pick"))
    paste.click()
    page.get_by_role("textbox", name="Text").fill("<img src=x onerror=\"document.title='owned'\">")
    page.get_by_role("button", name="Score this text").click()
    result = page.get_by_text("Perplexity of pasted text")
    expect(result).to_be_visible()
    corpus.click()
    expect(page.get_by_text("Pasted text, until you choose a text here")).to_be_visible()
    page.get_by_role("link", name="Inside").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Inside the network")
    page.get_by_role("link", name="Perplexity").click()
    expect(result).to_be_visible()
    expect(paste).to_have_attribute("aria-selected", "true")
    files.click()
    expect(page.get_by_text("Pasted text, until you choose a text here")).to_be_visible()
    score_file(page, name, b"The Time Traveller")
    paste.click()  # what it holds is scored again
    expect(result).to_be_visible()
    page.get_by_role("button", name="1 uploaded file").click()
    page.get_by_role("button", name="Pasted text", exact=True).click()  # one of two no more
    expect(page.get_by_text(f"Perplexity of {name}")).to_be_visible()
    expect(files).to_have_attribute("aria-selected", "true")
    assert page.locator("img[src=x]").count() == 0
    assert "owned" not in page.title()


def test_known_text_is_answered_in_chosen_language(page: Page, app_url: str) -> None:
    for _ in range(2):  # the second time its run is cut off before the language's switch is drawn
        open_perplexity(page, app_url, lang="zh")
        heading = page.get_by_role("heading", name="你的文本的困惑度")
        expect(heading).to_be_visible()
        upload(page, {"known.txt": b"The Time Traveller smiled. " * 40})
        expect(page).to_have_url(re.compile("files=known.txt"))
        expect(figure(page)).to_be_visible()
        expect(heading).to_be_visible()
        expect(page).to_have_url(re.compile("lang=zh"))


def test_streamlit_words_are_translated(page: Page, app_url: str) -> None:
    open_perplexity(page, app_url, lang="zh")
    field, menu = page.get_by_test_id("stFileUploader"), page.get_by_test_id("stMainMenuButton")
    expect(field).to_contain_text("上传")
    expect(field).not_to_contain_text(re.compile("Upload|per file"))
    expect(menu).to_have_attribute("aria-label", "主菜单")
    upload(page, {"Search": b"The Time"})
    expect(page.get_by_test_id("stFileChipName")).to_have_text("Search")  # what a reader named stays
    page.get_by_text("English", exact=True).click()
    expect(menu).to_have_attribute("aria-label", "Main menu")


def test_open_card_keeps_language_and_share_in_view(page: Page, app_url: str) -> None:
    open_perplexity(page, app_url)
    page.get_by_text("About this model").click()
    expect(page.get_by_text("parameters")).to_be_visible()
    sidebar = page.get_by_test_id("stSidebarContent")
    assert sidebar.evaluate("(e) => e.scrollHeight > e.clientHeight")
    expect(page.get_by_text("中文", exact=True)).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_in_viewport(ratio=1)

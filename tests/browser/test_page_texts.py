"""A reader's own text on the page without a server: what only a browser shows."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import rnnviz
from rnnviz.networks import checkpoint
from rnnviz.page import build, folder
from tests.support.browser import inaccessible
from tests.support.models import TEXT
from tests.support.serving import serve_files

LONG = " ".join(TEXT.split() * 60)


@pytest.fixture(scope="module")
def site(models_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("site")
    infos = [checkpoint.read_info(models_folder / f"tiny-{cell}.safetensors") for cell in ("gru", "lstm")]
    folder.write(root / "page", build.folder_files(infos))
    (root / "one.html").write_text(build.single_file(infos[0]), "utf-8")
    return root


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with serve_files(site) as port:
        yield f"http://127.0.0.1:{port}/page/"


class Texts:
    """The page's part for whole texts. A console message or an error of the page fails the test."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.wrong: list[str] = []
        page.on(
            "console", lambda message: self.wrong.append(message.text) if message.type == "error" else None
        )
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.goto(address)
        page.get_by_role("button", name="Perplexity of a text").click()
        self.root = page.locator("#texts")
        expect(self.root.locator(".tp-of")).to_have_text("Perplexity of the example")

    def open(self, name: str, content: bytes) -> None:
        self.root.locator("input[type=file]").set_input_files(
            {"name": name, "mimeType": "", "buffer": content}
        )

    def read(self, name: str, content: bytes) -> float:
        """The perplexity of a file."""
        self.open(name, content)
        number = self.root.locator(".tp-number", has_text=f"Perplexity of {name}").locator("b")
        expect(number).to_be_visible()
        return float(number.inner_text().replace(",", ""))


@pytest.fixture
def texts(page: Page, address: str) -> Iterator[Texts]:
    opened = Texts(page, address)
    yield opened
    assert opened.wrong == []


def test_file_has_the_packages_figures_and_leaves_nothing(texts: Texts, models_folder: Path) -> None:
    requests: list[str] = []
    texts.page.on("request", lambda request: requests.append(request.url))
    text = f"{TEXT[:600]}\r\né 道\n"
    score = rnnviz.perplexity(rnnviz.load(models_folder / "tiny-gru.safetensors"), text)
    assert texts.read("story.txt", text.encode()) == pytest.approx(score.perplexity, abs=0.006)
    facts = texts.root.locator(".tp-facts dd").all_inner_texts()
    assert facts[:4] == [
        f"{score.bits_per_character:.3f}", f"{score.bits_per_byte:.3f}", f"{score.characters:,}", "2",
    ]  # fmt: skip
    assert float(facts[4]) == pytest.approx(score.perplexity_known, abs=0.006)
    assert requests == [], "the text is read here"


def test_second_network_reads_beside_the_first(texts: Texts, models_folder: Path) -> None:
    texts.read("story.txt", TEXT.encode())
    texts.root.get_by_role("combobox", name="Compare with").select_option("tiny-lstm")
    score = rnnviz.perplexity(rnnviz.load(models_folder / "tiny-lstm.safetensors"), TEXT)
    beside = texts.root.locator(".tp-second")
    expect(beside).to_have_text(re.compile(rf"^{score.perplexity:.1f}\d with "))
    viewer = texts.root.get_by_test_id("rnnviz-viewer")
    expect(viewer.get_by_role("combobox", name="Colour").get_by_role("option")).to_have_count(3)
    expect(viewer.locator(".vw-path.vw-model-1")).to_have_count(2)
    expect(viewer.locator(".vw-legend")).to_contain_text("last 50 characters")
    texts.read("short.txt", TEXT[:50].encode())
    expect(viewer.locator(".vw-legend")).to_have_text("tiny-grutiny-lstm")  # there is one line each


def test_pasted_text_passages_and_table(texts: Texts, tmp_path: Path) -> None:
    root = texts.root
    root.get_by_role("textbox", name="Paste a text").fill(LONG[:3000])
    for key in ("A", "X", "V"):  # the paste is read at once
        texts.page.keyboard.press(f"ControlOrMeta+{key}")
    expect(root.locator(".tp-of")).to_have_text("Perplexity of the pasted text")
    root.locator(".tp-passages button").first.click()
    place = int(root.locator(".tp-passages td").nth(1).inner_text().replace(",", ""))
    viewer = root.get_by_test_id("rnnviz-viewer")
    expect(viewer.locator(".vw-passage")).to_be_visible()
    expect(viewer.locator(".vw-pane")).to_be_in_viewport()
    with texts.page.expect_download() as download:
        root.get_by_role("link", name="Characters as CSV").click()
    rows = list(csv.DictReader(download.value.path().read_text("utf-8").splitlines()))
    assert len(rows) == 3000
    assert place <= 3000


def test_reload_keeps_pasted_text_until_a_file_is_read(texts: Texts) -> None:
    page, root, text = texts.page, texts.root, LONG[:300]
    pasted = root.get_by_role("textbox", name="Paste a text")

    def reload(name: str) -> None:
        page.reload()
        expect(root.locator(".tp-of")).to_have_text(f"Perplexity of the {name}")

    for kept, name in ((text, "pasted text"), ("a " * 100_001, "example")):
        pasted.fill(kept)
        root.get_by_role("button", name="Read the pasted text").click()
        expect(root.locator(".tp-of")).to_have_text("Perplexity of the pasted text")
        reload(name)
        expect(pasted).to_have_value(kept if name == "pasted text" else "")
    pasted.fill(text)
    root.get_by_role("button", name="Read the pasted text").click()
    expect(root.locator(".tp-of")).to_have_text("Perplexity of the pasted text")
    texts.read("story.txt", TEXT.encode())
    reload("example")


def test_character_has_predictions_of_the_network(texts: Texts) -> None:
    texts.read("story.txt", TEXT[:300].encode())
    viewer = texts.root.get_by_test_id("rnnviz-viewer")
    viewer.get_by_role("textbox", name="Go to character").fill("100")
    viewer.get_by_role("textbox", name="Go to character").press("Enter")
    detail = viewer.locator(".vw-detail")
    expect(detail).to_contain_text("character 100 of 300")
    expect(detail.locator("li").first).to_contain_text("%")


REFUSED = {
    "empty.txt": (b"", "This text is empty"),
    "picture.txt": (
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        "picture.txt is not a text file: it looks like PNG data",
    ),
    "large.txt": (b"a" * 30_000_001, "large.txt has 30,000,001 bytes"),
    "binary.txt": (b"abc\0def", "byte 3 is NUL"),
    "cut.txt": (("äöü" * 9).encode() + b"\xc3", "is UTF-8 but damaged"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_file_that_is_no_text_gets_a_sentence(texts: Texts, name: str) -> None:
    content, sentence = REFUSED[name]
    texts.open(name, content)
    expect(texts.root.get_by_role("alert")).to_contain_text(sentence)
    expect(texts.root.locator(".tp-answer")).to_be_hidden()
    texts.read("story.txt", b"The Time Machine")
    expect(texts.root.get_by_role("alert")).to_be_hidden()


def test_gb18030_is_found_and_can_be_changed(texts: Texts) -> None:
    texts.open("book.txt", "人之初，性本善。".encode("gb18030"))
    expect(texts.root.locator(".tp-of")).to_have_text("Perplexity of book.txt")
    encoding = texts.root.get_by_role("combobox", name="Encoding")
    expect(encoding).to_have_value("gb18030")
    viewer = texts.root.get_by_test_id("rnnviz-viewer")
    expect(viewer.locator(".vw-pane")).to_have_text("人之初，性本善。")
    encoding.select_option("windows-1252")
    expect(viewer.locator(".vw-pane")).to_contain_text("ÈËÖ®³õ")
    encoding.select_option("utf-8")
    expect(texts.root.get_by_role("alert")).to_contain_text("book.txt is not utf-8: byte 0 (0xC8)")


def test_stopped_reading_shows_its_beginning(texts: Texts) -> None:
    texts.open("endless.txt", (LONG * 40).encode())
    texts.root.get_by_role("button", name="Stop and show").click()
    sentences = texts.root.locator(".tp-sentences")
    expect(sentences).to_contain_text(re.compile(r"Only the first [\d,]+ of [\d,]+ characters were read"))
    characters = texts.root.locator(".tp-facts dd").nth(2).inner_text()
    expect(sentences).to_contain_text(f"first {characters} of")


def test_newer_reading_ends_those_before(texts: Texts, models_folder: Path) -> None:
    long_text = (LONG * 40).encode()
    stop = texts.root.get_by_role("button", name="Stop and show")
    texts.open("endless.txt", long_text)
    expect(stop).to_be_visible()
    network = texts.page.get_by_role("combobox", name="Network")
    network.select_option("tiny-lstm")
    texts.open("picture.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    expect(texts.root.get_by_role("alert")).to_contain_text("PNG")
    expect(stop).to_be_hidden()
    texts.open("endless.txt", long_text)
    network.select_option("tiny-gru")
    texts.open("story.txt", TEXT.encode())
    score = rnnviz.perplexity(rnnviz.load(models_folder / "tiny-gru.safetensors"), TEXT)
    expect(texts.root.locator(".tp-of")).to_have_text("Perplexity of story.txt")
    assert float(texts.root.locator(".tp-number b").inner_text()) == pytest.approx(
        score.perplexity, abs=0.006
    )
    expect(texts.root).not_to_have_class(re.compile("tp-stale"))


def test_back_reads_with_the_network_before(texts: Texts) -> None:
    first = texts.read("story.txt", TEXT.encode())
    texts.page.get_by_role("combobox", name="Network").select_option("tiny-lstm")
    number = texts.root.locator(".tp-number b")
    expect(number).not_to_have_text(f"{first:.2f}")
    expect(texts.page).to_have_url(re.compile("model=tiny-lstm"))
    texts.page.go_back()
    expect(number).to_have_text(f"{first:.2f}")
    texts.page.get_by_role("button", name="Look inside").click()
    expect(texts.page).not_to_have_url(re.compile("show="))
    texts.page.go_back()
    expect(number).to_be_visible()


def test_comparison_that_is_stopped_is_not_shown(texts: Texts) -> None:
    texts.read("long.txt", (LONG * 20).encode())
    beside = texts.root.get_by_role("combobox", name="Compare with")
    beside.select_option("tiny-lstm")
    texts.root.get_by_role("button", name="Stop and show").click()
    expect(beside).to_have_value("")
    expect(texts.root.locator(".tp-second")).to_be_empty()


def test_dropped_text_and_language(texts: Texts) -> None:
    texts.page.evaluate(
        """() => {
            const transfer = new DataTransfer();
            transfer.items.add(new File(["The Time Machine"], "dropped.txt"));
            window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
        }"""
    )
    expect(texts.root.locator(".tp-of")).to_have_text("Perplexity of dropped.txt")
    texts.page.get_by_role("button", name="中文").click()
    expect(texts.root.locator(".tp-of")).to_have_text("困惑度：dropped.txt")


def test_single_file_reads_texts_too(page: Page, site: Path, models_folder: Path) -> None:
    texts = Texts(page, (site / "one.html").as_uri())
    score = rnnviz.perplexity(rnnviz.load(models_folder / "tiny-gru.safetensors"), TEXT)
    assert texts.read("story.txt", TEXT.encode()) == pytest.approx(score.perplexity, abs=0.006)
    assert texts.wrong == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_are_accessible(browser: Browser, address: str, width: int, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844},
        color_scheme=scheme,
        locale="en-GB",  # type: ignore[arg-type]
    )
    texts = Texts(context.new_page(), address)
    texts.read("story.txt", TEXT.encode())
    expect(texts.root.get_by_test_id("rnnviz-viewer")).to_be_visible()
    assert inaccessible(texts.page) == []
    assert texts.page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()

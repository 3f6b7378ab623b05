"""Training in the page without a server: what a reader sees of it, and what stays when it ends."""

import csv
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import rnnviz
from rnnviz.networks import checkpoint
from rnnviz.page import build, folder
from tests.support.browser import inaccessible
from tests.support.models import TEXT
from tests.support.serving import serve_files


@pytest.fixture(scope="module")
def site(models_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("site")
    info = checkpoint.read_info(models_folder / "tiny-gru.safetensors")
    folder.write(root / "page", build.folder_files([info]))
    (root / "one.html").write_text(build.single_file(info), "utf-8")
    return root


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with serve_files(site) as port:
        yield f"http://127.0.0.1:{port}/page/"


class Training:
    """The page's part that trains. A console message or an error of the page fails the test."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.wrong: list[str] = []
        page.on(
            "console", lambda message: self.wrong.append(message.text) if message.type == "error" else None
        )
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.goto(f"{address}?show=train")
        self.root = page.locator("#training")
        self.said = self.root.locator(".tr-said")
        self.heading = self.root.get_by_role("heading")
        expect(self.heading).to_contain_text("Press Start")

    def press(self, name: str) -> None:
        self.root.get_by_role("button", name=name, exact=True).click()

    def choose(self, label: str, value: str) -> None:
        self.root.get_by_role("combobox", name=label, exact=True).select_option(value)

    def set(self, label: str, value: str) -> None:
        field = self.root.get_by_role("textbox", name=label, exact=True)
        if not field.is_visible():
            self.root.get_by_text("More settings").click()
        field.fill(value)
        field.press("Tab")

    def start(self, text: str = "hello", seconds: int = 600) -> None:
        """Start a training, and wait for its first figures."""
        self.choose("Text", text)
        self.choose("Train for", str(seconds))
        self.press("Start")
        expect(self.said).to_contain_text("perplexity")

    def perplexity(self) -> float:
        match = re.search(r"perplexity (?:is )?([\d.,]+)", self.said.inner_text())
        assert match
        return float(match[1].replace(",", "").rstrip("."))

    def learns_below(self, perplexity: float) -> None:
        """Wait until the perplexity that it says is below this one."""
        self.page.wait_for_function(
            """(least) => {
                const said = document.querySelector("#training .tr-said").innerText;
                return Number(/perplexity ([\\d.]+\\d)/.exec(said)?.[1] ?? Infinity) < least;
            }""",
            arg=perplexity,
        )

    def stop(self) -> None:
        self.press("Stop")
        expect(self.root.get_by_role("link", name="Save", exact=True)).to_be_visible()
        expect(self.page.locator("progress.reading")).to_be_hidden()

    def save(self, target: Path) -> Path:
        with self.page.expect_download() as download:
            self.root.get_by_role("link", name="Save", exact=True).click()
        path = target / download.value.suggested_filename
        download.value.save_as(path)
        return path


Open = Callable[..., Training]


@pytest.fixture
def open_training(browser: Browser, address: str) -> Iterator[Open]:
    """Opens the part that trains, in one browser's context; the same one again has what was kept."""
    context = browser.new_context(locale="en-US", reduced_motion="reduce", accept_downloads=True)
    opened: list[Training] = []

    def open_page(where: str = address, script: str = "") -> Training:
        page = context.new_page()
        page.add_init_script(script)
        opened.append(Training(page, where))
        return opened[-1]

    yield open_page
    context.close()
    assert [message for training in opened for message in training.wrong] == []


def test_word_is_learnt_explored_saved_and_scored_by_the_package(open_training: Open, tmp_path: Path) -> None:
    training = open_training()
    page = training.page
    training.start()
    text = page.get_by_role("textbox", name="Your text")
    expect(text).to_have_value("hellohello")
    training.learns_below(1.5)
    training.stop()
    expect(page).to_have_title("your RNN 16 · “hello” · rnnviz")
    expect(text).to_have_value("hellohello")
    saved = training.save(tmp_path)
    assert saved.name == "hello-rnn-16.safetensors"
    model = rnnviz.load(saved)
    assert model.card["name"] == "hello-rnn-16"
    assert model.card["recipe"]["hidden_size"] == model.config.hidden_size == 16
    assert model.card["seed"] == 0
    # It says of any text what the package says of the file.
    page.get_by_role("button", name="Perplexity of a text").click()
    texts = page.locator("#texts")
    texts.get_by_role("textbox", name="Paste a text").fill("hello, hello!")
    texts.get_by_role("button", name="Read the pasted text").click()
    expect(texts.locator(".tp-of")).to_have_text("Perplexity of the pasted text")
    with page.expect_download() as download:
        texts.get_by_role("link", name="Characters as CSV").click()
    rows = csv.DictReader(download.value.path().read_text("utf-8").splitlines())
    costs = [float(row["nll"]) for row in rows]
    score = rnnviz.perplexity(model, "hello, hello!")
    assert score.perplexity == pytest.approx(math.exp(sum(costs) / len(costs)), rel=1e-4)
    # And the file is one for the page.
    page.locator("input.file").set_input_files(saved)
    expect(page).to_have_title("hello-rnn-16 · rnnviz")


def test_view_reads_a_readers_text_with_each_new_weights(open_training: Open) -> None:
    training = open_training()
    page = training.page
    text = page.get_by_role("textbox", name="Your text")
    text.fill("the man and the machine")
    training.choose("Hidden units H", "16")
    training.start("timemachine")
    live = page.get_by_test_id("rnnviz-live")
    expect(page).to_have_title("your GRU 16 · The Time Machine · rnnviz")
    number = page.get_by_test_id("rnnviz-perplexity")
    first = float(number.inner_text())
    assert first < 80  # untrained it guesses uniformly, of 69 symbols
    page.wait_for_function(
        """([number, most]) => Number(number.textContent) < most""",
        arg=[number.element_handle(), 0.5 * first],
    )
    text.press("Control+End")
    text.press_sequentially(" stood")
    expect(live).to_have_attribute("data-painted", "29")
    training.stop()
    expect(text).to_have_value("the man and the machine stood")


def test_pause_go_on_and_turning_away(open_training: Open) -> None:
    training = open_training()
    training.start()
    training.press("Pause")
    expect(training.root.get_by_role("status")).to_have_text("Paused.")
    paused = training.said.inner_text()
    training.page.get_by_role("button", name="Look inside").click()
    expect(training.root).to_be_hidden()
    expect(training.page).not_to_have_url(re.compile("show="))
    training.page.go_back()
    expect(training.root).to_be_visible()
    assert training.said.inner_text() == paused
    training.press("Go on training")
    expect(training.said).not_to_have_text(paused)
    training.page.get_by_role("button", name="Look inside").click()
    training.page.get_by_role("button", name="Train", exact=True).click()
    expect(training.page).to_have_url(re.compile("show=train"))
    training.stop()


def test_hidden_page_pauses_and_a_closed_one_is_offered_again(open_training: Open) -> None:
    training = open_training()
    training.start()
    training.learns_below(3)
    hide = """(hidden) => {
        Object.defineProperty(document, "hidden", { configurable: true, value: hidden });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    training.page.evaluate(hide, True)
    training.page.evaluate(hide, False)
    status = training.root.get_by_role("status")
    expect(status).to_have_text("Paused while the page was hidden.")
    training.page.evaluate(hide, True)
    training.press("Go on training")  # as a training that begins while the page is hidden
    training.page.evaluate(hide, False)
    expect(status).to_have_text("Paused while the page was hidden.")
    reached = training.perplexity()
    training.page.wait_for_function(
        "async () => (await indexedDB.databases()).some(({ name }) => name === 'rnnviz-training')"
    )
    training.page.close()
    again = open_training()
    kept = again.root.locator(".tr-kept")
    expect(kept).to_contain_text("Kept in this browser: your RNN 16 · “hello”, after")
    kept.get_by_role("button", name="Look at it").click()
    expect(again.page).to_have_title("your RNN 16 · “hello” · rnnviz")
    assert again.perplexity() == pytest.approx(reached, rel=0.5)
    looked = again.said.inner_text()
    again.press("Go on training")
    expect(again.said).not_to_have_text(looked)
    again.stop()


def test_finished_network_stays_until_everything_is_deleted(open_training: Open) -> None:
    training = open_training()
    training.start()
    training.stop()
    training.page.close()
    again = open_training()
    again.root.get_by_role("button", name="Look at it").click()
    expect(again.root.get_by_role("link", name="Save", exact=True)).to_be_visible()
    again.press("Delete everything")
    expect(again.root.get_by_role("status")).to_contain_text("keeps nothing of your training")
    expect(again.root.get_by_role("alert")).to_be_hidden()
    expect(again.page).to_have_title("tiny-gru · rnnviz")
    expect(again.page).not_to_have_url(re.compile("model="))
    expect(again.page.get_by_role("combobox", name="Network")).not_to_contain_text("your RNN")
    assert again.page.evaluate("async () => (await indexedDB.databases()).length") == 0
    again.page.reload()
    expect(again.heading).to_contain_text("Press Start")
    expect(again.root.locator(".tr-kept")).to_be_hidden()


REFUSING = {
    "refuses": (
        "IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); };",
        "This browser keeps nothing here, as in a private window.",
    ),
    "has none": ("delete window.indexedDB;", "This browser has no storage for pages."),
    "is full": (
        "IDBObjectStore.prototype.put = () => { throw new DOMException('no', 'QuotaExceededError'); };",
        "This browser's storage is full.",
    ),
}


@pytest.mark.parametrize("how", REFUSING)
def test_browser_that_keeps_nothing_is_told_and_trains(open_training: Open, how: str) -> None:
    script, sentence = REFUSING[how]
    training = open_training(script=script)
    unkept = training.root.locator(".tr-unkept")
    if how != "is full":
        expect(unkept).to_contain_text(sentence)
    training.start()
    training.learns_below(4)
    training.press("Pause")
    expect(unkept).to_contain_text(sentence)
    training.stop()


def test_large_steps_explode_with_their_norm(open_training: Open) -> None:
    training = open_training()
    training.choose("Text", "timemachine")
    training.choose("Cell", "rnn")
    training.set("Learning rate", "10")
    training.set("Gradient clipping", "0")
    training.press("Start")
    expect(training.said).to_contain_text(re.compile("above a uniform guess|no longer a number"))
    expect(training.root.locator(".tr-clipped")).to_contain_text("which nothing limits")
    assert training.root.locator(".tr-norm svg path").count() > 3


def test_own_text_of_a_file_and_wrong_ones(open_training: Open) -> None:
    training = open_training()
    training.choose("Text", "own")
    training.press("Start")
    expect(training.root.get_by_role("alert")).to_have_text("Paste a text first.")
    files = training.root.locator("input[type=file]")
    files.set_input_files({"name": "a.txt", "mimeType": "", "buffer": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"})
    expect(training.root.get_by_role("alert")).to_contain_text("a.txt is not a text file")
    text = TEXT * 20
    files.set_input_files({"name": "story.txt", "mimeType": "", "buffer": text.encode("utf-16")})
    expect(training.heading).to_contain_text("story.txt")
    training.choose("Hidden units H", "16")
    training.press("Start")
    expect(training.said).to_contain_text("on text that it doesn't train on. Guessing by letter frequencies")
    expect(training.page.get_by_role("textbox", name="Your text")).not_to_have_value("")
    training.stop()
    expect(training.said).to_contain_text("characters, its perplexity")


@pytest.mark.parametrize(
    ("label", "value", "limits"),
    [
        ("Learning rate", "1000", "a number from 0.00001 to 100"),
        ("Learning rate", "many", "a number from 0.00001 to 100"),
        ("Learning rate", "", "a number from 0.00001 to 100"),
        ("Gradient clipping", " ", "a number from 0 to 100"),
        ("Seed", "0x10", "a whole number from 0 to"),
        ("Seed", "1,000", "a whole number from 0 to"),
    ],
)
def test_dial_that_holds_no_number_is_refused_as_typed(
    open_training: Open, label: str, value: str, limits: str
) -> None:
    training = open_training()
    training.set(label, value)
    training.press("Start")
    alert = training.root.get_by_role("alert")
    expect(alert).to_contain_text(f"{label} is {limits}")
    expect(alert).to_contain_text(f"received “{value}”.")
    expect(alert).to_be_in_viewport()
    field = training.root.get_by_role("textbox", name=label, exact=True)
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_value(value)


def test_dials_that_a_reader_has_set_stay_when_the_text_changes(open_training: Open) -> None:
    training = open_training()
    rate = training.root.get_by_role("textbox", name="Learning rate", exact=True)
    training.set("Seed", "7")
    training.choose("Hidden units H", "48")
    rate.fill("0.5")
    rate.fill("0.")  # in the midst of typing
    training.choose("Text", "hello")
    expect(rate).to_have_value("0.")
    expect(training.root.get_by_role("textbox", name="Seed")).to_have_value("7")
    expect(training.heading).to_contain_text("a network of 48 RNN units reads “hello” for 10 s")


def test_file_with_the_name_of_a_text_of_the_page_is_the_readers(open_training: Open, tmp_path: Path) -> None:
    training = open_training()
    files = training.root.locator("input[type=file]")
    files.set_input_files({"name": "names", "mimeType": "", "buffer": b"abcd " * 30})
    expect(training.heading).to_contain_text("“names”")
    training.press("Start")
    expect(training.said).to_contain_text("perplexity")
    expect(training.heading).to_contain_text("RNN, 16 units · names ·")
    expect(training.page.get_by_role("textbox", name="Your text")).to_have_value(re.compile("^abcd abcd"))
    training.stop()
    saved = training.save(tmp_path)
    assert saved.name == "own-names-rnn-16.safetensors"
    card = rnnviz.load(saved).card
    assert (card["corpus"], card["title"]) == ("own-names", "names")


def test_lines_of_the_readers_are_texts_that_end(open_training: Open, tmp_path: Path) -> None:
    training = open_training()
    names = [f"{first}{last}" for first in ("Ann", "Bell", "Cor", "Dor") for last in ("a", "ie", "et", "wyn")]
    training.choose("Text", "own")
    training.root.get_by_role("textbox", name="Paste a text").fill("\n\n".join(names * 3))
    training.root.get_by_role("checkbox", name="Each line is a separate text").check()
    training.choose("Train for", "600")
    training.press("Start")
    training.learns_below(4)
    watched = training.page.get_by_role("textbox", name="Your text")
    assert watched.input_value() in names, "one text, not several in a row"
    expect(training.page.get_by_text("■ the text ends")).to_be_visible()
    training.stop()
    model = rnnviz.load(training.save(tmp_path))
    assert model.vocabulary.by_line
    written = {rnnviz.sample(model, "", 40, seed=seed) for seed in range(20)}
    assert written & set(names), "it ends what it writes where the names do"


def test_refused_and_too_short_texts(open_training: Open) -> None:
    training = open_training()
    alert = training.root.get_by_role("alert")
    files = training.root.locator("input[type=file]")
    files.set_input_files({"name": "a.txt", "mimeType": "", "buffer": b"abcd " * 30})
    expect(training.heading).to_contain_text("“a.txt”")
    files.set_input_files({"name": "b.txt", "mimeType": "", "buffer": b""})
    expect(alert).to_have_text("This file is empty; a training needs at least 2 characters.")
    expect(training.heading).to_contain_text("your text")
    training.press("Start")
    expect(alert).to_have_text("Paste a text first.")
    training.root.get_by_role("textbox", name="Paste a text").fill("a")
    training.press("Start")
    expect(alert).to_have_text("A text to train on has at least 2 characters; received 1.")


def test_keyboard_stays_in_the_panel(open_training: Open) -> None:
    training = open_training()
    training.choose("Text", "hello")
    training.choose("Train for", "600")
    buttons = training.root.get_by_role("button", name="Start", exact=True)
    buttons.press("Enter")
    expect(training.root.get_by_role("button", name="Pause")).to_be_focused()
    training.page.keyboard.press("Enter")
    expect(training.root.get_by_role("button", name="Go on training")).to_be_focused()
    text = training.page.get_by_role("textbox", name="Your text")
    training.page.keyboard.press("Enter")
    expect(training.root.get_by_role("button", name="Pause")).to_be_focused()
    training.page.keyboard.press("Tab")
    training.page.keyboard.press("Enter")  # Stop
    expect(training.root.get_by_role("link", name="Save", exact=True)).to_be_focused()
    training.press("Train another")
    expect(buttons).to_be_focused()
    training.choose("Train for", "10")
    training.press("Start")
    expect(training.said).to_contain_text("perplexity")
    text.focus()
    training.page.wait_for_function("() => document.querySelector('#training .tr-save').checkVisibility()")
    expect(text).to_be_focused()


def test_two_tabs_never_mix_their_trainings(open_training: Open) -> None:
    """The last that writes is kept, whole: also the order, though its tab wrote it once before."""
    first, second = open_training(), open_training()
    first.choose("Hidden units H", "48")
    first.start()
    pause_and_wait(first)
    second.start()
    pause_and_wait(second)
    first.press("Go on training")
    pause_and_wait(first)
    third = open_training()
    expect(third.root.locator(".tr-kept")).to_contain_text("your RNN 48 · “hello”")
    expect(third.root.locator(".tr-replaces")).to_have_text(
        "Start replaces the training that is kept here: your RNN 48 · “hello”."
    )
    third.root.get_by_role("button", name="Look at it").click()
    expect(third.heading).to_contain_text("RNN, 48 units")
    expect(third.page).to_have_title("your RNN 48 · “hello” · rnnviz")
    second.press("Delete everything")
    expect(second.root.get_by_role("status")).to_contain_text("Deleted")
    first.press("Go on training")
    pause_and_wait(first)
    fourth = open_training()
    expect(fourth.root.locator(".tr-kept")).to_contain_text("your RNN 48 · “hello”")


def pause_and_wait(training: Training) -> None:
    """Pause, and wait until the browser keeps the training as it is."""
    training.page.evaluate(STEPS_KEPT)
    training.press("Pause")
    training.page.wait_for_function("() => window.kept")


STEPS_KEPT = """() => {
    window.kept = false;
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (value, key) {
        this.transaction.addEventListener("complete", () => { window.kept = true; });
        IDBObjectStore.prototype.put = put;
        return put.call(this, value, key);
    };
}"""


def test_trained_network_is_compared_on_the_texts_part(open_training: Open) -> None:
    training = open_training()
    training.start()
    training.stop()
    page = training.page
    page.get_by_role("button", name="Perplexity of a text").click()
    page.get_by_role("combobox", name="Compare with").select_option("tiny-gru")
    expect(page.locator("#texts .tp-second")).to_contain_text(" with ")
    page.get_by_role("combobox", name="Network").select_option("tiny-gru")
    page.get_by_role("combobox", name="Compare with").select_option("your RNN 16 · “hello”")
    expect(page.locator("#texts .tp-second")).to_contain_text("with your RNN 16")


def test_page_of_one_file_trains_too(open_training: Open, site: Path) -> None:
    training = open_training((site / "one.html").as_uri())
    training.start("names")
    training.stop()
    expect(training.page).to_have_title(re.compile("your GRU 64 · First names"))


def test_words_turn_to_chinese_while_it_trains(open_training: Open) -> None:
    training = open_training()
    training.start()
    training.page.get_by_role("button", name="中文").click()
    expect(training.root.get_by_role("button", name="暂停")).to_be_visible()
    expect(training.said).to_contain_text("困惑度")


def test_view_stays_where_it_is_on_a_phone(open_training: Open) -> None:
    training = open_training()
    page = training.page
    page.set_viewport_size({"width": 390, "height": 844})
    training.choose("Text", "timemachine")
    training.choose("Hidden units H", "16")
    page.evaluate(TOPS_OF_THE_VIEW)
    training.press("Start")
    expect(training.said).to_contain_text("perplexity")
    training.press("Pause")
    expect(training.root.get_by_role("button", name="Go on training")).to_be_visible()
    training.stop()
    expect(training.said).to_contain_text("list of networks")
    assert page.evaluate("[...window.tops].length") == 1


TOPS_OF_THE_VIEW = """() => {
    window.tops = new Set();
    const [view, run] = ["main.view", "#training .tr-run"].map((name) => document.querySelector(name));
    new ResizeObserver(() => {
        if (!run.hidden) window.tops.add(Math.round(view.getBoundingClientRect().top + scrollY));
    }).observe(document.querySelector("#training"));
}"""


def test_presentation_shows_the_training_in_large_type(open_training: Open) -> None:
    training = open_training()
    page = training.page
    page.set_viewport_size({"width": 1280, "height": 720})
    training.start()
    page.get_by_role("button", name="Present", exact=True).click()
    expect(training.said).to_be_in_viewport()
    for name, least in (("p.tr-said", 20), (".tr-curve figcaption", 20), (".tr-curve text", 16)):
        large = """([name, least]) => {
            const element = document.querySelector(`#training ${name}`);
            return parseFloat(getComputedStyle(element).fontSize) * element.currentCSSZoom >= least;
        }"""
        page.wait_for_function(large, arg=[name, least])
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    training.stop()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_every_state_is_accessible(browser: Browser, address: str, width: int, scheme: str) -> None:
    page = browser.new_context(
        locale="en-US", viewport={"width": width, "height": 844}, reduced_motion="reduce"
    ).new_page()
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    training = Training(page, address)
    training.root.get_by_text("More settings").click()
    assert inaccessible(page) == []
    training.start()
    training.press("Pause")
    assert inaccessible(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 390:
        heights = training.root.locator("button:visible").evaluate_all(
            "(buttons) => buttons.map((button) => button.getBoundingClientRect().height)"
        )
        assert min(heights) >= 44
    training.stop()
    assert inaccessible(page) == []
    page.context.close()

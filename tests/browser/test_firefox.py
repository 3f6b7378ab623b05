"""The page without a server in Firefox, whose scripts, styles and WebAssembly are another engine's."""

import math
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Playwright, expect

import rnnviz
from rnnviz.page.command import page as write_page
from tests.browser.conftest import Live
from tests.support.needs import missing
from tests.support.serving import serve_files

HOST = "rnnviz.test"  # no secure context, as most computers of a hall's network see the page
PREFERENCES = {"network.dns.localDomains": HOST, "ui.prefersReducedMotion": 1}  # nothing is typed by itself

WATCH = """
    window.instances = 0;
    if (window.WebAssembly) WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
        construct(made, how) { window.instances += 1; return Reflect.construct(made, how); },
    });
    addEventListener("securitypolicyviolation", (event) =>
        console.error(`against the policy: ${event.violatedDirective} ${event.blockedURI}`));
"""

# Playwright hears of no download over BiDi.
KEEP_BLOB = """
    URL.createObjectURL = new Proxy(URL.createObjectURL, {
        apply(make, self, given) { window.blob = given[0]; return Reflect.apply(make, self, given); },
    });
"""

PAINTED = "(canvas) => canvas.toDataURL()"

Open = Callable[..., Live]


@pytest.fixture(scope="module")
def firefox(playwright: Playwright) -> Iterator[Browser]:
    """A headless Firefox; without one these tests are skipped, or fail if RNNVIZ_REQUIRE_BROWSER is 1."""
    path = shutil.which("firefox-esr") or shutil.which("firefox")
    try:
        if path is None:
            raise FileNotFoundError("no Firefox here: install firefox-esr")
        # By this channel a Firefox as it is installed, over WebDriver BiDi; else Playwright wants its own.
        started = playwright.firefox.launch(
            executable_path=path, channel="moz-firefox", firefox_user_prefs=PREFERENCES
        )
        started.new_context().close()  # newer ones of Playwright may ask for what this Firefox lacks
    except (Error, OSError) as error:
        missing("BROWSER", error)
    yield started
    started.close()


@pytest.fixture(scope="module")
def site(models_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A web server's root: in `some/path` the page of two networks, beside it that of one in one file."""
    root = tmp_path_factory.mktemp("site")
    both = [str(models_folder / f"tiny-{cell}.safetensors") for cell in ("gru", "lstm")]
    write_page(output=root / "some" / "path", model=both)
    write_page(output=root / "one.html", model=both[1:])
    return root


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where a server has the folder."""
    with serve_files(site) as port:
        yield f"http://{HOST}:{port}/some/path/"


@pytest.fixture
def open_page(firefox: Browser) -> Iterator[Open]:
    """Opens an address, a script before it. What the console calls an error fails the test."""
    context, wrong = firefox.new_context(locale="en-US"), list[str]()

    def opened(url: str, script: str = "") -> Live:
        page = context.new_page()
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.add_init_script(script + WATCH)
        return Live(page, url)

    yield opened
    context.close()
    assert wrong == []


def assert_numbers(live: Live, path: Path, text: str) -> None:
    """The perplexity and the likeliest character of a text are the core's."""
    model = rnnviz.load(path)
    trace = rnnviz.trace(model, text)
    expect(live.page.get_by_test_id("rnnviz-characters")).to_have_text(str(len(text)))
    assert float(live.number("perplexity")) == pytest.approx(trace.perplexity[-1], rel=1e-3, abs=0.006)
    bar = live.page.locator(".rv-next-list li").first
    symbol = model.vocabulary.symbol(int(trace.log_probs[-1].argmax()))
    expect(bar.locator(".rv-symbol")).to_have_text(symbol.replace("\n", "⏎").replace(" ", "·"))
    chance = float(bar.locator(".rv-chance").inner_text().split()[0])
    assert chance == pytest.approx(100 * math.exp(trace.log_probs[-1].max()), abs=0.06)


@pytest.mark.parametrize("plain", [False, True])
def test_keys_change_picture_and_numbers(
    open_page: Open, address: str, models_folder: Path, plain: bool
) -> None:
    live = open_page(f"{address}?text=The+Time", "delete window.WebAssembly;" if plain else "")
    assert live.page.evaluate("isSecureContext") is False
    heat = live.page.locator("canvas.rv-heat")
    before = heat.evaluate(PAINTED)
    live.area.press("Control+End")
    live.area.press_sequentially(" Tr")
    live.reads("The Time Tr")
    assert heat.evaluate(PAINTED) != before
    assert_numbers(live, models_folder / "tiny-gru.safetensors", "The Time Tr")
    assert (live.page.evaluate("instances") > 0) is not plain
    live.write("The Tide was high, é 中文")
    assert_numbers(live, models_folder / "tiny-gru.safetensors", "The Tide was high, é 中文")


def test_opening_is_shown_and_other_network_chosen(
    open_page: Open, address: str, models_folder: Path
) -> None:
    live = open_page(f"{address}?present=0")
    assert_numbers(live, models_folder / "tiny-gru.safetensors", live.text)
    live.page.get_by_role("combobox", name="Network").select_option("tiny-lstm")
    expect(live.page).to_have_title(re.compile("tiny-lstm|LSTM"))
    expect(live.page).to_have_url(re.compile("model=tiny-lstm"))
    live.write("The Time Machine")
    assert_numbers(live, models_folder / "tiny-lstm.safetensors", "The Time Machine")


def test_words_turn_to_chinese(open_page: Open, address: str) -> None:
    live = open_page(f"{address}?text=The+Time")
    live.page.get_by_role("button", name="中文").click()
    expect(live.page.get_by_role("textbox", name="你的文本")).to_have_value("The Time")
    expect(live.page.locator("html")).to_have_attribute("lang", "zh")


def test_own_file_is_shown_and_damaged_one_refused(
    open_page: Open, address: str, models_folder: Path, tmp_path: Path
) -> None:
    live = open_page(f"{address}?text=The+Time")
    whole, half = tmp_path / "mine.safetensors", tmp_path / "half.safetensors"
    whole.write_bytes((models_folder / "tiny-lstm.safetensors").read_bytes())
    half.write_bytes(whole.read_bytes()[:500])
    live.page.locator("input[type=file]").set_input_files(whole)
    expect(live.page).to_have_title("mine · rnnviz")
    live.write("The Tide was")
    assert_numbers(live, whole, "The Tide was")
    live.page.locator("input[type=file]").set_input_files(half)
    expect(live.page.get_by_role("alert")).to_contain_text("half.safetensors can't be shown: it is cut off")


def test_single_file_answers_keys_without_server(open_page: Open, site: Path, models_folder: Path) -> None:
    live = open_page(f"{(site / 'one.html').as_uri()}?text=The+Time")
    live.area.press("Control+End")
    live.area.press_sequentially("s")
    live.reads("The Times")
    assert_numbers(live, models_folder / "tiny-lstm.safetensors", "The Times")


def test_word_is_learnt_kept_and_saved(open_page: Open, address: str, tmp_path: Path) -> None:
    live = open_page(f"{address}?show=train", KEEP_BLOB)
    training = live.page.locator("#training")
    training.get_by_role("combobox", name="Text").select_option("hello")
    training.get_by_role("button", name="Start").click()
    expect(training.locator(".tr-said")).to_contain_text(re.compile(r"perplexity 1\.\d"))
    training.get_by_role("button", name="Stop").click()
    live.reads("hellohello")
    link = training.get_by_role("link", name="Save", exact=True)
    link.click()
    expect(link).to_have_attribute("download", "hello-rnn-16.safetensors")
    saved = tmp_path / "hello-rnn-16.safetensors"
    saved.write_bytes(bytes(live.page.evaluate("async () => [...new Uint8Array(await blob.arrayBuffer())]")))
    assert_numbers(live, saved, "hellohello")
    live.page.reload()
    expect(training.locator(".tr-kept")).to_contain_text("your RNN 16 · “hello”")

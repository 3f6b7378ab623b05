"""The page as a folder on a web server: what only a browser shows."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rnnviz.networks import checkpoint
from rnnviz.page import build, folder
from tests.browser.conftest import Live
from tests.support.browser import SETTLED, inaccessible
from tests.support.driving import until
from tests.support.explore_page import branch_out
from tests.support.serving import serve_files


@pytest.fixture(scope="module")
def site(models_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A web server's root, with the page of two tiny networks in a subfolder."""
    root = tmp_path_factory.mktemp("site")
    infos = [checkpoint.read_info(models_folder / f"tiny-{cell}.safetensors") for cell in ("gru", "lstm")]
    folder.write(root / "some" / "path", build.folder_files(infos, documentation="docs/index.html"))
    return root


@pytest.fixture(scope="module")
def port(site: Path) -> Iterator[int]:
    """The port of a server of that root."""
    with serve_files(site) as served:
        yield served


@pytest.fixture
def view(page: Page, port: int) -> Live:
    """The page at an address with a text, which it doesn't type."""
    return Live(page, f"http://127.0.0.1:{port}/some/path/?text=The+Time")


# No secure context, as most computers of a hall's network see it: without a service worker.
PLAIN = "rnnviz.test"


RECORD = """() => {
    window.lengths = new Set();
    const look = () => {
        const area = document.querySelector("main")?.shadowRoot?.querySelector("textarea");
        if (area) window.lengths.add(area.value.length);
        requestAnimationFrame(look);
    };
    look();
}"""


@pytest.mark.parametrize("secure", [True, False])
def test_page_types_its_opening_once(browser: Browser, port: int, secure: bool) -> None:
    page = browser.new_context(locale="en-US").new_page()
    served = f"127.0.0.1:{port}"
    page.route(
        f"http://{PLAIN}/**",
        lambda route: route.fulfill(response=route.fetch(url=route.request.url.replace(PLAIN, served))),
    )
    page.add_init_script(f"({RECORD})()")
    page.goto(f"http://{served if secure else PLAIN}/some/path/")
    assert page.evaluate("isSecureContext") == secure
    page.wait_for_function("() => window.lengths.size > 3")  # not all at once
    page.wait_for_function(
        """() => document.querySelector("main").shadowRoot.querySelector("textarea").value.length
            === Math.max(...window.lengths)"""
    )
    page.context.close()


def test_first_key_restores_opening_and_is_typed(browser: Browser, port: int) -> None:
    page = browser.new_context(locale="en-US").new_page()
    page.add_init_script(f"({RECORD})()")
    page.goto(f"http://127.0.0.1:{port}/some/path/")
    page.wait_for_function("() => window.lengths.size > 2")
    page.keyboard.press("End")
    page.keyboard.type("x")
    area = page.get_by_role("textbox", name="Your text")
    expect(area).to_have_value(re.compile("^.{9,}x$"))
    length = len(area.input_value())
    expect(page.get_by_test_id("rnnviz-live")).to_have_attribute("data-painted", str(length))
    page.context.close()


def test_tree_shows_what_could_follow_and_writes_it(view: Live) -> None:
    branch_out(view)


def test_chosen_network_reads_same_text_and_back_returns(view: Live) -> None:
    view.write("The Time Machine")
    perplexity = view.number("perplexity")
    view.page.get_by_role("combobox", name="Network").select_option("tiny-lstm")
    expect(view.page).to_have_title(re.compile("tiny-lstm|LSTM"))
    expect(view.page).to_have_url(re.compile("model=tiny-lstm"))
    assert view.text == "The Time Machine"
    assert view.number("perplexity") != perplexity
    view.page.go_back()
    expect(view.page).not_to_have_url(re.compile("model="))
    expect(view.page.locator(".rv-number-perplexity dd")).to_have_text(perplexity)


def test_language_button_turns_all_words(view: Live) -> None:
    view.page.get_by_role("button", name="中文").click()
    expect(view.page.get_by_role("textbox", name="你的文本")).to_have_value("The Time")
    expect(view.page.locator("html")).to_have_attribute("lang", "zh")
    expect(view.page).to_have_url(re.compile("lang=zh"))


@pytest.mark.parametrize(("locale", "language"), [("zh-TW", "zh"), ("fr-FR", "en")])
def test_page_begins_in_browsers_language_or_english(
    browser: Browser, port: int, locale: str, language: str
) -> None:
    context = browser.new_context(locale=locale)
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/some/path/?text=The+Time")
    expect(page.get_by_test_id("rnnviz-live")).to_have_attribute("data-painted", "8")
    expect(page.locator("html")).to_have_attribute("lang", language)
    context.close()


def test_address_restores_text_caret_and_unit(page: Page, port: int) -> None:
    live = Live(page, f"http://127.0.0.1:{port}/some/path/?text=The+Time&at=3&unit=2&model=tiny-lstm")
    assert live.text == "The Time"
    expect(page).to_have_title(re.compile("tiny-lstm|LSTM"))
    expect(live.colour).to_have_text("unit 2")
    assert live.area.evaluate("(area) => area.selectionStart") == 3


def test_own_file_is_shown_and_damaged_one_refused(view: Live, models_folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.safetensors"
    mine.write_bytes((models_folder / "tiny-lstm.safetensors").read_bytes())
    view.page.locator("input[type=file]").set_input_files(mine)
    expect(view.page).to_have_title("mine · rnnviz")
    assert view.text == "The Time"
    (tmp_path / "half.safetensors").write_bytes(mine.read_bytes()[:500])
    view.page.locator("input[type=file]").set_input_files(tmp_path / "half.safetensors")
    expect(view.page.get_by_role("alert")).to_contain_text("half.safetensors can't be shown: it is cut off")
    view.write("and on")
    expect(view.root).to_have_attribute("data-painted", "6")


def test_page_opens_offline_after_first_visit(browser: Browser, port: int, site: Path) -> None:
    context = browser.new_context(locale="en-US", reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/some/path/")
    page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
    page.reload()  # through the worker, which keeps what it fetches
    expect(page.get_by_test_id("rnnviz-live")).to_have_attribute("data-painted", re.compile(r"\d"))
    context.set_offline(True)
    page.reload()
    live = Live(page, f"http://127.0.0.1:{port}/some/path/?text=The+Time")
    live.write("The Tide")
    context.close()


KEPT = """() => caches.open("rnnviz-page").then((cache) => cache.keys())
    .then((requests) => requests.map(({ url }) => new URL(url).pathname.split("/").pop()))"""


def test_new_build_replaces_old_files_in_cache(
    browser: Browser, port: int, site: Path, models_folder: Path
) -> None:
    target = site / "two" / "builds"
    both = [checkpoint.read_info(models_folder / f"tiny-{cell}.safetensors") for cell in ("gru", "lstm")]
    folder.write(target, build.folder_files(both))
    page = browser.new_context(locale="en-US", reduced_motion="reduce").new_page()
    page.goto(f"http://127.0.0.1:{port}/two/builds/")
    page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
    view = Live(page, f"http://127.0.0.1:{port}/two/builds/?text=The+Time&model=tiny-lstm")
    former = {path.name for path in target.iterdir()}
    until(view.root, KEPT, lambda names: any(name.startswith("tiny-lstm") for name in names))
    folder.write(target, build.folder_files(both[:1]))
    current = {path.name for path in target.iterdir()}
    page.goto(f"http://127.0.0.1:{port}/two/builds/")  # the new index, whatever the cache has
    expect(view.root).to_have_attribute("data-painted", re.compile(r"\d"))
    expect(page).to_have_title(re.compile("tiny-gru|GRU"))
    until(view.root, KEPT, lambda names: not any(name.startswith("tiny-lstm") for name in names))
    assert set(page.evaluate(KEPT)) - {""} <= current != former
    page.context.close()


def test_missing_network_is_said_and_shown_one_stays(browser: Browser, port: int) -> None:
    context = browser.new_context(locale="en-US", service_workers="block")  # what it holds is never missing
    view = Live(context.new_page(), f"http://127.0.0.1:{port}/some/path/?text=The+Time")
    view.page.route("**/tiny-lstm.*", lambda route: route.abort())
    view.page.get_by_role("combobox", name="Network").select_option("tiny-lstm")
    expect(view.page.get_by_role("alert")).to_contain_text("tiny-lstm could not be loaded")
    view.write("The Tide")
    expect(view.page.get_by_role("combobox", name="Network")).to_have_value("tiny-gru")
    view.page.unroute_all()
    view.page.route("**/tiny-lstm.*.safetensors", lambda route: route.fulfill(body=b"12345"))
    view.page.get_by_role("combobox", name="Network").select_option("tiny-lstm")
    expect(view.page.get_by_role("alert")).to_have_text(
        "tiny-lstm can't be shown: it is cut off after 5 bytes. Copy or download it again."
    )
    context.close()


def test_phone_shows_text_colours_and_bars_above_keyboard(browser: Browser, port: int) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 422}, is_mobile=True, has_touch=True, locale="en-US"
    )
    live = Live(context.new_page(), f"http://127.0.0.1:{port}/some/path/?text=The+Time")
    bars = live.page.locator(".rv-next-list li")
    for element in (live.area, live.colour, bars.nth(3)):
        box = element.bounding_box()
        assert box
        assert box["y"] + box["height"] <= 422
    before = live.area.bounding_box()
    live.area.press_sequentially(" was")
    expect(live.root).to_have_attribute("data-painted", "12")
    assert live.area.bounding_box() == before
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [390, 1280, 1440])
def test_axe_finds_nothing_wrong(browser: Browser, port: int, language: str, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/some/path/?lang={language}&text=The+Time&present=0")
    expect(page.get_by_test_id("rnnviz-live")).to_have_attribute("data-painted", "8")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        expect(page.get_by_test_id("rnnviz-live")).to_have_attribute("data-theme", scheme)
        page.wait_for_function(SETTLED)
        assert inaccessible(page) == [], scheme
    context.close()

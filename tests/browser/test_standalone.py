"""The page that needs no server, opened from a file: it reads what is typed as the core does, alone."""

import math
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import rnnviz
from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import load_numpy
from rnnviz.page import build
from tests.browser.conftest import Live
from tests.support.models import TEXT, tiny, with_tensors


@pytest.fixture(scope="session")
def file(models_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the tiny LSTM."""
    page_file = tmp_path_factory.mktemp("page") / "page.html"
    page_file.write_text(
        build.single_file(checkpoint.read_info(models_folder / "tiny-lstm.safetensors")), "utf-8"
    )
    return page_file


@pytest.fixture
def alone(page: Page, file: Path) -> Live:
    """The live view on that page."""
    return Live(page, f"{file.as_uri()}?text=The+Time")


def test_page_reads_text_as_core_does(alone: Live, models_folder: Path) -> None:
    model = rnnviz.load(models_folder / "tiny-lstm.safetensors")
    urls: list[str] = []
    alone.page.on("request", lambda request: urls.append(request.url))
    for text in ("", "The Time", "The Tide was high, é 中文 🐒", "one\ntwo"):
        alone.write(text)
        trace = rnnviz.trace(model, text)
        expect(alone.page.get_by_test_id("rnnviz-characters")).to_have_text(str(len(trace)))
        if text:
            assert float(alone.number("perplexity")) == pytest.approx(trace.perplexity[-1], rel=1e-3)
        first, best = alone.page.locator(".rv-next-list li").first, int(trace.log_probs[-1].argmax())
        if best:
            expect(first.locator(".rv-symbol")).to_have_text(model.vocabulary.symbol(best))
        chance = float(first.locator(".rv-chance").inner_text().split()[0])
        assert chance == pytest.approx(100 * math.exp(trace.log_probs[-1].max()), abs=0.06)
    assert [url for url in urls if not url.startswith(("blob:", "data:"))] == []


def test_page_continues_text(alone: Live) -> None:
    alone.write("The Time ")
    alone.page.get_by_role("button", name="Continue").click()
    expect(alone.page.get_by_role("button", name="Continue")).to_be_visible()
    expect(alone.root).to_have_attribute("data-painted", re.compile(r"^(?!9$)\d+$"))


def test_long_text_shows_progress_and_page_answers(alone: Live) -> None:
    text = (TEXT * 40)[:19_000]
    alone.page.evaluate(
        "() => { const bar = document.querySelector('progress');"
        " const seen = () => { bar.dataset.seen = 'yes' };"
        " new MutationObserver(seen).observe(bar, { attributeFilter: ['value'] }) }"
    )
    alone.area.fill(text)
    alone.page.keyboard.press("End")
    alone.page.keyboard.type("xyz")  # the page itself is free
    assert alone.text.endswith("xyz")
    alone.painted(19_003)
    expect(alone.page.locator("progress")).to_have_attribute("data-seen", "yes")
    expect(alone.page.locator("progress")).to_be_hidden()


def test_app_serves_page(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?model=tiny-gru")
    page.get_by_text("About this model").click()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Share as a page").click()
    response = opened.value
    area = response.get_by_role("textbox").first
    area.press("End")  # a key ends the page's own typing
    area.fill("The Time")
    expect(response.get_by_test_id("rnnviz-live")).to_have_attribute("data-painted", "8")
    expect(response).to_have_title("tiny-gru · rnnviz")


@pytest.fixture
def ending(page: Page, tmp_path: Path) -> Live:
    """The page of a network that ends its texts soon."""
    model = tiny("gru", ends=True)
    bias = model.tensors["readout.bias"].copy()
    bias[model.vocabulary.end] += 2
    path = checkpoint.save(with_tensors(model, readout_bias=bias), tmp_path / "names.safetensors")
    file = tmp_path / "page.html"
    file.write_text(build.single_file(checkpoint.read_info(path)), "utf-8")
    return Live(page, f"{file.as_uri()}?text=The")


def test_a_bar_ends_the_text_and_so_does_the_network(ending: Live) -> None:
    model = load_numpy(
        Path(str(ending.page.url).removeprefix("file://").split("?")[0]).parent / "names.safetensors"
    )
    end = ending.page.get_by_role("button", name="write end of the text")
    chance = math.exp(rnnviz.trace(model, "The").log_probs[-1, model.vocabulary.end])
    expect(end).to_have_accessible_name(re.compile(rf", {100 * chance:.1f}\s%"))
    expect(ending.page.locator(".rv-next-list")).to_contain_text("■")
    end.click()
    ending.painted(4)
    assert ending.text == "The\n"
    # The next text begins as the first one did.
    assert float(ending.number("perplexity")) == pytest.approx(
        rnnviz.perplexity(model, "The\n").perplexity, rel=1e-3
    )
    for _ in range(5):
        ending.write("The")
        ending.page.get_by_role("button", name="Continue").click()
        expect(ending.page.get_by_role("button", name="Continue")).to_be_visible()
        assert set(ending.text) <= {*model.vocabulary.characters, "\n"} - {"\x03"}
        assert len(ending.text) < 3 + 120

"""The page that needs no server, opened from a file: it reads what is typed as the core does, alone."""

import base64
import math
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import rnnviz
from rnnviz.gradients.occlusion import left_out
from rnnviz.networks import checkpoint
from rnnviz.ui.browser.modules import modules
from rnnviz.ui.browser.payload import unpack
from rnnviz.ui.standalone import build
from tests.browser.conftest import Live
from tests.conftest import TEXT
from tests.javascript import golden

# What the engine answers in a browser, by ask: the numbers of each array. Millions of them come quickly as
# base64 of float64 alone.
ANSWERS = """async ([sources, packed, asks]) => {
  const at = {};
  for (const [name, source] of sources) {
    const text = source.replace(/"\\0([^"]+)"/g, (_, other) => JSON.stringify(at[other]));
    at[name] = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  }
  const { unpack } = await import(at['ui/browser/static/wire.js']);
  const { answers } = await import(at['ui/standalone/model.js']);
  const { header, arrays } = unpack(Uint8Array.from(atob(packed), (c) => c.charCodeAt(0)));
  const own = answers(header.made, arrays);
  const text = (values) => {
    const bytes = new Uint8Array(Float64Array.from(values).buffer);
    let found = '';
    for (let i = 0; i < bytes.length; i += 8192) found += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return btoa(found);
  };
  return asks.map((ask) => {
    const told = own.answer(JSON.parse(ask));
    return Object.fromEntries(Object.entries(told.arrays).map(([name, values]) => [name, text(values)]));
  });
}"""


@pytest.fixture(scope="session")
def file(models_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the tiny LSTM."""
    found = tmp_path_factory.mktemp("page") / "page.html"
    found.write_text(build.page(checkpoint.read_info(models_folder / "tiny-lstm.safetensors")), "utf-8")
    return found


@pytest.fixture
def alone(page: Page, file: Path) -> Live:
    """The live view on that page."""
    return Live(page, f"{file.as_uri()}?")


def test_it_reads_what_is_typed_as_the_core_does(alone: Live, models_folder: Path) -> None:
    model = rnnviz.load(models_folder / "tiny-lstm.safetensors")
    asked: list[str] = []
    alone.page.on("request", lambda request: asked.append(request.url))
    for text in ("", "The Time", "The Tide was high, é 中文 🐒", "one\ntwo"):
        alone.write(text)
        trace = rnnviz.trace(model, text)
        expect(alone.page.get_by_test_id("rnnviz-characters")).to_have_text(str(len(trace)))
        if text:
            assert float(alone.number("perplexity")) == pytest.approx(trace.perplexity[-1], rel=1e-3)
        (symbol, chance), *_ = alone.next()
        best = int(trace.log_probs[-1].argmax())
        assert symbol == (model.vocabulary.symbol(best) if best else symbol)
        assert float(chance.split()[0]) == pytest.approx(100 * math.exp(trace.log_probs[-1].max()), abs=0.06)
    assert [url for url in asked if not url.startswith(("blob:", "data:"))] == []


def test_a_click_on_a_letter_tells_what_it_rests_on(alone: Live, models_folder: Path) -> None:
    text = (TEXT * 2)[:500]
    alone.write(text)
    trace = rnnviz.trace(rnnviz.load(models_folder / "tiny-lstm.safetensors"), text)
    alone.page.get_by_role("button", name="Why this letter?").click()
    bits = left_out(trace, 499).max()
    expect(alone.page.locator(".rv-caption")).to_contain_text(f"({bits:.2f} bits)")
    alone.page.keyboard.press("Escape")
    expect(alone.page.locator(".rv-caption")).not_to_contain_text("up to 64")


def test_it_writes_on_and_takes_a_bar(alone: Live) -> None:
    alone.write("The Time ")
    alone.page.get_by_role("button", name="Continue").click()
    expect(alone.page.get_by_role("button", name="Continue")).to_be_visible()
    expect(alone.root).to_have_attribute("data-painted", re.compile(r"^(?!9$)\d+$"))
    alone.page.keyboard.press("Escape")
    alone.write("The Time ")
    first = alone.next()[0][0]
    alone.page.keyboard.press("Alt+1")
    alone.painted(10)
    assert alone.text[-1] in (first, " ", "\n")


def test_a_long_text_shows_how_far_it_is_and_the_page_answers_meanwhile(alone: Live) -> None:
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
    alone.area.fill("é" + text)
    alone.write("The Time")  # takes the place of what is still being read
    assert alone.number("unknown") == "0"


def test_the_app_gives_it_away(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?model=tiny-gru")
    page.get_by_text("About this model").click()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Share as a page").click()
    given = Live.__new__(Live)
    given.page = opened.value
    given.root, given.area = (
        opened.value.get_by_test_id("rnnviz-live"),
        opened.value.get_by_role("textbox").first,
    )
    given.write("The Time")
    expect(opened.value).to_have_title("tiny-gru · rnnviz")
    refused = page.request.get(f"{app_url}/page/nobody.html")
    assert (refused.status, "no network called 'nobody'" in refused.text()) == (404, True)
    assert page.request.get(f"{app_url}/page/tiny-3gram.html").status == 404


def test_in_a_browser_too_every_number_is_the_core_s(page: Page, tmp_path: Path) -> None:
    golden.write(tmp_path)
    sources = [*modules("ui/standalone/model.js").items(), *modules("ui/browser/static/wire.js").items()]
    for path in sorted(tmp_path.glob("*.golden")):
        content, blocks = path.read_bytes(), list[bytes]()
        while content:
            (length,) = struct.unpack_from("<I", content)
            blocks.append(content[4 : 4 + length])
            content = content[4 + length :]
        packed, asks, answers = blocks[0], blocks[1::2], blocks[2::2]
        given = [sources, base64.b64encode(packed).decode(), [ask.decode() for ask in asks]]
        for ask, mine, theirs in zip(asks, page.evaluate(ANSWERS, given), answers, strict=True):
            arrays = unpack(theirs)[1]
            assert set(mine) == set(arrays)
            for name, values in arrays.items():
                found = np.frombuffer(base64.b64decode(mine[name]))
                colour = name in ("states", "unit", "tracks")  # rounding may choose the next
                most = 1 if colour else 1e-4 * np.maximum(1, np.abs(values)) * (values.dtype.kind == "f")
                assert (np.abs(found.reshape(values.shape) - values) <= most).all(), (path.stem, ask, name)

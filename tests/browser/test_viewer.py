"""The text viewer in a real browser: what is coloured, where a click leads, any length alike."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import rnnviz
from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring.column_files import SUM_BLOCK_CHARS, ColumnFiles
from rnnviz.scoring.record import record
from tests.support.driving import (
    HIGHLIGHTED,
    box_of,
    click_table,
    drag,
    expect_highlighted,
    highlighted,
    letter,
    make_anew,
    until,
)
from tests.support.models import TEXT, tiny
from tests.support.serving import serve

COLUMNS = ("codes.u4", "nll.f4", "rank.i4", "entropy.f4")
ODD = (
    "Tab\tand <script>document.title='owned'</script> &amp; **bold**\n"
    "中文：齊天大聖。\n\U0001f469\u200d\U0001f469\u200d\U0001f467 "
    "\U0001f1eb\U0001f1f7 e\u0301 \u202eabc\u202c \x01\n"
)
TEXTS = {"odd": ODD + TEXT, "plain": TEXT * 30, "line": "word " * 20_000, "late": TEXT * 5 + "ß" * 60}
MORE_THAN_20 = f"([pane, mode]) => ({HIGHLIGHTED})(pane, mode).length > 20"
HUGE = 20_000_000  # characters: more than float32 tells apart

APP = """
import streamlit as st
from pathlib import Path
from rnnviz.ui.browser import view_socket, views

app = st.App(str(Path(__file__).parent / "script.py"), routes=[*views.routes(), *view_socket.routes()])
"""
SCRIPT = """
import json
import streamlit as st
from pathlib import Path
from rnnviz.networks.checkpoint import load
from rnnviz.scoring.score import Score
from rnnviz.scoring.record import Record
from rnnviz.ui.pages.perplexity import surprise

st.set_page_config(layout="wide")
here = Path(__file__).parent

@st.cache_resource
def read(text, model):
    score = Score(**json.loads((here / f"{text}-{model}.json").read_text()))
    return Record(here / f"{text}-{model}", score), load(here / f"{model}.safetensors")

text = st.query_params["text"]
surprise.draw(*read(text, "gru"), read(text, "3gram") if "versus" in st.query_params else None)
st.button("Elsewhere")
st.session_state.runs = st.session_state.get("runs", 0) + 1
st.text(f"runs: {st.session_state.runs}")
"""


def repeat(source: Path, target: Path, length: int) -> None:
    """A record of a long text: a short one's columns again and again."""
    target.mkdir()
    times = -(-length // len(ColumnFiles(source)))
    for name in COLUMNS:
        (target / name).write_bytes((source / name).read_bytes() * times)
    nll = np.fromfile(target / "nll.f4", "<f4")
    sums = np.add.reduceat(nll, np.arange(0, len(nll), SUM_BLOCK_CHARS), dtype=np.float64)
    np.concatenate([[0], np.cumsum(sums)]).astype("<f8").tofile(target / "sums.f8")
    score = json.loads(source.with_suffix(".json").read_text("utf-8"))
    target.with_suffix(".json").write_text(json.dumps({**score, "characters": len(nll)}), "utf-8")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, tab: Page) -> Iterator[str]:
    """An app that shows records of TEXTS, and of one text of 20 million characters, by their names."""
    folder = tmp_path_factory.mktemp("viewer")
    (folder / "app.py").write_text(APP, "utf-8")
    (folder / "script.py").write_text(SCRIPT, "utf-8")
    models: dict[str, Any] = {
        "gru": tiny("gru", name="gru"),
        "3gram": NgramModel.fit(TEXT, order=3, name="3gram"),
    }
    for name, model in models.items():
        rnnviz.save(model, folder / f"{name}.safetensors")
        for text, content in TEXTS.items():
            path = folder / f"{text}-{name}"
            score = record(model, None, path, text=content, name=path.name).score
            path.with_suffix(".json").write_text(json.dumps(score.to_json()), "utf-8")
    repeat(folder / "plain-gru", folder / "huge-gru", HUGE)
    with serve(folder / "app.py", environment={**os.environ, "OMP_NUM_THREADS": "1"}) as address:
        yield address
        tab.goto("about:blank")  # where the server is gone, an open page says so in its console
    shutil.rmtree(folder / "huge-gru")


pytestmark = pytest.mark.usefixtures("same_page")


class Viewer:
    """The viewer on an open page, at its text's beginning; loaded where another text is there."""

    def __init__(self, page: Page, url: str, text: str, query: str = "") -> None:
        self.page = page
        is_open = page.url == f"{url}/?text={text}{query}"
        if not is_open:
            page.goto(f"{url}/?text={text}{query}")
        self.root = page.get_by_test_id("rnnviz-viewer")
        self.pane = page.get_by_role("region", name="The text, coloured")
        self.detail = page.locator(".vw-detail")
        expect(page.locator(".vw-curve")).to_have_attribute("data-drawn", "light")
        if is_open:
            self.pane.press("Home")
            self.at(0, 0)
            page.mouse.click(5, 5)

    @property
    def place(self) -> int:
        return int(self.root.get_attribute("data-place") or -1)

    def at(self, low: int, high: int) -> None:
        """Wait until the first character in sight is one of low .. high."""
        self.page.wait_for_function(
            "([root, low, high]) => root.dataset.place >= low && root.dataset.place <= high",
            arg=[self.root.element_handle(), low, high],
        )

    def go(self, position: int) -> None:
        """Go to a character, counted from 1, by its number."""
        field = self.page.get_by_label("Go to character")
        field.fill(str(position))
        field.press("Enter")

    def detail_of(self, position: int) -> str:
        """Wait until the panel tells all about a character, counted from 0; what it says."""
        expect(self.detail).to_have_attribute("data-expected", str(position))
        return self.detail.inner_text()


def test_text_is_shown_unchanged(page: Page, url: str) -> None:
    viewer = Viewer(page, url, "odd")
    text = viewer.pane.text_content() or ""
    assert text.startswith(
        "Tab\tand <script>document.title='owned'</script> &amp; **bold**⏎\n中文：齊天大聖。⏎\n"
    )
    assert "‹202E›abc‹202C› ␁⏎" in text
    assert "\U0001f469\u200d\U0001f469\u200d\U0001f467" in text
    assert "owned" not in page.title()
    assert viewer.pane.locator("script").count() == 0
    strange = highlighted(viewer.pane, "unknown")
    assert "中文：齊天大聖。" in strange
    assert not any("Tab" in piece for piece in strange)


def test_character_detail_equals_trace(page: Page, url: str) -> None:
    viewer = Viewer(page, url, "odd")
    trace = rnnviz.trace(tiny("gru"), TEXTS["odd"])
    position = TEXTS["odd"].index("Traveller")
    viewer.go(position + 1)
    detail = viewer.detail_of(position)
    assert f"character {position + 1:,} of {len(trace):,}" in detail
    for nats in (trace.nll[position], trace.entropy[position]):
        assert f"{nats / np.log(2):.2f} bits" in detail
    chance = page.locator(".vw-top li").first.locator(".rv-chance").inner_text()
    assert float(chance.removesuffix(" %")) == pytest.approx(100 * trace.top(position, 1)[0][1], rel=0.02)
    viewer.pane.press("ArrowRight")
    assert f"{trace.nll[position + 1] / np.log(2):.2f} bits" in viewer.detail_of(position + 1)
    # An emoji is one character, however many units a browser counts.
    emoji = TEXTS["odd"].index("\U0001f467")
    viewer.go(emoji + 1)
    assert re.search(r"U\+1F467[^$]*not in the model's vocabulary", viewer.detail_of(emoji))


def test_detail_follows_pointer_until_it_leaves(page: Page, url: str) -> None:
    page.goto("about:blank")  # where nothing is pinned
    viewer = Viewer(page, url, "odd")
    page.mouse.move(*letter(viewer.pane, 0))
    assert "U+0054" in viewer.detail_of(0)
    second = TEXTS["odd"].index("中")
    x, y = letter(viewer.pane, second)
    page.mouse.move(x, y)
    assert "U+4E2D" in viewer.detail_of(second)
    page.mouse.move(x + 300, y)  # beside its short line
    expect(viewer.detail).to_contain_text("Point at a character")
    page.mouse.move(x, y)
    viewer.detail_of(second)
    page.mouse.move(5, 5)
    expect(viewer.detail).to_contain_text("Point at a character")


def test_marked_passage_shows_its_perplexity(page: Page, url: str) -> None:
    viewer = Viewer(page, url, "plain")
    pane, text, sentence = viewer.pane, TEXTS["plain"], page.locator(".vw-passage")
    keys, mouse = page.keyboard, page.mouse
    expect(sentence).to_contain_text("Drag over a passage")
    marks: list[tuple[Callable[[], object], int, int]] = [
        (lambda: drag(pane, 5, 20), 5, 21),
        (lambda: pane.press("Shift+ArrowLeft"), 5, 20),
        (lambda: [viewer.go(5), *(pane.press("Shift+ArrowRight") for _ in range(3))], 4, 8),
        (lambda: [keys.down("Shift"), mouse.click(*letter(pane, 30)), keys.up("Shift")], 4, 31),
    ]
    for mark, start, stop in marks:
        mark()
        cost = rnnviz.perplexity(tiny("gru"), text=text[start:stop], context=text[:start]).perplexity
        before = f"Marked: {stop - start} characters. Given the {start} before them, their perplexity is "
        expect(sentence).to_contain_text(before + f"{cost:.1f}"[:3])
        expect_highlighted(pane, "passage", [text[start:stop]])
    mouse.click(*letter(pane, 5))
    assert viewer.detail_of(5), "a click still tells about one character"
    expect_highlighted(pane, "pin", [text[5]])


@pytest.mark.slow
@pytest.mark.parametrize("text", ["plain", "line", "huge"])
def test_text_of_any_length_scrolls(page: Page, url: str, text: str) -> None:
    viewer = Viewer(page, url, text)
    length = int(page.locator(".vw-pad").get_attribute("aria-valuemax") or 0)
    assert length == len(TEXTS[text]) if text in TEXTS else length >= HUGE
    viewer.pane.press("End")
    viewer.at(length - 4000, length)
    viewer.pane.press("Home")
    viewer.at(0, 0)
    viewer.pane.hover()
    # Wheel on: what is in sight goes on steadily, and only a little is ever in the page.
    places = [0]
    for _ in range(40):
        page.mouse.wheel(0, 300)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        places.append(viewer.place)
    assert places == sorted(places)
    viewer.at(6000, length)
    assert viewer.page.locator(".ct-chunk:not(:empty)").count() <= 12
    viewer.go(length // 2)
    assert f"character {length // 2:,}" in viewer.detail_of(length // 2 - 1)
    viewer.at(length // 2 - 4000, length // 2)


def test_curve_click_and_keys_move_text(page: Page, url: str) -> None:
    viewer = Viewer(page, url, "huge")
    pad = page.get_by_role("slider", name="Position in the text")
    box = box_of(pad)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    expect(page.locator(".vw-say")).to_contain_text("so far")
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 20)
    viewer.at(9_920_000, 10_080_000)
    pad.press("ArrowRight")
    viewer.at(10_120_000, 10_280_000)
    pad.press("End")
    viewer.at(19_990_000, 20_100_000)


def test_remounted_viewer_keeps_place(page: Page, url: str) -> None:
    viewer = Viewer(page, url, "huge")
    viewer.go(HUGE // 2)
    viewer.detail_of(HUGE // 2 - 1)
    place = viewer.place
    make_anew(viewer.root)
    expect(page.locator(".vw-curve")).to_have_attribute("data-drawn", "dark")
    viewer.at(place - 200, place + 200)
    viewer.go(place + 7)
    viewer.detail_of(place + 6)


def test_table_row_leads_to_passage(page: Page, url: str) -> None:
    viewer = Viewer(page, url, "late")  # what surprises most stands at the end
    click_table(page.get_by_test_id("stDataFrame"), 400, 53)
    viewer.at(1, len(TEXTS["late"]))
    until(viewer.pane, HIGHLIGHTED, bool, "passage")
    # Another run of the page leaves a reader where he or she is.
    viewer.go(1)
    viewer.at(0, 0)
    viewer.detail_of(0)
    page.get_by_role("button", name="Elsewhere").click()
    expect(page.get_by_text("runs: 2")).to_be_visible()
    viewer.detail_of(0)
    assert viewer.place == 0


def test_forced_colours_leave_marks_alone(page: Page, url: str) -> None:
    page.emulate_media(forced_colors="active")
    viewer = Viewer(page, url, "line")
    viewer.go(3)
    viewer.detail_of(2)
    expect_highlighted(viewer.pane, "pin", ["r"])
    expect_highlighted(viewer.pane, "surprisal", [])
    page.emulate_media(forced_colors="none")


def test_two_models_colour_difference_unclipped(page: Page, url: str) -> None:
    viewer = Viewer(page, url, "plain", "&versus=1")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert viewer.pane.evaluate("e => e.scrollWidth <= e.clientWidth")
    colour = page.get_by_role("combobox", name="Colour")
    assert colour.locator("option").all_inner_texts() == ["surprisal", "rank", "difference"]
    for mode in ("versus", "rank", "surprisal"):
        colour.select_option(mode)
        page.wait_for_function(MORE_THAN_20, arg=[viewer.pane.element_handle(), mode])
    viewer.go(30)
    detail = viewer.detail_of(29)
    assert "Expected by gru" in detail
    assert "Expected by 3gram" in detail


def test_scrolling_updates_place_rarely(page: Page, url: str) -> None:
    """Whatever changes on the page has Chromium look at every highlight again: not in each frame."""
    viewer = Viewer(page, url, "plain")
    updates, elapsed = page.evaluate(
        """async ([root, pane]) => {
            let told = 0;
            const observer = new MutationObserver((all) => (told += all.length));
            observer.observe(root, { attributeFilter: ["data-place"] });
            const begun = performance.now();
            for (let frame = 0; frame < 60; frame++) {
                pane.scrollTop += 22;
                await new Promise(requestAnimationFrame);
            }
            return [told, performance.now() - begun];
        }""",
        [viewer.root.element_handle(), viewer.pane.element_handle()],
    )
    assert updates <= 1 + elapsed / 100
    viewer.at(1, len(TEXTS["plain"]))

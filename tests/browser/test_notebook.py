"""The notebook's widget in a browser: its ES module in a bare page, answered by the real widget here.
What is left out is Jupyter's own connection between the two.
"""

import base64
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import rnnviz
from rnnviz.text.characters import visible
from tests.support.models import tiny, tiny_card

pytest.importorskip("anywidget", reason="the extra notebook is not installed")

MODEL = tiny("gru", name="tiny-gru", card=tiny_card(ngram=None), hidden_size=40)
TEXT = "The Time Traveller"
ADDRESS = "http://127.0.0.1:1/"

MOUNT = """async (esm) => {
    const ears = [];
    const model = {
        on: (event, hear) => ears.push(hear),
        off: (event, hear) => ears.splice(ears.indexOf(hear), 1),
        send: async (content) => (await window.kernel(content)).forEach(window.tell),
    };
    window.tell = ([message, blocks]) => {
        const bytes = blocks.map((block) => Uint8Array.from(atob(block), (c) => c.charCodeAt(0)));
        for (const hear of [...ears]) hear(message, bytes.map((each) => new DataView(each.buffer)));
    };
    const address = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
    const { default: { render } } = await import(address);
    window.away = render({ model, el: document.querySelector("#cell") });
}"""


class Cell:
    """A widget shown in a page."""

    def __init__(self, page: Page) -> None:
        self.page, self.widget = page, rnnviz.live(MODEL)
        self.sent: list[Any] = []
        self.widget.send = self.send
        self.area = page.get_by_role("textbox", name="Your text")
        self.root = page.get_by_test_id("rnnviz-live")

    def mount(self) -> None:
        self.page.evaluate(MOUNT, self.widget._esm)

    def send(self, content: object, buffers: list[bytes]) -> None:
        self.sent.append([content, [base64.b64encode(block).decode() for block in buffers]])

    def hear(self, message: object) -> list[Any]:
        self.widget._on_message(None, message, [])
        sent, self.sent = self.sent, []
        return sent

    def painted(self, text: str) -> None:
        expect(self.area).to_have_value(text)
        expect(self.root).to_have_attribute("data-painted", str(len(text)))


@pytest.fixture
def cell(page: Page) -> Cell:
    """A widget in a page that holds nothing else."""
    page.route(ADDRESS, lambda route: route.fulfill(body="<!doctype html><div id=cell></div>"))
    page.goto(ADDRESS)
    new_cell: list[Cell] = []
    page.expose_function("kernel", lambda message: new_cell[0].hear(message))
    new_cell.append(Cell(page))
    new_cell[0].mount()
    return new_cell[0]


def test_widget_reads_typed_text_and_kernel_has_it(cell: Cell) -> None:
    cell.painted(TEXT)
    cell.area.press_sequentially(" ma")
    cell.painted(TEXT + " ma")
    assert cell.widget.text == TEXT + " ma"
    read = cell.widget.trace
    assert f"{read.perplexity[-1]:.2f}" in cell.page.get_by_test_id("rnnviz-perplexity").inner_text()
    best, p = read.top(len(read), 1)[0]
    row = cell.page.locator(".rv-next-list li").first
    expect(row.locator(".rv-symbol")).to_have_text(visible(best))
    expect(row.locator(".rv-chance")).to_have_text(f"{p:.1%}".replace("%", " %"))
    expect(cell.page.locator(".rv-scale")).to_contain_text("1,000")

    cell.widget.text = "another text"
    cell.page.evaluate("(sent) => sent.forEach(window.tell)", cell.sent)
    cell.painted("another text")
    cell.page.evaluate("window.away()")

"""The lecture's formulas in a real browser: a symbol and what it stands for light each other."""

import re
from typing import Any

from playwright.sync_api import Browser, Locator, expect

from rnnviz import i18n
from rnnviz.lecture import symbols
from rnnviz.ui.browser import views
from rnnviz.ui.pages.learn import scene_7_backwards
from tests.browser.lecturing import Lectern
from tests.ui.formulas import every_formula

# Typeset every formula with the page's own KaTeX, as the page does, but strictly: what it finds wrong.
TYPESET = """
async (formulas) => {
  const files = performance.getEntriesByType("resource").map((entry) => entry.name);
  const load = (name) => import(files.find((file) => file.endsWith(name)));
  const [{ default: katex }, { OPTIONS }] = [await load("/katex.mjs"), await load("/formula.js")];
  const wrong = [];
  for (const formula of formulas)
    try {
      katex.renderToString(formula, { ...OPTIONS, throwOnError: true });
    } catch (error) {
      wrong.push(`${formula}: ${error.message}`);
    }
  return wrong;
}
"""

# Whether each of the picture's elements that stand for a symbol has a frame around it, and nothing else has.
FRAMED = """
(root, name) => {
  const boxes = (selector) => [...root.querySelectorAll(selector)].map((e) => e.getBoundingClientRect());
  const within = (a, b) =>
    a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
  const [meant, frames] = [boxes(`[data-stands~="${name}"]`), boxes(".ln-light > *")];
  return meant.length === frames.length && meant.every((one) => frames.some((frame) => within(one, frame)));
}
"""


def symbol(lectern: Lectern, name: str) -> Locator:
    """A symbol of the formula, as it is seen."""
    return lectern.root.locator(f".katex-html [data-symbol='{name}']").first


def lit(lectern: Lectern) -> set[str]:
    """The symbols that are lit in the formula."""
    found = lectern.root.locator(".ln-math .ln-lit").evaluate_all("all => all.map(e => e.dataset.symbol)")
    return set(found)


def test_every_formula_can_be_typeset(lectern: Lectern) -> None:
    lectern.open(scene=6)
    formulas = [symbols.typeset(formula) for _, formula in every_formula()]
    assert lectern.page.evaluate(TYPESET, formulas) == []
    assert len(lectern.page.evaluate(TYPESET, [r"\nothing", r"\frac{1}"])) == 2
    faces = lectern.page.evaluate("[...document.fonts].map((face) => [face.family, face.status])")
    assert ["KaTeX_Math", "loaded"] in faces
    assert [family for family, status in faces if status == "error"] == []


def test_the_library_is_fetched_once(lectern: Lectern) -> None:
    for file, kind in (("katex.mjs", "javascript"), ("fonts/KaTeX_Main-Bold.woff2", "woff2")):
        answer = lectern.page.request.get(f"{lectern.url}{views.address(views.KATEX)}/{file}")
        assert answer.ok
        assert "immutable" in answer.headers["cache-control"]
        assert kind in answer.headers["content-type"]


def test_pointing_lights_symbol_and_matrix_and_says_what_it_is(lectern: Lectern) -> None:
    lectern.open(scene=4, step=4)
    asked = lectern.root.get_attribute("data-answered")
    tip = lectern.root.locator(".ln-tip")
    expect(tip).to_be_hidden()
    symbol(lectern, "W_hh").hover()
    expect(tip).to_contain_text("weights from the hidden state to the next one")
    expect(tip).to_contain_text("4 × 4")
    expect(tip.locator("tr")).to_have_count(4)
    first = lectern.root.locator("[data-hit='W_hh.0.0']").text_content()
    expect(tip.locator("td").first).to_have_text(str(first))
    assert lectern.root.evaluate(FRAMED, "W_hh")
    assert lit(lectern) == {"W_hh"}
    symbol(lectern, "X_t").hover()
    expect(tip).to_contain_text("3 × 1")
    assert lectern.root.evaluate(FRAMED, "X_t")
    lectern.page.mouse.move(5, 500)
    expect(tip).to_be_hidden()
    expect(lectern.root.locator(".ln-light")).to_have_count(0)
    assert lit(lectern) == set()
    assert lectern.root.get_attribute("data-answered") == asked, "the server is not asked"
    # Of the picture: the tip stands beside what is pointed at.
    lectern.root.locator("[data-hit='H.1.2']").hover()
    expect(tip).to_contain_text("hidden state one step earlier")
    assert lit(lectern) == {"H_t-1"}
    assert lectern.root.evaluate(FRAMED, "H_t-1")
    box, matrix = tip.bounding_box(), lectern.root.locator("[data-stands='H_t-1']").first.bounding_box()
    assert box
    assert matrix
    apart = box["x"] > matrix["x"] + matrix["width"] or box["x"] + box["width"] < matrix["x"]
    assert apart or box["y"] + box["height"] <= matrix["y"], "the tip covers what it is about"
    lectern.root.locator("[data-hit='product.1.1']").hover()  # which draws anew, and is no symbol
    expect(tip).to_be_hidden()


def test_a_number_is_said_in_its_value(lectern: Lectern) -> None:
    lectern.open(scene=7, step=scene_7_backwards.CLIP + 1, theta=2)
    symbol(lectern, "theta").hover()
    expect(lectern.root.locator(".ln-tip")).to_contain_text(re.compile("threshold.*= 2$"))
    assert lectern.root.locator(".ln-light > *").count() >= 2


def test_a_symbol_stays_lit_is_reached_by_keys_and_leaves_them_to_the_lecture_again(lectern: Lectern) -> None:
    lectern.open(scene=3, step=2, present=1)
    row = lectern.root.get_by_role("toolbar", name="Symbols of the formula")
    first = row.get_by_role("button", name="hidden state at time step t", exact=True)
    for _ in range(12):
        lectern.press("Tab")
        if first.evaluate("button => button.getRootNode().activeElement === button"):
            break
    expect(lectern.root).to_have_attribute("data-lit", "H_t")
    for key, name in (("ArrowRight", "phi"), ("End", "b_h"), ("ArrowRight", "H_t"), ("ArrowLeft", "b_h")):
        lectern.press(key)
        expect(lectern.root).to_have_attribute("data-lit", name)
    assert lectern.root.evaluate(FRAMED, "b_h")
    lectern.press("Space")  # held, and no step further
    lectern.page.evaluate("document.activeElement.shadowRoot.activeElement.blur()")
    expect(lectern.root).to_have_attribute("data-lit", "b_h")
    lectern.press("Escape")
    expect(lectern.root).to_have_attribute("data-lit", "")
    expect(lectern.page.get_by_test_id("stSidebar")).to_be_hidden()  # still presenting
    lectern.at(3, 1)
    symbol(lectern, "H_t").click()
    lectern.page.mouse.move(5, 500)
    expect(lectern.root).to_have_attribute("data-lit", "H_t")
    lectern.control("forward").click()
    lectern.rest()
    expect(lectern.root).to_have_attribute("data-lit", "H_t")  # it follows the picture
    assert lectern.root.evaluate(FRAMED, "H_t")
    lectern.press("Space")
    lectern.at(3, 2)
    expect(lectern.root).to_have_attribute("data-lit", "")  # another step begins dark
    lectern.press("ArrowRight")
    lectern.at(4, 0)


def test_on_a_chinese_phone_a_tap_says_what_a_symbol_is_in_chinese(browser: Browser, app_url: str) -> None:
    phone: Any = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    context, chinese = browser.new_context(**phone, locale="zh-CN"), i18n.translations("zh").gettext
    lectern = Lectern(context.new_page(), app_url)
    lectern.open(scene=3, step=2)
    symbol(lectern, "W_xh").tap()
    tip = lectern.root.locator(".ln-tip")
    expect(tip).to_contain_text(chinese("weights from the input to the hidden units"))
    box = tip.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    one = lectern.root.locator("g[data-stands='X_t'] text").first  # between its parts there is nothing
    one.tap()
    expect(tip).to_contain_text(chinese("input at time step t"))
    one.tap()
    expect(tip).to_be_hidden()
    context.close()

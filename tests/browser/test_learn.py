"""The lecture in a real browser: every step, the keys, the code, the lecturer's window, the address."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from rnnviz import i18n
from rnnviz.lecture import symbols
from rnnviz.lecture.scenes import scenes
from rnnviz.lecture.steps import PICK, SEEN
from tests.support.browser import inaccessible
from tests.support.driving import box_of
from tests.support.lecturing import NEXT_FRAME, Lectern

STEPS = [step for scene in scenes() for step in scene.steps]
# Typeset every formula with the page's own KaTeX, as the page does, but strictly: what it finds wrong.
TYPESET = """
async (formulas) => {
  const files = performance.getEntriesByType("resource").map((entry) => entry.name);
  const library = files.find((file) => file.endsWith("/katex.mjs"));
  const { default: katex } = await import(library);
  const { OPTIONS } = await import(new URL("../../pages/learn/static/formula.js", library));
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
  const [meant, frames] = [boxes(`[data-stands~="${name}"]`), boxes(".ln-lights > *")];
  return meant.length === frames.length && meant.every((one) => frames.some((frame) => within(one, frame)));
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "width", "height", "present"),
    [("en", 1280, 720, 1), ("zh", 1280, 720, 1), ("en", 1440, 900, 0), ("zh", 1440, 900, 0)],
)
def test_steps_fit_and_are_readable(
    lectern: Lectern, language: str, width: int, height: int, present: int
) -> None:
    lectern.page.set_viewport_size({"width": width, "height": height})
    faults = {}
    for step, answered in lectern.tour(lang=language, present=present):
        lectern.page.evaluate(NEXT_FRAME)
        if bad := lectern.wrong() + (lectern.small() if present and answered else []):
            faults[step.name, answered] = bad
    assert faults == {}
    size = lectern.root.evaluate("e => parseFloat(getComputedStyle(e).getPropertyValue('--type'))")
    assert size >= (21 if present else 14), "the back row must be able to read it"


@pytest.mark.parametrize("size", [(720, 450), (390, 844)])
def test_picture_reflows_when_enlarged_or_on_phone(lectern: Lectern, size: tuple[int, int]) -> None:
    lectern.page.set_viewport_size({"width": size[0], "height": size[1]})
    for name in ("one", "all_before", "minibatch"):
        lectern.open(step=name, **{PICK: SEEN})  # whatever it asks before
        lectern.page.evaluate(NEXT_FRAME)
        assert lectern.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        for part in (".ln-notice", ".kit-picture", ".ln-formula"):
            lectern.root.locator(part).scroll_into_view_if_needed()
            expect(lectern.root.locator(part)).to_be_in_viewport()
        for control in lectern.root.locator(".kit-controls > *:visible").all():
            box = box_of(control)
            assert 0 <= box["x"] <= size[0] + 1 - box["width"], name


# A key, and the scene and the step, counted from 0, that it leads to.
WALK = [
    ("Space", 5, 1),
    ("ArrowRight", 6, 0),
    ("ArrowDown", 6, 1),
    ("ArrowUp", 6, 0),
    ("ArrowLeft", 5, 1),
    ("End", 5, 3),
    ("PageDown", 6, 0),  # from the last stop: the appendix is not on the way
    ("ArrowLeft", 5, 3),
    ("ArrowDown", 5, 3),
    ("Space", 6, 0),
    ("Shift+Space", 6, 0),
    ("ArrowLeft", 5, 3),
    ("Shift+Space", 5, 2),
    ("Home", 5, 0),
]


def test_keys_walk_through_steps_and_scenes(lectern: Lectern) -> None:
    lectern.open(step="labels", present=1)
    for key, scene, step in WALK:
        lectern.press(key)
        lectern.at(scene, step)
    expect(lectern.page.get_by_test_id("stSidebar")).to_be_hidden()
    lectern.press("Escape")
    expect(lectern.page.get_by_test_id("stSidebar")).to_be_visible()
    lectern.press("p")
    expect(lectern.page.get_by_test_id("stSidebar")).to_be_hidden()


def test_space_reveals_answer_and_prediction_is_judged(lectern: Lectern) -> None:
    lectern.open(step="far", present=1)
    expect(lectern.root.get_by_role("button", name="A about 3 characters")).to_be_visible()
    lectern.press("Space")
    expect(lectern.root.locator(".kit-right")).to_contain_text("about 10 characters")
    lectern.at(8, 0)
    lectern.root.get_by_role("button", name="Ask again").click()
    expect(lectern.root.locator(".kit-right")).to_have_count(0)
    lectern.press("a")  # what most hands were for
    expect(lectern.root.locator(".kit-wrong")).to_contain_text("✗ A about 3 characters")
    lectern.press("Space")
    lectern.at(8, 1)


def test_quick_presses_skip_no_question(lectern: Lectern) -> None:
    lectern.open(step="rain", present=1)
    for _press in range(3):  # to the question, to its answer, to the next step
        lectern.press("PageDown")
    lectern.at(6, 2)
    lectern.press("ArrowUp")
    lectern.at(6, 1)
    expect(lectern.root.locator(".kit-right")).to_be_visible()


def test_screen_is_blank_until_a_key_is_pressed(lectern: Lectern) -> None:
    lectern.open(step="first", present=1)
    for key in (".", "b"):
        lectern.press(key)
        expect(lectern.root).to_have_class(re.compile("ln-blank"))
        lectern.press("Space")
        expect(lectern.root).not_to_have_class(re.compile("ln-blank"))
        lectern.at(3, 0)


def test_browsers_back_returns_from_a_jump(lectern: Lectern) -> None:
    lectern.open(step="points", present=1)
    lectern.root.locator(".kit-picture .ln-button").nth(2).click()
    lectern.at(3, 1)
    lectern.page.go_back()
    lectern.at(9, 0)
    assert lectern.query()["step"] == "points"


def entry(lectern: Lectern, matrix: str, number: int) -> Locator:
    """An entry of the matrix that stands for a symbol."""
    return lectern.root.locator(f"[data-stands='{matrix}'] > [role=button]").nth(number)


def test_matrix_entry_changes_by_click_and_keys(lectern: Lectern) -> None:
    lectern.open(step="one")
    first_entry = entry(lectern, "X_t", 0)
    ways: list[tuple[Callable[[], None], str, str, str]] = [
        (lambda: first_entry.click(), "9,5", "Enter", "9.50"),
        (lambda: first_entry.press("Enter"), "-2", "Enter", "−2.00"),
        (lambda: first_entry.click(), "7", "Escape", "−2.00"),
    ]
    for opens, typed, key, stands in ways:
        opens()
        lectern.root.locator(".kit-entries input").fill(typed)
        lectern.press(key)
        lectern.rest()
        expect(first_entry).to_have_text(stands)
    lectern.at(4, 0)


def test_fields_and_sliders_keep_their_keys(lectern: Lectern) -> None:
    lectern.open(step="train")
    field = lectern.control("word").locator("input")
    field.fill("te")
    for key in ("a", "p", "Space", "ArrowLeft"):
        field.press(key)
    lectern.rest()
    lectern.at(5, 2)
    assert field.input_value() == "teap "
    field.press("Enter")
    lectern.open(step="adjacent")
    slider = lectern.control("middle").get_by_role("slider")
    slider.focus()
    slider.press("ArrowRight")
    lectern.rest()
    assert lectern.query() == {"step": "adjacent", "middle": "4"}
    lectern.at(3, 2)


def test_reload_restores_step_without_history_entries(lectern: Lectern) -> None:
    lectern.open(step="first")
    lengths = lectern.page.evaluate("history.length")
    lectern.root.get_by_role("button", name="Show the output").click()
    lectern.rest()
    assert lectern.query() == {"step": "first", "scores": "1"}
    assert lectern.page.evaluate("history.length") == lengths
    lectern.page.reload()
    expect(lectern.root.get_by_role("button", name="Hide the output")).to_be_visible()
    lectern.page.get_by_test_id("stSidebarNav").get_by_text("Perplexity").click()
    expect(lectern.page.get_by_role("heading", level=1, name="Perplexity")).to_be_visible()
    lectern.press("ArrowRight")  # the lecture's keys are gone with it
    lectern.page.get_by_test_id("stSidebarNav").get_by_text("Learn").click()
    lectern.at(3, 0)


# Keep every animation, with the name of what it moves and the property that changes.
MOVED = """
() => {
  window.moved = [];
  const { animate } = Element.prototype;
  Element.prototype.animate = function (frames, ...rest) {
    const { part, stands } = this.closest("[data-part], [data-stands]").dataset;
    const motion = animate.call(this, frames, ...rest);
    window.moved.push({ name: part ?? stands, how: Object.keys(frames)[0], motion });
    return motion;
  };
}
"""

# Stop all animations after so many milliseconds.
STOP = """
(time) => {
  for (const { motion } of window.moved) {
    motion.pause();
    motion.currentTime = time;
  }
}
"""


def moved(lectern: Lectern, how: str = "translate") -> set[str]:
    """What has moved, faded in ("opacity") or bent ("d") since this was asked last."""
    return set(
        lectern.page.evaluate(
            """(wanted) => {
                const names = moved.filter(({ how }) => how === wanted).map(({ name }) => name);
                moved = moved.filter(({ how }) => how !== wanted);
                return names;
            }""",
            how,
        )
    )


def test_shared_matrices_move_unless_motion_is_reduced(lectern: Lectern) -> None:
    lectern.open(step="labels")
    lectern.page.evaluate(MOVED)
    lectern.press("Space")
    lectern.at(5, 1)
    assert lectern.page.evaluate("moved") == []
    lectern.page.emulate_media(reduced_motion="no-preference")
    lectern.press("ArrowUp")
    lectern.at(5, 0)
    lectern.page.evaluate(STOP, 250)  # a control used on the way would go on from there
    assert {"y1", "O1", "H1"} <= moved(lectern)
    assert {"O1>y1", "y1>X2"} <= moved(lectern, "opacity"), "labels are compared here"
    lectern.page.evaluate("moved = []")
    lectern.control("learnt").click()
    lectern.rest()
    assert lectern.page.evaluate("moved") == [], "what keeps its place doesn't move"


def test_chain_grows_from_step_to_step(lectern: Lectern) -> None:
    lectern.page.emulate_media(reduced_motion="no-preference")
    lectern.open(step="first", t=6)
    lectern.page.evaluate(MOVED)
    for key in ("Space", "Space"):  # to the parameters, which have no chain, and to their number
        lectern.press(key)
        lectern.at(3, 1)
    assert lectern.page.evaluate("moved") == []
    lectern.press("Space")
    lectern.at_step("adjacent")
    assert moved(lectern) == {"H1", "H2", "H3", "H4", "X2", "X3", "X4"}
    assert {"O2", "F3", "J4", "F3>H3"} <= moved(lectern, "opacity")
    assert all(lectern.page.evaluate("moved.map(({ motion }) => motion.effect.getTiming().fill === 'auto')"))
    lectern.press("ArrowRight")
    lectern.at(4, 0)
    lectern.press("ArrowRight")
    lectern.at_step("labels")
    assert {"H1", "H2", "H3", "H4", "X2", "X3", "X4", "O2", "O3", "O4"} <= moved(lectern)
    assert "H3>O3" in moved(lectern, "d"), "the arrow goes along"
    assert {"y1", "H5", "X1", "H2>H3"} <= moved(lectern, "opacity")
    lectern.press("ArrowRight")
    lectern.at(6, 0)
    lectern.press("ArrowRight")
    lectern.at_step("back")
    assert {"X1", "H1", "O1", "y1"} <= moved(lectern)
    assert {"L2", "H0"} <= moved(lectern, "opacity")
    slider = lectern.control("walked").get_by_role("slider")
    slider.fill("2")
    lectern.rest()
    lectern.page.evaluate(STOP, 250)  # before any is taken from the list: all have ended
    assert {"H3>H2", "O2>H2"} <= moved(lectern, "d"), "the gradient takes the values' arrow, back"
    assert not {"H3>H2", "O2>H2"} & moved(lectern, "opacity")
    lectern.page.evaluate("moved = []")
    lectern.page.set_viewport_size({"width": 1440, "height": 900})
    lectern.page.evaluate(NEXT_FRAME)
    assert lectern.page.evaluate("moved") == [], "another size is no step"
    lectern.page.emulate_media(reduced_motion="reduce")
    slider.fill("3")
    lectern.rest()
    assert lectern.page.evaluate("moved") == []


def test_a_move_cut_short_goes_on_from_there(lectern: Lectern) -> None:
    lectern.page.emulate_media(reduced_motion="no-preference")
    lectern.open(step="adjacent")
    lectern.page.evaluate(MOVED)
    state = lectern.root.locator("[data-part=H4] > .kit-strip")
    slider = lectern.control("middle").get_by_role("slider")
    slider.fill("4")
    lectern.rest()
    lectern.page.evaluate(STOP, 100)
    there = box_of(state)
    slider.fill("5")
    lectern.rest()
    lectern.page.evaluate(STOP, 0)
    assert box_of(state) == pytest.approx(there, abs=0.5)
    lectern.page.evaluate(STOP, 250)
    assert box_of(state)["x"] < there["x"] - 50


# ---- formulas ------------------------------------------------------------------------------------------


def test_formulas_are_typeset_without_errors(lectern: Lectern) -> None:
    lectern.open(step="one")
    formulas = [symbols.typeset(step.formula_at(step.initial_values)) for step in STEPS]
    assert lectern.page.evaluate(TYPESET, formulas) == []
    assert len(lectern.page.evaluate(TYPESET, [r"\nothing", r"\frac{1}"])) == 2
    faces = lectern.page.evaluate("[...document.fonts].map((face) => [face.family, face.status])")
    assert ["KaTeX_Math", "loaded"] in faces
    assert [family for family, status in faces if status == "error"] == []


def symbol(lectern: Lectern, name: str) -> Locator:
    """A symbol of the formula, as it is seen."""
    return lectern.root.locator(f".ln-math .katex-html [data-symbol='{name}']").first


def test_pointing_at_symbol_frames_matrix_and_explains(lectern: Lectern) -> None:
    lectern.open(step="one")
    answered = lectern.root.get_attribute("data-answered")
    tip = lectern.root.locator(".ln-tip")
    expect(tip).to_be_hidden()
    symbol(lectern, "W_hh").hover()
    expect(tip).to_contain_text("weights from the hidden state to the next one")
    expect(tip).to_contain_text("4 × 4")
    expect(tip.locator("tr")).to_have_count(4)
    assert lectern.root.evaluate(FRAMED, "W_hh")
    lectern.page.mouse.move(5, 500)
    expect(tip).to_be_hidden()
    expect(lectern.root.locator(".ln-lights > *")).to_have_count(0)
    assert lectern.root.get_attribute("data-answered") == answered, "the server is not asked"
    entry(lectern, "H_t-1", 5).hover()
    expect(tip).to_contain_text("hidden state one step earlier")
    assert lectern.root.evaluate(FRAMED, "H_t-1")
    lectern.open(step="clip", theta=2)
    symbol(lectern, "theta").hover()
    expect(tip).to_contain_text(re.compile("threshold.*= 2$"))


def test_symbol_is_reached_held_and_released_by_keys(lectern: Lectern) -> None:
    lectern.open(step="adjacent", present=1)
    row = lectern.root.get_by_role("toolbar", name="Symbols of the formula")
    row.get_by_role("button").first.focus()
    expect(lectern.root).to_have_attribute("data-lit", "H_t")
    lectern.press("End")
    expect(lectern.root).to_have_attribute("data-lit", "b_q")
    lectern.press("Space")  # held, and no step further
    lectern.page.evaluate("document.activeElement.shadowRoot.activeElement.blur()")
    expect(lectern.root).to_have_attribute("data-lit", "b_q")
    lectern.press("Escape")
    expect(lectern.root).to_have_attribute("data-lit", "")
    expect(lectern.page.get_by_test_id("stSidebar")).to_be_hidden()  # still presenting


# ---- the code, and the lecturer's window -----------------------------------------------------------------


def test_code_panel_opens_and_copied_code_runs(lectern: Lectern) -> None:
    lectern.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lectern.open(step="one", present=1)
    panel, cell = lectern.root.locator("aside.ln-code"), lectern.root.locator(".ln-cell")
    width = lectern.root.locator(".kit-picture").bounding_box()
    lectern.press("c")
    expect(cell).to_contain_text("X @ W_xh + H @ W_hh")
    assert lectern.root.locator(".kit-picture").bounding_box() == width
    lectern.root.get_by_role("button", name="Copy").click()
    expect(lectern.root.get_by_role("button", name="Copied")).to_be_visible()
    names: dict[str, object] = {}
    exec(lectern.page.evaluate("navigator.clipboard.readText()"), names)
    assert {"XH", "W", "both"} <= names.keys()
    lectern.press("PageDown")  # the button has let go of the keys
    lectern.at(5, 0)
    expect(cell).to_contain_text("output_text")
    lectern.press("Escape")
    expect(panel).to_be_hidden()
    lectern.rest()
    assert "code" not in lectern.query()


def test_notes_window_follows_and_drives_stage(lectern: Lectern) -> None:
    lectern.open(step="labels")
    desk = lectern.notes()
    first, second = scenes()[4].main_steps[:2]
    expect(desk.locator("#title")).to_have_text(first.title)
    expect(desk.locator("#lines li")).to_have_text([first.say, str(first.prompt)])
    expect(desk.locator("#next")).to_contain_text(second.title)
    expect(desk.locator("#where")).to_contain_text("5 A character model · 1/4")
    expect(desk.locator("#plan")).to_contain_text("45 minutes: begins at 18:30, 2.5 min")
    expect(desk.locator("#preview .kit-graph")).to_be_visible()  # the next step
    expect(desk.get_by_role("timer")).to_have_text("0:00")
    desk.keyboard.press("Space")
    lectern.at(5, 1)
    expect(desk.get_by_role("timer")).to_have_text(re.compile("0:0[1-9]"))  # the talk has begun
    desk.get_by_role("button", name=scenes()[4].appendix[0].title).click()
    lectern.at(5, 4)
    expect(lectern.root.locator(".ln-dots")).to_contain_text("Appendix")
    desk.get_by_role("button", name="Go on").click()
    lectern.at(6, 0)
    lectern.open(step="far")
    expect(desk.locator("#right")).to_have_text("B about 10 characters")
    lectern.open(step="labels", lang="zh")  # loaded again, the stage has its window still
    expect(desk.locator("#title")).to_have_text(
        i18n.translations("zh").gettext(scenes()[4].main_steps[0].title)
    )
    assert inaccessible(desk) == []
    lost = desk.get_by_role("status")
    expect(lost).to_be_hidden()
    lectern.page.get_by_test_id("stSidebarNav").get_by_role("link").first.click()
    expect(lost).to_be_visible()
    desk.close()


def test_plot_has_its_lines_names_and_numbers(lectern: Lectern) -> None:
    lectern.open(step="book")
    plot = lectern.root.locator(".kit-plot svg").first
    expect(plot.get_by_text("table", exact=True)).to_be_visible()
    expect(plot.get_by_text("10³²", exact=True)).to_be_visible()
    widths = plot.locator("path").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().width)")
    assert max(widths) > 100


def test_summary_point_leads_to_its_step(lectern: Lectern) -> None:
    lectern.open(step="points", present=1)
    lectern.root.locator(".kit-picture .ln-button").first.press("Enter")
    lectern.rest()
    assert lectern.query()["step"] in {step.name for step in STEPS[:-1]}

"""The code beside the picture in a real browser: opened by a key, copied, closed; it hides nothing."""

import pytest
from playwright.sync_api import expect

from rnnviz.ui.pages.learn import scenes, snippets
from tests.browser.driving import box_of
from tests.browser.lecturing import Lectern
from tests.lecture.test_snippets import printed

PIXELS = "e => parseFloat(getComputedStyle(e).fontSize)"


def test_c_opens_the_code_what_is_copied_runs_and_the_lecture_goes_on_beside_it(lectern: Lectern) -> None:
    page = lectern.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.set_viewport_size({"width": 1280, "height": 720})
    lectern.open(scene=4, present=1)
    panel, cell = lectern.root.locator("aside.ln-code"), lectern.root.locator(".ln-cell")
    expect(panel).to_be_hidden()
    lectern.press("c")
    expect(cell).to_contain_text("X @ W_xh + H @ W_hh")
    assert cell.evaluate(PIXELS) >= 18
    lectern.press("Space")
    lectern.at(4, 1)
    expect(cell).to_contain_text("torch.cat((X, H), dim=1)")
    lectern.root.get_by_role("button", name="Copy").click()
    expect(lectern.root.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert printed(copied) == lectern.root.locator(".ln-printed").text_content()
    lectern.press("Space")  # the button has let go of the keys
    lectern.at(4, 2)
    lectern.press("ArrowRight")
    lectern.at(5, 0)
    expect(cell).to_contain_text("inputs, labels")
    lectern.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()  # it still presents
    lectern.rest()
    assert "code" not in lectern.query()


def test_a_step_without_code_has_no_button_and_the_next_one_has_its_code_again(lectern: Lectern) -> None:
    heart = scenes.scene(6).NAMES.index("heart")
    lectern.open(scene=6, step=heart, code=1)  # the one before: addresses count from 1
    button = lectern.root.get_by_role("button", name="Code", exact=True)
    panel = lectern.root.locator("aside.ln-code")
    expect(panel).to_be_visible()
    lectern.press("Space")
    lectern.at(6, heart)
    expect(panel).to_be_hidden()
    expect(button).to_be_hidden()
    lectern.press("c")
    lectern.press("Space")
    lectern.at(6, heart + 1)
    expect(panel).to_contain_text("Nothing to run yet")
    button.click()
    expect(panel).to_be_hidden()


@pytest.mark.slow
def test_no_picture_is_hidden_by_its_code(lectern: Lectern) -> None:
    lectern.page.set_viewport_size({"width": 1280, "height": 720})
    wrong = {}
    lectern.open(present=1, code=1)
    for number in range(1, len(scenes.MODULES) + 1):
        for step, name in enumerate(scenes.scene(number).NAMES):
            if (number, step) != (1, 0):
                lectern.press("Space" if step else "ArrowRight")
            lectern.at(number, step)
            if not snippets.has(scenes.MODULES[number - 1], name):
                continue
            stage, panel = (box_of(lectern.root.locator(part)) for part in (".ln-stage", "aside.ln-code"))
            found = lectern.wrong()
            if stage["x"] + stage["width"] > panel["x"] or stage["width"] < 0.45 * 1280:
                found.append(f"the picture has {stage} beside {panel}")
            if found:
                wrong[f"scene {number}, {name}"] = found
    assert wrong == {}


def test_a_point_to_take_home_leads_to_its_step_and_the_lecture_goes_on_there(lectern: Lectern) -> None:
    number = scenes.MODULES.index("scene_9_summary") + 1
    place = scenes.place("scene_3_recurrence", "parameters")
    lectern.open(scene=number, present=1)
    title = f"Go to scene 3, step {place['step'] + 1}"
    lectern.root.get_by_role("button", name=title).press("Enter")
    lectern.at(3, place["step"])
    lectern.press("Space")
    lectern.at(3, place["step"] + 1)

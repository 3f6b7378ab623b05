"""The lecturer's window: notes, the next step, a clock, the room's answers; its keys drive the stage."""

import re

from playwright.sync_api import Page, expect

from rnnviz import i18n
from rnnviz.ui.pages.learn import notes, scenes
from tests.browser.lecturing import Lectern
from tests.browser.test_accessible import wrong

DARK = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((c) => c < 64)"


def opened(lectern: Lectern) -> Page:
    """The lecturer's window."""
    with lectern.page.expect_popup() as window:
        lectern.press("n")
    desk = window.value
    expect(desk.locator("#title")).not_to_be_empty()
    return desk


def test_the_window_follows_the_stage_drives_it_has_a_clock_and_says_when_it_is_gone(
    lectern: Lectern,
) -> None:
    lectern.open(scene=4)
    with lectern.page.expect_popup() as window:
        lectern.root.get_by_role("button", name="Notes").click()
    desk = window.value
    first, second = (notes.note("scene_4_product", name) for name in scenes.scene(4).NAMES[:2])
    assert first is not None
    assert second is not None
    expect(desk.locator("#title")).to_have_text(first.title)
    expect(desk.locator("#lines li")).to_have_text([first.say, first.ask])
    expect(desk.locator("#next")).to_contain_text(second.title)
    expect(desk.locator("#where")).to_contain_text("4 One product · 1/5")
    desk.keyboard.press("Space")
    lectern.at(4, 1)
    expect(desk.locator("#title")).to_have_text(second.title)
    desk.keyboard.press("ArrowRight")
    lectern.at(5, 0)
    desk.get_by_role("button", name="Back").click()
    lectern.at(4, 1)
    desk.get_by_role("button", name="Go on").click()
    lectern.at(4, 2)
    lectern.press("ArrowUp")  # the stage's own keys
    expect(desk.locator("#title")).to_have_text(second.title)
    clock = desk.get_by_role("timer")
    expect(clock).to_have_text("0:00")
    desk.get_by_role("button", name="Start").click()
    expect(clock).to_have_text(re.compile("0:0[1-9]"))
    desk.get_by_role("button", name="Pause").click()
    stood = clock.text_content() or ""
    desk.reload()
    expect(clock).to_have_text(stood)
    desk.get_by_role("button", name="Set to 0:00").click()
    expect(clock).to_have_text("0:00")
    lost = desk.get_by_role("status")
    expect(lost).to_be_hidden()
    lectern.page.get_by_test_id("stSidebarNav").get_by_text("Perplexity").click()
    expect(lost).to_be_visible()
    desk.close()


def test_a_stage_that_is_loaded_again_has_its_window_and_a_copy_of_the_tab_another(lectern: Lectern) -> None:
    lectern.open(scene=4)
    desk = opened(lectern)
    lectern.open(scene=5)
    expect(desk.locator("#where")).to_contain_text("5 A character model · 1/7")
    desk.get_by_role("button", name="Go on").click()
    lectern.at(5, 1)
    with lectern.page.expect_popup() as copied:
        lectern.page.evaluate("void open(location.href)")  # its sessionStorage goes along
    expect(copied.value.get_by_test_id("rnnviz-learn")).to_have_attribute("data-rest", "true")
    desk.get_by_role("button", name="Go on").click()
    lectern.at(5, 2)
    expect(copied.value.get_by_test_id("rnnviz-learn")).to_have_attribute("data-step", "1")
    copied.value.close()
    desk.close()


def test_it_speaks_the_stage_s_language_in_its_colours(lectern: Lectern) -> None:
    lectern.open(scene=6, lang="zh")
    desk = opened(lectern)
    expect(desk.locator("html")).to_have_attribute("lang", "zh")
    title = notes.note("scene_6_perplexity", "game")
    assert title is not None
    expect(desk.locator("#title")).to_have_text(i18n.translations("zh").gettext(title.title))
    assert desk.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for scheme in ("dark", "light"):
        lectern.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        desk.wait_for_function(DARK if scheme == "dark" else f"!{DARK}")
        assert wrong(desk) == []
    desk.close()

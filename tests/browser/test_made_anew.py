"""A view that Streamlit mounts anew, with an answer to the one before it, finds what it has to show."""

import re

from playwright.sync_api import Page, expect

from tests.support.driving import highlighted, letter, make_anew, until_highlighted
from tests.support.lecturing import Lectern


def test_remounted_training_view_shows_same_model(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/train?run=shipped:timemachine-gru")
    view = page.get_by_test_id("rnnviz-training")
    expect(view).to_have_attribute("data-state", "shipped")
    expect(view.locator(".rt-lines .main-svg").first).to_be_visible()
    moment = page.get_by_role("slider", name="Moment of training")  # it plays by itself: go to the end
    moment.fill(moment.get_attribute("max") or "")
    expect(view).to_have_attribute("data-playing", "false")
    step = view.get_attribute("data-step") or ""
    make_anew(view)
    expect(view).to_have_attribute("data-step", step)
    expect(view.locator(".rt-lines .main-svg").first).to_be_visible()


def test_remounted_dashboard_shows_same_choice(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/inside?model=tiny-gru&part=memory")
    dashboard = page.get_by_test_id("rnnviz-dashboard").first
    expect(dashboard).to_have_attribute("data-drawn", re.compile(r"\d+"))
    text = dashboard.locator(".dash-open").first
    page.mouse.click(*letter(text, 6))
    until_highlighted(text, "pin", 1)
    (chosen, *_), where = highlighted(text, "pin"), letter(text, 6)
    make_anew(dashboard)
    expect(dashboard).to_have_attribute("data-theme", "dark")
    until_highlighted(text, "pin", 1)
    assert (highlighted(text, "pin"), letter(text, 6)) == ([chosen], where)


def test_remounted_lecture_shows_same_step(page: Page, app_url: str) -> None:
    lectern = Lectern(page, app_url)
    lectern.open(step="parameters")
    lectern.at_step("parameters")
    lectern.press("ArrowDown")
    lectern.at_step("adjacent")
    make_anew(page.get_by_test_id("rnnviz-learn"))
    lectern.at_step("adjacent")
    lectern.press("Space")
    lectern.at_step("minibatch")

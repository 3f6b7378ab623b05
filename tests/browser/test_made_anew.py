"""A view that Streamlit mounts anew, with an answer to the one before it, finds what it has to show."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import Live
from tests.browser.driving import make_anew
from tests.browser.lecturing import Lectern


def test_the_live_view_shows_the_text_that_was_there(live: Live) -> None:
    live.write("the end of a word")
    live.area.press("End")
    live.area.press("s")
    live.painted(18)
    make_anew(live.root)
    live.painted(18)
    expect(live.root).to_have_attribute("data-theme", "dark")
    assert live.text == "the end of a words"
    live.write("and it reads on")


FORGOTTEN = """
() => {
  window.opened = 0;
  window.connections = WebSocket.prototype;
  window.WebSocket = class extends WebSocket {
    constructor(address, protocols) {
      const page = Array.isArray(protocols); // the page's connection, not the view's own
      super(address, page ? protocols.slice(0, 2) : protocols); // without the session's name
      if (page) this.addEventListener("open", () => window.opened++);
    }
  };
}
"""
"""From now on a connection is to a server that doesn't know this tab's session, like another process."""


def cut(page: Page) -> None:
    """Close the page's connection, as when its server dies."""
    tools = page.context.new_cdp_session(page)
    kind = tools.send("Runtime.evaluate", {"expression": "connections"})["result"]["objectId"]
    found = tools.send("Runtime.queryObjects", {"prototypeObjectId": kind})["objects"]["objectId"]
    # Prototypes are found too, which can't be closed.
    close = "function () { for (const one of this) try { one.close(); } catch {} }"
    tools.send("Runtime.callFunctionOn", {"functionDeclaration": close, "objectId": found})
    tools.detach()


def test_what_is_typed_outlives_the_process_that_had_the_session(live: Live) -> None:
    page, text = live.page, live.text
    page.evaluate(FORGOTTEN)
    cut(page)  # nothing was typed yet, so Streamlit would ask for nothing
    page.wait_for_function("() => window.opened === 1")
    live.area.press("End")
    live.area.press("!")
    live.painted(len(text) + 1)
    cut(page)
    live.area.press("Home")
    live.area.press("?")  # asked of nobody, and not in the address yet
    live.painted(len(text) + 2)
    assert live.text == f"?{text}!"
    assert live.area.evaluate("area => area.selectionStart") == 1
    assert page.evaluate("() => window.opened") == 2


def test_the_training_view_shows_the_model_that_was_there(page: Page, app_url: str) -> None:
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


def test_a_board_shows_the_choice_that_was_there(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/inside?model=tiny-gru&part=gates")
    board = page.get_by_test_id("rnnviz-board").first
    expect(board).to_have_attribute("data-drawn", re.compile(r"\d+"))
    letter = board.locator(".bd-open span[data-t='6']").first
    letter.click()
    chosen = board.locator(".bd-open .bd-at").first
    expect(chosen).to_have_attribute("data-t", "6")
    make_anew(board)
    expect(board).to_have_attribute("data-drawn", re.compile(r"\d+"))
    expect(chosen).to_have_attribute("data-t", "6")


def test_the_lecture_shows_the_step_that_was_there(page: Page, app_url: str) -> None:
    lectern = Lectern(page, app_url)
    lectern.open(scene=3)
    lectern.at(3, 0)
    lectern.press("Space")
    lectern.at(3, 1)
    make_anew(page.get_by_test_id("rnnviz-learn"))
    lectern.at(3, 1)
    lectern.press("Space")
    lectern.at(3, 2)

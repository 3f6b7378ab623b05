"""The Train page in a real browser: a run that moves, is found again, stops, and opens in Explore."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from rnnviz.lab.run import runs
from tests.support.browser import tab_to
from tests.support.driving import box_of, until_changed
from tests.support.made_runs import make_run, training

PICTURE = "(view) => view.querySelector('.rt-heat').toDataURL()"
COLOUR = "(view) => view.querySelector('.rt-sentence').lastElementChild.style.backgroundColor"
PATIENCE = 240_000  # a run makes way for everything else, so on a busy machine it starts late


@pytest.fixture(autouse=True)
def _own_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("RNNVIZ_RUNS", str(folder / "runs"))
    yield
    for run in runs.listed():
        runs.stop(run.id)
    # Each test meets the page as it is without the runs of those before it.
    shutil.rmtree(folder / "runs", ignore_errors=True)
    for model in (folder / "models").iterdir():
        model.unlink()


def open_page(page: Page, url: str, **query: str) -> Locator:
    """The page, and on it the training view."""
    page.goto(f"{url}/train?" + "&".join(f"{k}={v}" for k, v in query.items()))
    expect(page.get_by_role("heading", name="Train your own")).to_be_visible()
    # Of two, as while another run's view takes its place, either: what is asked of it waits for the new one.
    return page.locator("[data-testid=rnnviz-training]:not([hidden])").first


def settled(view: Locator) -> None:
    """Wait for the last thing that a page brings, its chart."""
    expect(view.locator(".rt-lines .main-svg").first).to_be_visible()


def test_toy_run_learns_and_opens_in_explore(page: Page, app_url: str) -> None:
    view = open_page(page, app_url)
    expect(page.get_by_text("How shipped models learnt")).to_be_visible()  # replays are a gallery, below
    expect(view).to_have_count(0)
    tab_to(page, "Start$")
    page.keyboard.press("Enter")
    expect(view).to_have_attribute("data-run", "machine-rnn")
    expect(view).to_have_attribute("data-state", "finished", timeout=PATIENCE)
    # What was over in a moment is played again, to its end.
    expect(view).to_have_attribute("data-playing", "false")
    expect(view).to_have_attribute("data-step", "200")
    assert float(page.get_by_test_id("training-train").inner_text()) < 1.05
    expect(page.get_by_role("img", name=re.compile("step 200 .* values lie between"))).to_be_attached()
    expect(page.get_by_role("img", name=re.compile(r"training text: perplexity 1\.\d\d"))).to_be_attached()
    # Seven characters leave none to measure on.
    expect(view.locator(".rt-legend")).to_have_text("training text")
    expect(view.locator(".rt-chart .rt-notice")).to_contain_text("better than a uniform guess")
    view.locator("summary").click()
    expect(view.locator(".rt-details-chart .main-svg").first).to_be_visible()
    expect(page.get_by_test_id("training-rate")).to_have_text(re.compile(r"\d"))
    learnt, expected = view.evaluate(PICTURE), view.evaluate(COLOUR)
    expect(view.locator(".rt-sample")).to_contain_text("machinemachinemachine")
    slider = page.get_by_role("slider", name="Moment of training")
    slider.fill("0")
    expect(view).to_have_attribute("data-step", "0")
    until_changed(view, PICTURE, learnt)
    until_changed(view, COLOUR, expected)  # the character was a surprise before
    page.get_by_test_id("training-play").click()
    expect(view).to_have_attribute("data-step", "200")
    page.get_by_role("button", name="Open in Explore").click()
    expect(page.get_by_test_id("rnnviz-live")).to_have_attribute("data-painted", "7")
    expect(page).to_have_url(re.compile("model=machine-rnn"))


def test_running_run_moves_survives_reload_and_stops(page: Page, app_url: str) -> None:
    with training("moving") as folder:
        view = open_page(page, app_url, run="moving")
        expect(view).to_have_attribute("data-state", "running")
        expect(page.get_by_test_id("training-when")).to_contain_text("now")
        settled(view)
        arrived = view.get_attribute("data-step") or ""
        expect(view).not_to_have_attribute("data-step", arrived)  # the page has come to rest, the run goes on
        view.locator(".rt-heat").evaluate("canvas => { window.mine = canvas; }")
        box = view.bounding_box()
        picture = view.evaluate(PICTURE)
        for _ in range(3):
            step = view.get_attribute("data-step") or ""
            expect(view).not_to_have_attribute("data-step", step)
        until_changed(view, PICTURE, picture)
        # It is the same element, at the same place: nothing flickers or jumps.
        assert view.locator(".rt-heat").evaluate("canvas => canvas === window.mine")
        assert view.bounding_box() == box
        page.reload()
        expect(view).to_have_attribute("data-run", "moving")
        expect(view).to_have_attribute("data-state", "running")
        page.get_by_role("button", name="Stop").click()
        expect(view).to_have_attribute("data-state", "stopped")
        assert folder.stop.exists()
        expect(page.get_by_role("button", name="Resume")).to_be_visible()


def test_resumed_run_is_followed_from_any_step(page: Page, app_url: str) -> None:
    make_run("again", "stopped")
    view = open_page(page, app_url, run="again")
    slider = page.get_by_role("slider", name="Moment of training")
    slider.fill("3")
    expect(view).to_have_attribute("data-step", "10")
    with training("first"):  # the only place is taken: it waits
        page.get_by_role("button", name="Resume").click()
        expect(view).to_have_attribute("data-state", "waiting")
        expect(view).to_have_attribute("data-step", "30")
        expect(page.get_by_test_id("training-when")).to_contain_text("now")
        runs.stop("again")


def test_two_clicks_delete_run_in_view_alone(page: Page, app_url: str) -> None:
    for n, name in enumerate(("one", "two", "three"), 1):
        make_run(name, created=float(n))
    view = open_page(page, app_url, run="three")
    expect(view).to_have_attribute("data-run", "three")
    settled(view)
    delete = page.get_by_role("button", name="Delete", exact=True)
    really = page.get_by_role("button", name="Delete this run")
    delete.click()
    expect(page.get_by_text("Delete three? It can't be restored. A saved model stays.")).to_be_visible()
    page.get_by_role("radio", name="two").dispatch_event("click")  # without a click outside, which closes it
    expect(view).to_have_attribute("data-run", "two")
    expect(really).to_have_count(0)
    delete.click()
    expect(page.get_by_text("Delete two? It can't be restored.")).to_be_visible()
    place = box_of(really)
    really.click()
    expect(view).to_have_attribute("data-run", "three")
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    expect(page.get_by_role("radio", name="two")).to_have_count(0)
    expect(really).to_have_count(0)
    settled(view)
    assert [run.id for run in runs.listed()] == ["three", "one"]
    make_run("two", "stopped", created=4.0, watch_text="<i>A machine</i>")
    page.get_by_test_id("stSidebar").get_by_text("two", exact=True).click()
    expect(view).to_have_attribute("data-run", "two")
    expect(view.get_by_role("img", name="<i>A machine</i>")).to_have_text("<i>A·machine</i>")
    expect(view.locator(".rt-sample")).to_have_text("<b>time")
    expect(page.get_by_text("This run is not there any more")).to_have_count(0)
    page.get_by_test_id("stSidebar").get_by_text("中文").click()
    expect(view).to_contain_text("验证困惑度")

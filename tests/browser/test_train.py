"""The Train page in a real browser: a run that moves, is found again, stops, and opens in Explore."""

from __future__ import annotations

import json
import os
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from rnnviz.runs import api as runs
from tests.browser.driving import ROOT, serve
from tests.runs.made_runs import made, training

LONG = 60_000
PATIENCE = 240_000  # a run makes way for everything else, so on a busy machine it starts late


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the app of these tests keeps its runs and models."""
    return tmp_path_factory.mktemp("train")


@pytest.fixture(scope="module")
def train_url(folder: Path, models_folder: Path) -> Iterator[str]:
    """An app with runs and models of its own."""
    (folder / "models").mkdir()
    environment = {
        **os.environ,
        "RNNVIZ_RUNS": str(folder / "runs"),
        "RNNVIZ_MODELS": os.pathsep.join([str(folder / "models"), str(models_folder)]),
        "OMP_NUM_THREADS": "1",
        "RNNVIZ_NICE": "0",  # other tests are at work
    }
    with serve(ROOT / "app.py", environment=environment) as url:
        yield url


@pytest.fixture(autouse=True)
def _own_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("RNNVIZ_RUNS", str(folder / "runs"))
    yield
    for run in runs.listed():
        runs.stop(run.id)
    # Each test meets the page as it is without the runs of those before it.
    shutil.rmtree(folder / "runs", ignore_errors=True)


def open_page(page: Page, url: str, **query: str) -> Locator:
    """The page, and on it the training view."""
    page.goto(f"{url}/train?" + "&".join(f"{k}={v}" for k, v in query.items()))
    expect(page.get_by_role("heading", name="Train your own")).to_be_visible(timeout=LONG)
    return page.get_by_test_id("rnnviz-training")


def settled(view: Locator) -> None:
    """Wait for the last thing that a page brings, its chart."""
    expect(view.locator(".rt-lines .main-svg").first).to_be_visible(timeout=LONG)


def picture(view: Locator) -> str:
    """What is painted in the heat map, pixel by pixel."""
    return str(view.locator(".rt-heat").evaluate("canvas => canvas.toDataURL()"))


def test_the_toy_learns_before_ones_eyes_and_opens_in_explore(
    page: Page, train_url: str, folder: Path
) -> None:
    view = open_page(page, train_url)
    expect(view).to_have_attribute("data-state", "shipped", timeout=LONG)  # a model's story, before any run
    page.get_by_role("button", name="Start").click()
    expect(view).to_have_attribute("data-run", "machine-rnn", timeout=LONG)
    expect(view).to_have_attribute("data-state", "finished", timeout=PATIENCE)
    # What was over in a moment is played again, to its end.
    expect(view).to_have_attribute("data-playing", "false", timeout=LONG)
    expect(view).to_have_attribute("data-step", "200", timeout=LONG)
    assert float(page.get_by_test_id("training-train").inner_text()) < 1.05
    expect(view.locator(".rt-lines .main-svg").first).to_be_visible(timeout=LONG)
    # Seven characters leave none to measure on.
    expect(view.locator(".rt-legend")).to_have_text("training text")
    expect(view.locator(".rt-chart .rt-notice")).to_contain_text("better than a blind guess")
    learnt = picture(view)
    slider = page.get_by_role("slider", name="Moment of training")
    slider.fill("0")
    expect(view).to_have_attribute("data-step", "0", timeout=LONG)
    assert picture(view) != learnt
    page.get_by_test_id("training-play").click()
    expect(view).to_have_attribute("data-step", "200", timeout=LONG)
    page.get_by_role("button", name="Open in Explore").click()
    expect(page.get_by_test_id("rnnviz-live")).to_have_attribute("data-painted", "7", timeout=LONG)
    assert (folder / "models" / "machine-rnn.safetensors").is_file()
    assert "model=machine-rnn" in page.url


def test_a_run_moves_is_found_after_a_reload_and_stops_at_once(page: Page, train_url: str) -> None:
    with training("moving") as folder:
        view = open_page(page, train_url, run="moving")
        expect(view).to_have_attribute("data-state", "running", timeout=LONG)
        expect(page.get_by_test_id("training-when")).to_contain_text("now", timeout=LONG)
        settled(view)
        view.locator(".rt-heat").evaluate("canvas => { window.mine = canvas; }")
        box = view.bounding_box()
        seen = picture(view)
        for _ in range(3):
            step = view.get_attribute("data-step") or ""
            expect(view).not_to_have_attribute("data-step", step, timeout=LONG)
        changed = "([root, seen]) => root.querySelector('.rt-heat').toDataURL() !== seen"
        page.wait_for_function(changed, arg=[view.element_handle(), seen], timeout=LONG)
        # It is the same element, at the same place: nothing flickers or jumps.
        assert view.locator(".rt-heat").evaluate("canvas => canvas === window.mine")
        assert view.bounding_box() == box
        page.reload()
        expect(view).to_have_attribute("data-run", "moving", timeout=LONG)
        expect(view).to_have_attribute("data-state", "running", timeout=LONG)
        page.get_by_role("button", name="Stop").click()
        expect(view).to_have_attribute("data-state", "stopped", timeout=LONG)
        assert folder.stop.exists()
        expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=LONG)
        expect(page.get_by_text("What was learnt is saved")).to_be_visible(timeout=LONG)


def test_waiting_runs_are_seen_in_their_order(page: Page, train_url: str) -> None:
    with training("first"), training("third", waiting=True):
        view = open_page(page, train_url, run="third")
        expect(view).to_have_attribute("data-state", "waiting", timeout=LONG)
        expect(view).to_contain_text("1 run before it", timeout=LONG)
        runs.stop("first")
        expect(view).to_contain_text("next in the queue", timeout=LONG)
        expect(page.get_by_role("button", name="Leave the queue")).to_be_visible(timeout=LONG)


def test_hostile_checkpoints_are_refused_in_a_sentence(page: Page, train_url: str, folder: Path) -> None:
    settled(open_page(page, train_url))
    page.get_by_text("Bring a model that was trained elsewhere").click()
    upload = page.locator(".st-key-train-bring input[type=file]")
    header = json.dumps(
        {"__metadata__": {"rnnviz": json.dumps({"format": 1})}, "w": {"dtype": "F32"}}
    ).encode()
    for name, data in {
        "text": b"<script>alert(1)</script>",
        "huge": struct.pack("<Q", 2**60) + b"{}",
        "odd": struct.pack("<Q", len(header)) + header,
    }.items():
        upload.set_input_files([{"name": f"{name}.safetensors", "mimeType": "x", "buffer": data}])
        expect(page.get_by_role("alert").filter(has_text=name)).to_be_visible(timeout=LONG)
        expect(page.get_by_role("button", name="Save among the models")).to_have_count(0, timeout=LONG)
    assert not list((folder / "models").glob("*script*"))
    expect(page.get_by_test_id("stException")).to_have_count(0, timeout=LONG)


def test_words_of_a_run_are_no_markup_and_chinese_is_spoken(page: Page, train_url: str) -> None:
    made("marked", watched="<i>bold</i>")
    view = open_page(page, train_url, run="marked", lang="en")
    expect(view).to_contain_text("Reading “<i>bold</i>”", timeout=LONG)
    expect(view.locator(".rt-sample")).to_have_text("<b>time", timeout=LONG)
    page.goto(f"{train_url}/train?run=marked&lang=zh")
    expect(view).to_contain_text("验证困惑度", timeout=LONG)
    expect(page.get_by_role("button", name="开始")).to_be_visible(timeout=LONG)


def test_a_deleted_run_is_gone_at_once_and_its_name_is_free(page: Page, train_url: str) -> None:
    made("one", created=1.0)
    made("two", created=2.0)
    view = open_page(page, train_url, run="two")
    expect(view).to_have_attribute("data-run", "two", timeout=LONG)
    settled(view)
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete for good").click()
    expect(view).to_have_attribute("data-run", "one", timeout=LONG)
    expect(page.get_by_role("radio", name="two")).to_have_count(0, timeout=LONG)
    made("two", "stopped", created=3.0, watched="A machine")
    page.get_by_text("two", exact=True).click()
    expect(view).to_have_attribute("data-run", "two", timeout=LONG)
    expect(view.locator(".rt-probe .rt-head b")).to_have_text("Reading “A machine”", timeout=LONG)
    expect(page.get_by_text("This run is not there any more")).to_have_count(0)

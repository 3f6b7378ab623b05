"""Every address of 2.0.0, in slides, worksheets and bookmarks, leads where addresses.json says."""

import json
from operator import itemgetter
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from rnnviz.networks.checkpoint import save
from rnnviz.networks.ngram import NgramModel
from rnnviz.page.payload import unpack
from rnnviz.ui.pages.learn.lecture import Lecture
from rnnviz.ui.serving import entry
from tests.support.app import *  # noqa: F403 - its fixtures: no page shows an error
from tests.support.apptest import address_fields, components, open_page, run_until_settled
from tests.support.made_runs import make_run
from tests.support.models import TEXT, tiny

ROWS = json.loads(Path(__file__).with_name("addresses.json").read_text("utf-8"))
LECTURE = [row for row in ROWS if row[1] == "step"]
FILES = [row for row in ROWS if row[1] in ("redirect", "file")]
PAGES = [row for row in ROWS if row not in LECTURE and row not in FILES]


def query(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query))


@pytest.fixture(scope="session")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small ones of shipped names, which hide those."""
    folder = tmp_path_factory.mktemp("networks")
    for cell in ("gru", "lstm"):
        save(tiny(cell), folder / f"timemachine-{cell}.safetensors")
    save(NgramModel.fit(TEXT, order=3, name="timemachine-6gram"), folder / "timemachine-6gram.safetensors")
    return folder


@pytest.fixture
def my_run(networks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks, and a run, of this test."""
    monkeypatch.setenv("RNNVIZ_MODELS", str(networks))
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path))
    make_run("my-gru")


@pytest.mark.usefixtures("my_run")
@pytest.mark.parametrize("row", PAGES, ids=itemgetter(0))
def test_a_page(row: list[str]) -> None:
    """It shows what its address asks for, as the address that it gives itself says, or says why not."""
    address, page, widgets = row
    app = open_page(urlsplit(address).path[1:] or "explore", **query(address))
    if page == "perplexity":
        run_until_settled(app, page)
    st.cache_resource.clear()
    assert (app.session_state["address.page"] or "explore") == page
    assert app.title or components(app), "an empty page"
    missed = [item.value for item in app.warning if item.icon == ":material/swap_horiz:"]
    values = " ".join(item.value for kind in ("warning", "info") for item in app.get(kind))
    if widgets and "=" not in widgets:
        assert widgets in values
        return
    assert not missed
    app_values = address_fields(app)
    for component in components(app):
        if component.proto.component_name == "rnnviz.live":
            header = unpack(component.proto.bytes)[0]
            app_values |= header | header.get("arrival", {})
    assert {key: str(app_values.get(key)) for key, _ in parse_qsl(widgets)} == dict(parse_qsl(widgets))


@pytest.mark.parametrize("row", LECTURE, ids=itemgetter(0))
def test_a_step_of_the_lecture(row: list[str]) -> None:
    address, _kind, step, *values = row
    lecture = Lecture(query(address))
    app_values = json.loads(lecture.answer(None, {}, str))
    assert "error" not in app_values
    assert (lecture.step.name, app_values["query"]["step"]) == (step, step)
    assert app_values["notice"]
    assert app_values["data"]
    assert dict(parse_qsl("".join(values))).items() <= app_values["query"].items()


@pytest.mark.usefixtures("my_run")
@pytest.mark.parametrize("row", FILES, ids=itemgetter(0))
def test_an_address_beside_the_pages(row: list[str]) -> None:
    address, kind, widgets = row
    with TestClient(Starlette(routes=entry.app_parts()["routes"]), follow_redirects=False) as browser:
        answer = browser.get(address)
    if kind == "redirect":
        assert (answer.is_redirect, answer.headers["location"]) == (True, widgets)
    else:
        assert answer.status_code == 200
        assert widgets in answer.text

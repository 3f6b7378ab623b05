"""Every page with a network whose gate doesn't look at the state."""

from pathlib import Path
from typing import Any

import pytest

from rnnviz.lab.run import runs
from rnnviz.networks.checkpoint import load, save
from rnnviz.scoring.tracer import trace
from tests.support.apptest import Open, page_words, run_until_settled
from tests.support.lab_pages import INSIDE_PARTS, pick_text
from tests.support.models import tiny, tiny_card


@pytest.fixture
def linear(tmp_path: Path, only_tiny_models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A minGRU stands beside the tiny models."""
    save(tiny("mingru", layers=2, card=tiny_card()), tmp_path / "tiny-mingru.safetensors")
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path, only_tiny_models])


@pytest.mark.usefixtures("linear")
def test_every_part_of_inside_opens_and_a_unit_is_held_at_any_value_of_its_layer(
    open_app: Open, tmp_path: Path
) -> None:
    app = open_app("inside", model="tiny-mingru")
    for part in INSIDE_PARTS:
        app.segmented_control(key="part").set_value(part).run()
        assert "no gates" not in page_words(app)
    read = trace(load(tmp_path / "tiny-mingru.safetensors"), app.text_area(key="inside.text").value)
    (value,) = [one for one in app.slider if one.label == "value"]
    assert value.max == -value.min >= abs(read.hidden[:, 0]).max() > value.max - 0.1


@pytest.mark.usefixtures("linear")
def test_connectivity_shows_what_is_left_in_the_state(open_app: Open, dashboards: dict[str, Any]) -> None:
    run_until_settled(open_app("inside", part="memory", model="tiny-mingru", layer="1"), "inside")
    (panel,) = [p for p in dashboards["inside.memory"]["panels"] if p["name"] == "left"]
    assert "the state of layer 1" in panel["title"]
    run_until_settled(open_app("inside", part="memory", model="tiny-gru"), "inside")
    assert not [p for p in dashboards["inside.memory"]["panels"] if p["name"] == "left"]


def test_a_cell_without_w_hh_is_trained_without_dropping_its_entries(
    open_app: Open, started: list[runs.Description]
) -> None:
    app = pick_text(open_app("train"), "python-docs")
    app.button_group(key="train-more").set_value("settings").run()
    app.slider(key="set-dropout_weight").set_value(0.3).run()
    app.selectbox(key="set-cell").select("mingru").run()
    assert app.slider(key="set-dropout_weight").disabled
    assert app.slider(key="set-dropout_layer").disabled  # there is one layer
    app.number_input(key="set-layers").set_value(2).run()
    app.slider(key="set-dropout_layer").set_value(0.2).run()
    app.button(key="train-start").click().run()
    assert [
        (one.config.cell, one.config.dropout_weight, one.config.dropout_layer, one.name) for one in started
    ] == [("mingru", 0.0, 0.2, "python-docs-mingru")]

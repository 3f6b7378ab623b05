"""Inside, Cause: units and directions that are changed, ablated, or a letter in their place."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from rnnviz import units
from rnnviz.lab.analysis import ablation, directions
from rnnviz.lab.analysis.interventions import Intervention
from rnnviz.lab.pages.inside import unit_changes
from rnnviz.networks.checkpoint import save
from rnnviz.scoring.tracer import trace
from tests.support.apptest import Open, page_words, run_until_settled
from tests.support.lab_pages import TINY_GRU, ask_dashboard, choose_way, text_values, write_text
from tests.support.models import TEXT, tiny, tiny_card

pytestmark = pytest.mark.usefixtures("short_texts")


def test_holding_a_unit_changes_probabilities_and_perplexity(
    open_app: Open, dashboards: dict[str, Any]
) -> None:
    app = open_app("inside", model="tiny-gru", part="cause")
    app.text_input(key="inside.units").set_value("0-3").run()
    before = dashboards["inside.cause"]["panels"][0]["figures"]["light"]["data"]
    assert before[0]["x"] != before[1]["x"]
    text = app.text_area(key="inside.text").value
    changed = trace(TINY_GRU, text, change=Intervention((0, 1, 2, 3), "clamp", 1.0))
    perplexities = [f"{read.perplexity[-1]:.2f}" for read in (trace(TINY_GRU, text), changed)]
    assert [m.value for m in app.metric] == perplexities
    app.slider(key="inside.value").set_value(-1.0).run()
    assert dashboards["inside.cause"]["panels"][0]["figures"]["light"]["data"][1]["x"] != before[1]["x"]
    app.text_input(key="inside.units").set_value("0, nine").run()
    assert "Write the numbers of units" in page_words(app)


def test_address_names_the_unit_and_its_quantity(open_app: Open) -> None:
    app = open_app("inside", model="tiny-lstm", part="cause", unit="5", quantity="cell")
    assert app.text_input(key="inside.units").value == "5"
    assert app.toggle(key="inside.cell").value
    assert app.slider(key="inside.value").set_value(-1.0).run().text_input(key="inside.units").value == "5"


@pytest.mark.usefixtures("troubled")
def test_change_has_random_controls_and_a_target(open_app: Open) -> None:
    app = run_until_settled(open_app("inside", model="tiny-gru", part="cause"), "inside")
    assert "of 16 changes of random units" in page_words(app)
    run_until_settled(app.button(key="inside.effect.longer.start").click().run(), "inside")
    assert "nothing to compare" in page_words(app)
    app.selectbox(key="inside.effect.target").set_value("vowel").run()
    run_until_settled(app.button(key="inside.effect.longer.start").click().run(), "inside")
    assert "elsewhere" in page_words(app)


def test_python_network_offers_targets_of_the_tokeniser(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tiny("gru", card=tiny_card(language="python")), tmp_path / "program.safetensors")
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    app = open_app("inside", model="program", part="cause")
    offered = app.selectbox(key="inside.effect.target").options
    assert {"inside a Python string", "inside Python brackets"} <= set(offered)
    assert "how many Python brackets are open" not in offered


def test_ablation_ranks_units_and_a_click_changes_one(
    open_app: Open, dashboards: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app("inside", model="tiny-gru", part="cause")
    run_until_settled(choose_way(app, "rank").button(key="inside.ablate.start").click().run(), "inside")
    assert "inside.ablation" not in dashboards
    monkeypatch.setattr(ablation, "MIN_REPLICATION", -2.0)
    app.run()
    panel = dashboards["inside.ablation"]["panels"][0]
    ask_dashboard(app, "inside.ablation", kind="pick", panel="ablation", value=panel["picks"][2])
    assert app.text_input(key="inside.units").value == str(panel["picks"][2])


def test_changed_letter_is_followed_in_several_networks(open_app: Open, dashboards: dict[str, Any]) -> None:
    app = open_app("inside", model="tiny-gru", part="cause")
    ask_dashboard(choose_way(app, "letter"), "inside.changed", kind="at", value=3)
    app = run_until_settled(app.text_input(key="inside.letter").set_value("z").run(), "inside")
    lines = dashboards["inside.changed"]["panels"][0]["figures"]["light"]["data"]
    assert [line["name"] for line in lines] == ["tiny-gru", "tiny-lstm"]
    assert "tiny" in page_words(app)


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("3", [3]),
        (" 7, 3;3 ", [3, 7]),
        ("1-3", [1, 2, 3]),
        ("", []),
        ("9", []),
        ("3-1", []),
        ("a", []),
        ("-1", []),
    ],
)
def test_units_field_reads_numbers_and_ranges(written: str, numbers: list[int]) -> None:
    assert unit_changes.read_numbers(written, 8) == tuple(numbers)


def offered(app: AppTest) -> bool:
    """Whether there is a direction to choose."""
    return any(box.key == "inside.cause.what" for box in app.selectbox)


def test_direction_is_held_in_the_states_in_which_it_was_found(
    open_app: Open, dashboards: dict[str, Any]
) -> None:
    app = run_until_settled(
        write_text(open_app("inside", model="tiny-lstm", part="units"), TEXT[:300]), "inside"
    )
    app = app.segmented_control(key="part").set_value("cause").run()
    assert offered(app)
    app = app.toggle(key="inside.cell").set_value(True).run()
    assert not offered(app)
    app = run_until_settled(app.segmented_control(key="part").set_value("units").run(), "inside")
    app = run_until_settled(app.selectbox(key="inside.quantity").set_value("cell").run(), "inside")
    app = app.segmented_control(key="part").set_value("cause").run()
    app = app.selectbox(key="inside.cause.what").set_value("means").run()
    # The text is coloured by what it gains where the difference of means is held at the slider's value.
    read = trace(tiny("lstm"), TEXT[:300])
    along = directions.mean_difference(read, units.target("word-start", TEXT[:300]), quantity="cell")
    value = next(slider for slider in app.slider if slider.label == "value").value
    changed = trace(tiny("lstm"), TEXT[:300], change=Intervention(along, "clamp", value))
    gained = (read.nll - changed.nll) / np.log(2)
    np.testing.assert_allclose(text_values(dashboards["inside.cause"]), gained, atol=1e-4)
    app = app.selectbox(key="inside.cause.what").set_value("unit").run()
    assert app.text_input(key="inside.units").value

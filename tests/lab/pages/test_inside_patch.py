"""Cause's way Patch: two texts, the state of one put into the other, and what is said of it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from rnnviz import units
from rnnviz.lab.analysis import directions
from rnnviz.lab.analysis.patching import Patched
from rnnviz.lab.pages.inside import unit_changes
from rnnviz.lab.pages.inside.cause import MAX_PATCH_CHARS, OTHER_PATCH_EXAMPLE, PATCH_EXAMPLES, PATCH_KEY
from rnnviz.networks.checkpoint import save
from rnnviz.scoring.tracer import trace
from rnnviz.ui.shell import render_finding
from tests.support.apptest import Open, page_words, run_until_settled
from tests.support.lab_pages import ask_dashboard, choose_way, text_values
from tests.support.models import tiny, tiny_card

KEY = PATCH_KEY
SOURCE, TARGET = (text.replace("|", "") for text in OTHER_PATCH_EXAMPLE)
AT, TO = (text.index("|") for text in OTHER_PATCH_EXAMPLE)
GRU = tiny("gru", card=tiny_card())


def shows(sent: dict[str, Any], done: Patched) -> None:
    """A dashboard has the figures of a patch."""
    panel = next(p for p in sent["panels"] if p["name"] == "lines")
    kl = sent["arrays"][panel["figures"]["light"]["data"][0]["y"]["$"]]
    np.testing.assert_allclose(kl, done.divergence[done.to : done.to + 20], atol=1e-5)
    np.testing.assert_allclose(text_values(sent), -done.loss / np.log(2), atol=1e-5)


def choose(app: AppTest, name: str, value: str) -> AppTest:
    return run_until_settled(
        next(c for c in app.segmented_control if c.key == f"{KEY}.{name}").set_value(value).run(), "inside"
    )


def test_patch_puts_a_state_into_another_text(open_app: Open, dashboards: dict[str, Any]) -> None:
    app = choose_way(open_app("inside", part="cause", model="tiny-gru"), "patch")
    done = units.patch(GRU, SOURCE, AT, TARGET, TO)
    sent = dashboards[KEY]
    shows(sent, done)
    texts = [
        bytes(sent["arrays"][board_text["codes"]].astype("<u4")).decode("utf-32-le")
        for board_text in sent["texts"]
    ]
    assert texts[0] == TARGET
    assert texts[2] == done.continuation(
        unit_changes.CONTINUATION_CHARS, temperature=0.8, seed=unit_changes.CONTINUATION_SEED
    )
    unrelated = app.text_area(key="inside.text").value
    sentences = done.controls(GRU, unrelated).sentences()
    assert render_finding.join_sentences(sentences, "said", "hint") in page_words(app)
    # A click in each text moves its place.
    ask_dashboard(app, f"{KEY}.source", kind="at", value=3)
    ask_dashboard(app, f"{KEY}.target", kind="at", value=7)
    run_until_settled(
        ask_dashboard(app, f"{KEY}.target", kind="at", value=10_000), "inside"
    )  # no such character
    shows(dashboards[KEY], units.patch(GRU, SOURCE, 4, TARGET, 8))
    assert (dashboards[f"{KEY}.source"]["at"], dashboards[f"{KEY}.target"]["at"]) == (3, 7)


def test_patch_of_units_takes_texts_of_the_reader(open_app: Open, dashboards: dict[str, Any]) -> None:
    app = choose_way(open_app("inside", part="cause", model="tiny-lstm"), "patch")
    app.text_area(key=f"{KEY}.source.text").set_value("a machine").run()
    app.text_area(key=f"{KEY}.target.text").set_value("his voice was quiet").run()
    choose(app, "part", "part")
    app.text_input(key=f"{KEY}.units").set_value("2-4").run()
    choose(app, "quantity", "cell")
    model = tiny("lstm", name="tiny-lstm")
    texts = {"source": "a machine", "at": min(AT, 9), "into": "his voice was quiet", "to": min(TO, 19)}
    shows(dashboards[KEY], units.patch(model, **texts, units=[2, 3, 4], quantity="cell"))
    app.text_input(key=f"{KEY}.units").set_value("99").run()
    assert "Write the numbers of units" in app.info[0].value
    app.text_area(key=f"{KEY}.target.text").set_value("").run()
    assert "both fields" in app.info[0].value


def test_random_direction_lies_in_the_layer_in_view(
    open_app: Open, dashboards: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tiny("gru", layers=2, card=tiny_card())
    save(deep, tmp_path / "deep.safetensors")
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    app = choose(
        choose_way(open_app("inside", part="cause", model="deep", layer="1"), "patch"), "part", "part"
    )
    assert app.selectbox(key="inside.patch.what").options == ["units", "a random direction"]
    app.selectbox(key="inside.patch.what").set_value("random").run()
    run_until_settled(app.number_input(key="inside.patch.random").set_value(3).run(), "inside")
    direction = directions.random_direction(12, 3, layer=1)
    shows(dashboards[KEY], units.patch(deep, SOURCE, AT, TARGET, TO, units=direction))


@pytest.mark.parametrize("texts", [OTHER_PATCH_EXAMPLE, *PATCH_EXAMPLES.values()])
def test_patch_examples_have_one_place(texts: tuple[str, str]) -> None:
    assert all(text.count("|") == 1 and len(text) <= MAX_PATCH_CHARS for text in texts)
    assert all(trace(tiny("gru"), text).text for text in texts)

"""Inside's Memory: its rows are the package's, wherever the cursor is; gates and W_hh stand below."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rnnviz import gradients
from rnnviz.lab.analysis import attribution
from rnnviz.lab.pages.inside import memory
from rnnviz.ui.shell import render_finding
from tests.support.apptest import Open, page_words, run_until_settled
from tests.support.jobs import SOON, GatedJob
from tests.support.lab_pages import ask_dashboard, text_values, write_text
from tests.support.models import TEXT, tiny, tiny_card

GRU = tiny("gru", card=tiny_card())


def test_shares_are_those_of_connectivity(
    open_app: Open, dashboards: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "PICTURE_CHARS", 60)
    app = run_until_settled(
        write_text(open_app("inside", part="memory", model="tiny-gru"), TEXT[:150]), "inside"
    )
    for at, target in ((41, None), (60, None), (120, None), (120, "e")):
        app.text_input(key="inside.asked").set_value(target or "").run()
        app = run_until_settled(ask_dashboard(app, "inside.memory", kind="at", value=at), "inside")
        sent = dashboards["inside.memory"]
        shares = text_values(sent, 0)
        row = gradients.connectivity(GRU, TEXT[:150], at=at, character=target)
        np.testing.assert_allclose(shares[:at], 100 * row.shares, rtol=1e-3)
        assert np.isnan(shares[at:]).all()
        assert f"character {at + 1}" in sent["texts"][0]["label"]
    names = [panel["name"] for panel in sent["panels"]]
    assert names == ["square-tiny-gru", "square-tiny-lstm", "reach"]


@pytest.mark.parametrize("model", ["tiny-gru", "tiny-lstm"])
def test_gates_and_eigenvalues_are_drawn_before_any_click(
    open_app: Open, dashboards: dict[str, Any], model: str
) -> None:
    app = run_until_settled(open_app("inside", part="memory", model=model), "inside")
    assert [panel["name"] for panel in dashboards["inside.gates"]["panels"]] == [
        "gate",
        "saturation",
        "constants",
    ]
    network = tiny(model.removeprefix("tiny-"), card=tiny_card())
    spectrum = gradients.spectrum(network)
    assert render_finding.join_sentences(spectrum.sentences()) in page_words(app)
    sent = dashboards["inside.spectrum"]
    trained, untrained = sent["panels"][0]["figures"]["light"]["data"]
    np.testing.assert_allclose(sent["arrays"][trained["x"]["$"]], spectrum.trained.real, atol=1e-6)
    np.testing.assert_allclose(sent["arrays"][untrained["y"]["$"]], spectrum.untrained.imag, atol=1e-6)


def test_long_computation_can_be_cancelled(
    open_app: Open, dashboards: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    gated = GatedJob()
    part = replace(memory.CONNECTIVITY, run=lambda model, text, progress, **arguments: gated(progress))
    monkeypatch.setattr(memory, "CONNECTIVITY", part)
    app = open_app("inside", part="memory", model="tiny-gru")
    assert gated.started.wait(SOON)
    assert "inside.memory" not in dashboards
    next(b for b in app.button if b.label == "Cancel").click().run()
    assert gated.closed.wait(SOON)
    assert "cancelled" in page_words(app)


def test_attribution_draws_three_rows_for_the_character_in_view(
    open_app: Open, dashboards: dict[str, Any]
) -> None:
    app = run_until_settled(
        write_text(open_app("inside", part="memory", model="tiny-gru"), TEXT[:90]), "inside"
    )
    assert memory.ATTRIBUTION_KEY not in dashboards
    run_until_settled(app.toggle(key="inside.attribution.on").set_value(True).run(), "inside")
    run_until_settled(ask_dashboard(app, memory.ATTRIBUTION_KEY, kind="at", value=41), "inside")
    contributions = attribution.contributions(GRU, TEXT[:90], at=41)
    sent = dashboards[memory.ATTRIBUTION_KEY]
    assert len(sent["texts"]) == 3
    np.testing.assert_allclose(np.nansum(text_values(sent, 0)), 100, atol=1e-2)
    np.testing.assert_allclose(text_values(sent, 1)[:41], contributions.integrated.values, atol=1e-5)
    np.testing.assert_allclose(text_values(sent, 2)[:41], contributions.occluded.values, atol=1e-5)
    assert np.isnan(text_values(sent, 1)[41:]).all()
    assert render_finding.join_sentences(contributions.sentences()) in page_words(app)
    # Another baseline gives other numbers.
    run_until_settled(app.segmented_control(key="inside.instead").set_value("unknown").run(), "inside")
    assert not np.array_equal(
        text_values(dashboards[memory.ATTRIBUTION_KEY], 2)[:41], contributions.occluded.values
    )

"""Inside's Connectivity: its rows are the package's, wherever the cursor is; its work can be cancelled."""

from typing import Any

import numpy as np
import pytest

from rnnviz import gradients
from rnnviz.ui.pages.inside import memory
from tests.conftest import TEXT, tiny, tiny_card
from tests.ui.apptest import clean, settled
from tests.ui.conftest import Open, everything
from tests.ui.test_inside import ask, boards, write
from tests.ui.test_jobs import SOON, Endless

__all__ = ["boards"]


@pytest.mark.parametrize("at_once", [500, 10])
def test_a_row_within_the_picture_and_beyond_it(
    open_app: Open, boards: dict[str, Any], monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """Beyond `AT_ONCE` characters a row is a job's."""
    monkeypatch.setattr(memory, "SQUARE", 60)
    monkeypatch.setattr(memory, "AT_ONCE", at_once)
    app = settled(write(open_app("inside", part="memory", model="tiny-gru"), TEXT[:150]), "inside")
    model = tiny("gru", card=tiny_card())
    for at, target in ((41, None), (60, None), (120, None), (120, "e")):
        app.text_input(key="inside.asked").set_value(target or "").run()
        app = settled(ask(app, "inside.memory", what="at", value=at), "inside")
        clean(app)
        sent = boards["inside.memory"]
        shares = sent["arrays"][sent["texts"][0]["values"]]
        row = 10.0 ** gradients.connectivity_row(model, TEXT[:150], at=at, target=target).log10
        np.testing.assert_allclose(shares[:at], 100 * row / row.sum(), rtol=1e-3)
        assert np.isnan(shares[at:]).all()
        assert f"character {at + 1}" in sent["texts"][0]["label"]
    assert "the first 60 characters" in sent["panels"][0]["title"]


def test_what_takes_long_shows_progress_and_can_be_cancelled(
    open_app: Open, boards: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = Endless()
    monkeypatch.setattr(memory, "_reading", lambda *asked: endless(asked[-1]))
    app = open_app("inside", part="memory", model="tiny-gru")
    assert endless.started.wait(SOON)
    assert "inside.memory" not in boards
    next(b for b in app.button if b.label == "Cancel").click().run()
    assert endless.closed.wait(SOON)
    assert "Following the gradient back in tiny" in everything(app)
    assert "cancelled" in everything(app)
    clean(app)

"""Inside without torch: networks are compared, and what needs torch names the command that brings it."""

from typing import Any

import pytest

from rnnviz.errors import install
from rnnviz.networks import has_torch
from tests.lab.pages.test_inside import cause
from tests.support.apptest import Open, everything, settled


@pytest.fixture(autouse=True)
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(has_torch, "installed", lambda: False)


def test_inside_compares_two_networks_but_not_with_one_before_its_training(
    open_app: Open, boards: dict[str, Any]
) -> None:
    app = cause(open_app("inside", part="cause", model="tiny-gru"), "compare")
    chosen = next(box for box in app.multiselect if box.label.startswith("Compare"))
    assert (chosen.options, chosen.value) == (["tiny-lstm"], ["tiny-lstm"])
    assert f"`{install('lab')}`" in everything(app)
    assert boards
    boards.clear()
    app = settled(app.segmented_control(key="part").set_value("memory").run(), "inside")
    settled(app.toggle(key="inside.attribution.on").set_value(True).run(), "inside")
    assert boards["inside.attribution"]["texts"]  # in numpy

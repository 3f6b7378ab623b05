"""A page of the lab that is left and come back to: what was chosen there is still chosen."""

import pytest

from rnnviz.lab.pages.inside import search_texts
from tests.support.apptest import Open, addressed, settled, turn
from tests.support.lab_pages import INSIDE_PARTS


def test_what_was_chosen_is_still_chosen_after_another_part_and_another_page(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_texts, "here", list)  # the text on the page is searched, and that at once
    app = settled(open_app("inside", model="tiny-gru"), "inside")
    other = (app.number_input(key="inside.unit").value + 1) % 8
    app.number_input(key="inside.unit").set_value(other).run()
    for part in INSIDE_PARTS[1:]:
        app.segmented_control(key="part").set_value(part).run()
    settled(app.segmented_control(key="part").set_value("memory").run(), "inside")
    app.segmented_control(key="inside.gate").set_value("reset").run()
    turn(turn(app, "learn"), "inside")
    assert app.segmented_control(key="part").value == "memory"
    assert app.segmented_control(key="inside.gate").value == "reset"
    assert addressed(app)["part"] == "memory"
    app.segmented_control(key="part").set_value("units").run()
    assert app.number_input(key="inside.unit").value == other

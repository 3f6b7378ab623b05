"""Inside's Connectivity: integrated gradients and occlusion beside the gradient."""

from typing import Any

import numpy as np

from rnnviz import gradients
from rnnviz.ui.pages.inside import attribution
from rnnviz.ui.words import signed
from tests.conftest import TEXT, tiny, tiny_card
from tests.ui.apptest import clean, settled
from tests.ui.conftest import Open, everything
from tests.ui.test_inside import ask, boards, write

__all__ = ["boards"]

KEY = attribution.KEY


def test_three_rows_over_the_text_for_the_character_in_view(open_app: Open, boards: dict[str, Any]) -> None:
    app = open_app("inside", part="memory", model="tiny-gru")
    app = write(app, TEXT[:90])
    assert KEY not in boards
    app.toggle(key="inside.attribution.on").set_value(True).run()
    app = settled(app, "inside")
    ask(app, KEY, what="at", value=41)
    app = settled(app, "inside")
    clean(app)
    model = tiny("gru", card=tiny_card())
    sent = boards[KEY]
    rows = [sent["arrays"][one["values"]] for one in sent["texts"]]
    integrated = gradients.attribute(model, TEXT[:90], at=41)
    occluded = gradients.attribute(model, TEXT[:90], at=41, method="occlusion")
    assert len(rows) == 3
    assert np.isnan(rows[1][41:]).all()
    np.testing.assert_allclose(rows[1][:41], integrated.values, atol=1e-5)
    np.testing.assert_allclose(rows[2][:41], occluded.values, atol=1e-5)
    assert abs(np.nansum(rows[0]) - 100) < 1e-2
    assert f"add up to {signed(integrated.values.sum())}" in everything(app)


def test_another_place_holder_gives_other_numbers(open_app: Open, boards: dict[str, Any]) -> None:
    app = open_app("inside", part="memory", model="tiny-lstm")
    app.toggle(key="inside.attribution.on").set_value(True).run()
    app = settled(app, "inside")
    before = boards[KEY]["arrays"][boards[KEY]["texts"][2]["values"]]
    next(c for c in app.segmented_control if c.key == "inside.instead").set_value("unknown").run()
    app = settled(app, "inside")
    clean(app)
    after = boards[KEY]["arrays"][boards[KEY]["texts"][2]["values"]]
    assert not np.array_equal(np.nan_to_num(before), np.nan_to_num(after))


def test_a_sum_that_is_off_is_not_shown() -> None:
    values = np.array([1.0, 2.0])
    off = gradients.Attribution("ab", 1, None, 0, values, -1.0, -3.0, "integrated", "average", 256)
    assert "left out" in attribution._said(off, "c")
    right = gradients.Attribution("ab", 1, None, 0, values, 0.0, -3.0, "integrated", "average", 32, 0.4)
    said = attribution._said(right, "c")
    assert "add up to +3.00" in said
    assert "the sum is wrong" in said
    assert "cancel" not in said
    values = np.array([10.0, -7.0])
    large = gradients.Attribution("ab", 1, None, 0, values, 0.0, -3.0, "integrated", "average", 32)
    assert "add up to 17.00" in attribution._said(large, "c")

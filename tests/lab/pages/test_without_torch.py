"""Where torch isn't installed, what needs it says which command brings it, and all else is alive."""

from typing import Any

import pytest

from rnnviz.errors import install
from rnnviz.networks import engines
from tests.support.apptest import Open, page_words, run_until_settled
from tests.support.lab_pages import choose_way
from tests.support.models import TEXT
from tests.support.perplexity_page import upload


@pytest.fixture(autouse=True)
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "has_torch", lambda: False)


@pytest.mark.parametrize(("locale", "said"), [("en", "needs torch"), ("zh", "要用 torch")])
def test_train_cannot_start(open_app: Open, locale: str, said: str) -> None:
    app = open_app("train", locale=locale)
    assert [said in each.value and "pip" in each.value for each in app.info] == [True]
    assert app.button(key="train-start").disabled


def test_a_text_is_scored(open_app: Open) -> None:
    app = upload(open_app("perplexity", model="tiny-gru"), ("a.txt", TEXT))
    assert app.metric[0].label == r"Perplexity of a\.txt"


def test_inside_compares_two_networks_but_not_with_one_before_its_training(
    open_app: Open, dashboards: dict[str, Any]
) -> None:
    app = choose_way(open_app("inside", part="cause", model="tiny-gru"), "compare")
    chosen = next(box for box in app.multiselect if box.label.startswith("Compare"))
    assert (chosen.options, chosen.value) == (["tiny-lstm"], ["tiny-lstm"])
    assert f"`{install('lab')}`" in page_words(app)
    assert dashboards
    dashboards.clear()
    app = run_until_settled(app.segmented_control(key="part").set_value("memory").run(), "inside")
    run_until_settled(app.toggle(key="inside.attribution.on").set_value(True).run(), "inside")
    assert dashboards["inside.attribution"]["texts"]  # in numpy

"""Inside's part Patch: two texts, the state of one put into the other, and what is said of it."""

from typing import Any

import numpy as np
import pytest

from rnnviz import units
from rnnviz.reading.trace import trace
from rnnviz.ui.pages.inside import patch, patched
from tests.conftest import tiny, tiny_card
from tests.ui.apptest import clean
from tests.ui.conftest import Open, everything
from tests.ui.test_inside import ask, boards

__all__ = ["boards"]

KEY = patched.KEY
SOURCE, TARGET = (text.replace("|", "") for text in patch.OTHER)
AT, TO = (text.index("|") for text in patch.OTHER)


def kl(sent: dict[str, Any], line: int = 0) -> np.ndarray:
    panel = next(p for p in sent["panels"] if p["name"] == "lines")
    return np.asarray(sent["arrays"][panel["figures"]["light"]["data"][line]["y"]["$"]])


def test_the_state_goes_from_one_text_into_the_other(open_app: Open, boards: dict[str, Any]) -> None:
    app = open_app("inside", part="patch", model="tiny-gru")
    clean(app)
    model = tiny("gru", card=tiny_card())
    done = units.patch(model, SOURCE, AT, TARGET, TO)
    sent = boards[KEY]
    np.testing.assert_allclose(kl(sent), done.divergence[TO : TO + patch.AHEAD], atol=1e-5)
    values = sent["arrays"][sent["texts"][0]["values"]]
    np.testing.assert_allclose(values, -done.loss / np.log(2), atol=1e-5)
    texts = [bytes(sent["arrays"][one["codes"]].astype("<u4")).decode("utf-32-le") for one in sent["texts"]]
    assert texts[0] == TARGET
    assert texts[2] == done.continuation(patched.LENGTH, temperature=0.8, seed=patched.SEED)
    assert f"{patch._nats(done.divergence[TO])} nats" in everything(app)
    assert "random moves of the same size" in everything(app)
    # A click in each text moves its place.
    ask(app, f"{KEY}.source", what="at", value=3)
    ask(app, f"{KEY}.target", what="at", value=7)
    ask(app, f"{KEY}.target", what="at", value=10_000)  # no such character
    done = units.patch(model, SOURCE, 4, TARGET, 8)
    np.testing.assert_allclose(kl(boards[KEY]), done.divergence[8 : 8 + patch.AHEAD], atol=1e-5)
    assert (boards[f"{KEY}.source"]["at"], boards[f"{KEY}.target"]["at"]) == (3, 7)
    # A state put into itself moves nothing.
    app.text_area(key=f"{KEY}.target.text").set_value(SOURCE).run()
    ask(app, f"{KEY}.source", what="at", value=7)
    assert "nothing moves" in everything(app)
    assert not np.nan_to_num(kl(boards[KEY])).any()
    clean(app)


def test_a_part_alone_and_texts_of_ones_own(open_app: Open, boards: dict[str, Any]) -> None:
    app = open_app("inside", part="patch", model="tiny-lstm")
    app.text_area(key=f"{KEY}.source.text").set_value("a machine").run()
    app.text_area(key=f"{KEY}.target.text").set_value("his voice was quiet").run()
    next(c for c in app.segmented_control if c.key == f"{KEY}.part").set_value("part").run()
    app.text_input(key=f"{KEY}.units").set_value("2-4").run()
    next(c for c in app.segmented_control if c.key == f"{KEY}.quantity").set_value("cell").run()
    clean(app)
    model = tiny("lstm", name="tiny-lstm")
    at, to = min(AT, 9), min(TO, 19)
    done = units.patch(model, "a machine", at, "his voice was quiet", to, units=[2, 3, 4], quantity="cell")
    np.testing.assert_allclose(kl(boards[KEY]), done.divergence[to : to + patch.AHEAD], atol=1e-5)
    app.text_input(key=f"{KEY}.units").set_value("99").run()
    assert "Write the numbers of units" in app.info[0].value
    app.text_area(key=f"{KEY}.target.text").set_value("").run()
    assert "both fields" in app.info[0].value
    clean(app)


def test_a_direction_moves_less_than_the_state(open_app: Open, boards: dict[str, Any]) -> None:
    app = open_app("inside", part="patch", model="tiny-gru")
    whole = kl(boards[KEY])
    next(c for c in app.segmented_control if c.key == f"{KEY}.part").set_value("part").run()
    app.selectbox(key="inside.patch.what").set_value("random").run()
    app.number_input(key="inside.patch.random").set_value(3).run()
    clean(app)
    assert 0 < kl(boards[KEY])[0] < whole[0]
    along = units.directions.random(12, 3)
    done = units.patch(tiny("gru", card=tiny_card()), SOURCE, AT, TARGET, TO, units=along)
    np.testing.assert_allclose(kl(boards[KEY]), done.divergence[TO : TO + patch.AHEAD], atol=1e-5)


@pytest.mark.parametrize("texts", [patch.OTHER, *patch.EXAMPLES.values()])
def test_each_example_has_one_place(texts: tuple[str, str]) -> None:
    assert all(text.count("|") == 1 and len(text) <= patch.MOST for text in texts)
    assert all(trace(tiny("gru"), text).text for text in texts)

"""Scenes 2 to 4 without a browser: real networks and typed matrices, against another way to compute them."""

import math
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz.reading import scoring
from rnnviz.text.characters import visible
from rnnviz.ui.pages.learn import models, scenes
from rnnviz.ui.pages.learn.session import Lecture
from tests.ui.test_learn import answered


def shown(number: int, step: str, **ask: Any) -> dict[str, Any]:
    """What is drawn at a step after an ask."""
    sent = answered(
        Lecture({"scene": str(number)}), {"step": scenes.scene(number).NAMES.index(step), "ask": ask}
    )
    found: dict[str, Any] = sent["data"]
    return found


@pytest.mark.parametrize("kind", ["mlp", "rnn", "gru"])
@pytest.mark.parametrize("pair", [("in the dark nig", "I was going"), ("nig", "nag"), ("a", "b")])
def test_what_follows_two_texts_is_what_scoring_each_character_gives(
    kind: str, pair: tuple[str, str]
) -> None:
    model = rnnviz.load(f"timemachine-{kind}")
    drawn = shown(2, "prediction", left=pair[0], right=pair[1], model=kind)

    def nats(text: str) -> float:
        report = scoring.perplexity(model, text=text, precise=True)
        return math.log(report.perplexity) * report.characters

    after = []
    for text in pair:
        before = nats(text)
        after.append({c: math.exp(before - nats(text + c)) for c in model.vocabulary.characters})
    apart = max(abs(after[0][c] - after[1][c]) for c in model.vocabulary.characters)
    assert drawn["prediction"] == pytest.approx(apart, abs=2e-3)
    assert (drawn["prediction"] == 0) == (kind == "mlp" and pair[0][-1] == pair[1][-1])
    named = {visible(c): c for c in model.vocabulary.characters}
    for half, chances in zip((drawn["left"], drawn["right"]), after, strict=True):
        listed = [chances[named[symbol]] for symbol in drawn["symbols"]]
        assert half["chances"] == pytest.approx(listed, abs=2e-3)
        assert max(listed) == max(chances.values()), "the likeliest one is listed"


@pytest.mark.parametrize(("unit", "t"), [(181, 18), (6, 1), (254, 9), (0, 5)])
def test_a_units_parts_add_up_to_the_networks_state(unit: int, t: int) -> None:
    drawn = shown(3, "unit", unit=unit, t=t)
    hidden = rnnviz.trace(models.network("timemachine-rnn"), drawn["text"]).hidden[:, 0]
    assert drawn["h"] == pytest.approx(float(hidden[t - 1, unit]), abs=1e-5)
    assert drawn["sum"] == pytest.approx(drawn["input"] + drawn["before"] + drawn["bias"])
    assert drawn["h"] == pytest.approx(math.tanh(drawn["sum"]))
    assert drawn["states"][t - 1] == pytest.approx(hidden[t - 1, drawn["units"]].tolist(), abs=6e-4)


@pytest.mark.parametrize("seed", [0, 1, 77])
def test_two_products_and_one_are_sums_of_products(seed: int) -> None:
    drawn = shown(4, "try", seed=seed)
    for i in range(3):
        for j in range(4):
            own = math.fsum(drawn["X"][i][k] * drawn["W_xh"][k][j] for k in range(1))
            total = own + math.fsum(drawn["H"][i][k] * drawn["W_hh"][k][j] for k in range(4))
            assert drawn["sum"][i][j] == pytest.approx(total, abs=1e-14)
            assert drawn["product"][i][j] == pytest.approx(total, abs=1e-14)
    apart = np.abs(np.subtract(drawn["sum"], drawn["product"]))
    assert drawn["difference"] == apart.max() < 1e-14


def test_two_characters_that_a_network_does_not_know_are_one_to_it() -> None:
    for left, right in (("日", "本"), ("a", "b"), ("日", "b")):
        ask = {"left": left, "right": right}
        sent = answered(Lecture({"scene": "2"}), {"step": 0, "ask": ask})
        assert ("can tell them apart" in sent["notice"]) == (sent["data"]["prediction"] > 0)
        assert ("unknown" in sent["notice"]) == (left == "日" and right == "本")

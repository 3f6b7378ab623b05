"""Scene 7's gates that look at the input alone, without a browser: all that is drawn and said."""

from typing import Any

import numpy as np
import pytest

from rnnviz.lecture import linear
from rnnviz.ui.pages.learn import scene_7_backwards
from rnnviz.ui.pages.learn.session import Lecture
from tests.ui.test_learn import answered


def shown(**ask: Any) -> tuple[str, dict[str, Any]]:
    """What is said and drawn after an ask."""
    sent = answered(Lecture({"scene": "7"}), {"step": scene_7_backwards.LINEAR, "ask": ask})
    return sent["notice"], sent["data"]


@pytest.mark.parametrize("learned", ["trained", "untrained"])
@pytest.mark.parametrize("against", ["same", "other"])
@pytest.mark.parametrize(
    ("word", "place"), [("remember", None), ("remember", 7), ("mississippi", 4), ("tea", 1)]
)
def test_both_networks_are_shown_at_the_places_that_are_named(
    word: str, place: int | None, against: str, learned: str
) -> None:
    notice, data = shown(cued=word, place=place, against=against, learned=learned)
    t, s = data["t"], data["s"]
    assert t != s
    assert place in (None, t)
    same = word[t - 1] == word[s - 1]
    assert same == (against == "same" and word != "tea")
    for row, cell in zip(data["rows"], linear.CELLS, strict=True):
        seen = linear.read(*linear.network(cell, word, steps=100 if learned == "trained" else 0))
        for name, part in (("keep", seen.keep), ("write", seen.write)):
            np.testing.assert_array_equal(row[name], part[[s - 1, t - 1]])
            assert row["apart"][name == "write"] == np.abs(np.subtract(*row[name])).max()
        assert (row["apart"] == [0, 0]) == (same and cell == "mingru")
        assert (f"{row['apart'][0]:.2f}" in notice) == (cell == "gru" if same else against == "other")
    assert ("It takes no training" in notice) == (same and learned == "untrained")
    assert ("stands only once" in notice) == (against == "same" and not same)


def test_the_rounds_and_the_shares_are_those_of_the_network_that_is_shown() -> None:
    _, data = shown(place=6, cued_unit=3)
    seen = linear.read(*linear.network("mingru", "remember"))
    assert len(data["rounds"]) - 1 == 3
    np.testing.assert_allclose(data["rounds"][0], seen.write[:, 2], atol=1e-4)
    np.testing.assert_allclose(data["rounds"][-1], seen.state[:, 2], atol=1e-4)
    assert data["difference"] < 1e-14
    assert data["shares"] == seen.shares(6).tolist()
    assert data["joins"] == 6 + 5 + 3
    assert data["here"]["Z_t"]["value"] == [np.round(seen.keep[5], 4).tolist()]


def test_it_opens_where_a_letter_comes_again_and_something_else_follows() -> None:
    _, data = shown()
    assert (data["word"], data["t"], data["s"]) == ("remember", 5, 3)
    assert shown(cued="tea")[1]["t"] == 2
    assert {shown(cued="aaa", against=one)[1]["s"] for one in ("same", "other")} == {1}
    _, data = shown(place=11)
    assert data["t"] == 7, "no further than the word goes"


def test_its_address_brings_it_back_and_what_cannot_be_read_is_left() -> None:
    query = {"scene": "7", "step": "9", "word": "banana", "t": "4", "against": "other", "unit": "2"}
    lecture = Lecture(query)
    assert answered(Lecture(answered(lecture)["query"]))["data"] == answered(lecture)["data"]
    assert shown(cued="ab")[1]["word"] == "remember"
    lecture = Lecture(query)
    assert answered(lecture, {"ask": {"cued": "remember"}})["data"]["t"] == 5, "another word, another place"

"""Scene 1's numbers: counted anew, and by hand where a line is enough."""

import numpy as np
import pytest

from rnnviz import i18n
from rnnviz.lecture import scene_1_counts as scene
from rnnviz.lecture.number_format import percent
from rnnviz.lecture.prediction import nats
from rnnviz.lecture.readers import load, reader
from rnnviz.lecture.scene_6_perplexity import HELD_OUT
from rnnviz.lecture.scenes import scenes
from rnnviz.scoring.tracer import trace
from rnnviz.text import corpora
from tests.support.lecture import nodes_of

DARK, GREY = "the dark machine stood", "the grey machine stood"


def curves(step: str, **values: object) -> list[list[float]]:
    """The lines of a step's plot."""
    picture = next(step_ for step_ in scenes()[0].steps if step_.name == step).draw(values)
    return [line["ys"] for line in picture[0]["parts"][0]["lines"]]


def test_counts_take_two_texts_of_one_end_for_the_same_and_a_state_does_not() -> None:
    step = next(step_ for step_ in scenes()[0].steps if step_.name == "book")
    values = step.initial_values
    first, second = values["first"], values["second"]
    assert first[1:] == second
    assert len(second) == 43
    picture, notice = step.draw(values)
    counted, network = load("holmes-6gram"), load("holmes-lstm")
    P = [np.exp(counted.log_probs(counted.vocabulary.encode(text))) for text in (first, second)]
    assert np.array_equal(*P)
    Q = [np.exp(trace(network, text).log_probs[-1]) for text in (first, second)]
    quote = network.vocabulary.encode('"')[0]
    assert Q[0][quote] > 10 * Q[1][quote]
    assert f"the LSTM's by {percent(abs(Q[0] - Q[1]).max())}" in notice
    table, at_most = nodes_of(picture, "line")
    assert table["ys"][:2] == [94, 94**2]
    assert max(at_most["ys"]) == pytest.approx(counted.card["characters"], rel=1e-4)


def test_the_opening_texts_are_written_by_whom_the_table_names() -> None:
    texts = scene.written_texts()
    grams = load("holmes-6gram").shortened(3)
    for text, name in zip(texts, scene.WRITERS, strict=True):
        cost = {kind: nats(load(kind), text).mean() for kind in scene.WRITERS[1:]}
        if name in cost:
            assert min(cost, key=cost.__getitem__) == name
        else:
            assert nats(grams, text).mean() < min(cost.values())
    names = texts[-1].split("\n")
    assert len(set(names)) == scene.NAMES
    assert 0 < min(map(len, names)) <= max(map(len, names)) < 12, "each ended by itself"


def test_bits_on_the_last_tenth_are_those_of_the_counts_and_gates_win() -> None:
    held_out = corpora.read("timemachine").split().held_out
    picture = [nats(reader("6gram").shortened(n), held_out).mean() / np.log(2) for n in range(1, 7)]
    assert picture == pytest.approx(HELD_OUT["en"], abs=1e-4)
    for language, costs in HELD_OUT.items():
        with i18n.speaking(language):
            assert reader("gru").card["held_out"]["bits_per_character"] < min(costs)


def test_rules_keep_their_share_of_a_difference() -> None:
    all_kept, last, left = curves("any", first=DARK, second=GREY, t=22)
    assert all_kept == [1] * 22
    assert last == [1] * 8 + [0] * 14  # "dark" and "grey" are letters 5 to 8
    dark, grey = (trace(load("timemachine-rnn"), text).hidden[:, 0] for text in (DARK, GREY))
    apart = np.linalg.norm(dark - grey, axis=1)
    assert left[8:] == pytest.approx(apart[8:] / apart.max(), rel=1e-3)

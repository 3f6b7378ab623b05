"""Scene 1's numbers: counted anew, and by hand where a line is enough."""

import numpy as np
import pytest

from rnnviz import i18n
from rnnviz.lecture import scene_1_counts as scene
from rnnviz.lecture.prediction import nats
from rnnviz.lecture.primitives import Node
from rnnviz.lecture.readers import load, reader
from rnnviz.lecture.scenes import scenes
from rnnviz.scoring.tracer import trace
from rnnviz.text import corpora

DARK, GREY = "the dark machine stood", "the grey machine stood"


def curves(step: str, **values: object) -> list[list[float]]:
    """The lines of a step's plot."""
    picture = next(step_ for step_ in scenes()[0].steps if step_.name == step).draw(values)
    return [line["ys"] for line in picture[0]["parts"][0]["lines"]]


def test_a_table_of_bigrams_and_those_of_the_book() -> None:
    split = corpora.read("timemachine").split()
    vocabulary = reader("6gram").vocabulary
    ids = [vocabulary.start, *vocabulary.encode(split.train + split.validation).tolist()]
    table, _network, different = curves("book", n=2)
    assert table[:3] == [69, 69 * 69, 69 * 69 * 69]
    bigrams, trigrams = ({tuple(ids[i : i + k]) for i in range(len(ids) - k + 1)} for k in (2, 3))
    assert different[:3] == [69, len(bigrams), len(trigrams)]


def test_bits_on_the_last_tenth_are_those_of_the_counts_and_gates_win() -> None:
    held_out = corpora.read("timemachine").split().held_out
    picture = [nats(reader("6gram").shortened(n), held_out).mean() / np.log(2) for n in range(1, 7)]
    assert picture == pytest.approx(scene.HELD_OUT["en"], abs=1e-4)
    for language, costs in scene.HELD_OUT.items():
        with i18n.speaking(language):
            assert reader("gru").card["held_out"]["bits_per_character"] < min(costs)


def test_rules_keep_their_share_of_a_difference() -> None:
    all_kept, last, left = curves("any", first=DARK, second=GREY, t=22)
    assert all_kept == [1] * 22
    assert last == [1] * 8 + [0] * 14  # "dark" and "grey" are letters 5 to 8
    dark, grey = (trace(load("timemachine-rnn"), text).hidden[:, 0] for text in (DARK, GREY))
    apart = np.linalg.norm(dark - grey, axis=1)
    assert left[8:] == pytest.approx(apart[8:] / apart.max(), rel=1e-3)


@pytest.mark.parametrize("n", [1, 4, 6])
def test_framed_contexts_are_those_that_the_book_lacks(n: int) -> None:
    split = corpora.read("timemachine").split()
    read, line = split.train + split.validation, scene._SENTENCES["en"]
    picture: Node = scene.memory(line, n)[0]
    framed = next(part for part in picture["parts"][1]["parts"] if part["kind"] == "cells")
    lacking = [t for t in range(len(line)) if line[max(0, t - n + 1) : t] not in read]
    assert framed["framed"] == lacking

"""Averages of several texts: known values, and what they must not depend on."""

import math

import numpy as np
import pytest

from rnnviz.scoring.perplexity import UniformModel, perplexity
from rnnviz.scoring.score import averages
from rnnviz.text.vocabulary import Vocabulary
from tests.conftest import TEXT, tiny
from tests.scoring.pieces import costs

TEXTS = (TEXT[:200], TEXT[200:230], "qzx 时间")


def test_they_are_those_of_all_costs_and_of_the_means() -> None:
    model = tiny("gru")
    each = [costs(model, text) for text in TEXTS]
    found = averages([perplexity(model, text=text) for text in TEXTS])
    assert found.micro == pytest.approx(math.exp(np.concatenate(each).mean()))
    assert found.macro == pytest.approx(math.exp(np.mean([one.mean() for one in each])))
    assert found.micro != pytest.approx(found.macro, rel=0.01)
    assert (found.texts, found.characters) == (3, sum(map(len, TEXTS)))


def test_one_text_or_the_same_again_is_its_own_average() -> None:
    score = perplexity(tiny("gru"), text=TEXT)
    for scores in ([score], [score] * 3):
        found = averages(scores)
        assert found.micro == pytest.approx(score.perplexity)
        assert found.macro == pytest.approx(score.perplexity)


def test_a_uniform_guess_is_its_own_average_whatever_the_lengths() -> None:
    model = UniformModel(Vocabulary.from_text("abcd"))
    found = averages([perplexity(model, text=text) for text in ("a", "abcd" * 50)])
    assert found.micro == pytest.approx(found.macro)
    assert found.micro == pytest.approx(model.vocabulary.size)

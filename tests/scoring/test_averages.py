"""Averages of several texts: known values, and what they must not depend on."""

import math

import numpy as np
import pytest

from rnnviz.scoring.perplexity import perplexity
from rnnviz.scoring.score import averages
from tests.support.models import TEXT, tiny
from tests.support.pieces import costs

TEXTS = (TEXT[:200], TEXT[200:230], "qzx 时间")


def test_averages_equal_those_of_all_costs_and_of_the_means() -> None:
    model = tiny("gru")
    each = [costs(model, text) for text in TEXTS]
    found = averages([perplexity(model, text=text) for text in TEXTS])
    assert found.micro == pytest.approx(math.exp(np.concatenate(each).mean()))
    assert found.macro == pytest.approx(math.exp(np.mean([one.mean() for one in each])))
    assert found.micro != pytest.approx(found.macro, rel=0.01)
    assert (found.texts, found.characters) == (3, sum(map(len, TEXTS)))

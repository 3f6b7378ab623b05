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
    text_costs = [costs(model, text) for text in TEXTS]
    both = averages([perplexity(model, text=text) for text in TEXTS])
    assert both.micro == pytest.approx(math.exp(np.concatenate(text_costs).mean()))
    assert both.macro == pytest.approx(math.exp(np.mean([nats.mean() for nats in text_costs])))
    assert both.micro != pytest.approx(both.macro, rel=0.01)
    assert (both.texts, both.characters) == (3, sum(map(len, TEXTS)))

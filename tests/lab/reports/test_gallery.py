"""Each picture of the gallery, which the site shows."""

from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz import units
from tests.support.gallery import GALLERY


@pytest.mark.slow
@pytest.mark.parametrize("title", GALLERY)
def test_a_picture_has_a_title_named_axes_and_values(title: str) -> None:
    figure = GALLERY[title]()
    assert figure.layout.title.text
    assert figure.layout.xaxis.title.text
    for trace in figure.data:
        values = trace.z if trace.type == "heatmap" else trace.x if trace.orientation == "h" else trace.y
        assert np.isfinite(np.asarray(values, np.float64)).any()


@pytest.mark.parametrize(
    ("make", "has"),
    [
        (lambda trace: trace[:0], "none"),
        (lambda _: rnnviz.load("timemachine-gru"), "none"),
        (units.gates, "saturation, constants"),
    ],
    ids=["no characters", "a model", "another panel's name"],
)
def test_a_picture_that_there_is_none_of_is_refused_in_a_sentence(make: Any, has: str) -> None:
    shown_object = make(rnnviz.trace(rnnviz.load("timemachine-gru"), "ab"))
    with pytest.raises(rnnviz.ConfigError, match=f"has no picture 'top': its pictures are {has}"):
        shown_object.plot("top")

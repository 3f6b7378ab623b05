"""What is shown of the connectivity of all predictions: the square of shares."""

import numpy as np

from rnnviz.findings import Panel, Square, count, words
from rnnviz.lab.analysis.connectivity import Connectivity


def panels(square: Connectivity) -> list[Panel]:
    """The square: row t is the connectivity of the prediction of character t; row 0 is empty."""
    with np.errstate(divide="ignore"):
        log10 = np.roll(np.log10(square.normalised), 1, axis=0)
    log10[:1] = -np.inf  # np.roll put the last prediction here, which is of no character in the text
    picture = Square(log10, words("connectivity.read"), words("connectivity.predicted"))
    notice, limits = words("connectivity.notice"), words("connectivity.limits")
    title = words("connectivity.title", characters=count(len(square)))
    return [Panel("square", title, picture, [notice], limits, link="xy", pick="at")]

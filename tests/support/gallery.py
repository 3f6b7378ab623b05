"""The gallery's pictures: each function's lines are shown beside what they draw.

`test_gallery.py` draws each, `docs/make.py` writes them into the site's page.
"""

from collections.abc import Callable
from typing import Any

import rnnviz
from rnnviz import gradients, units

TEXT = "The Time Traveller smiled round at us."
GALLERY: dict[str, Callable[[], Any]] = {}
"""The pictures in the order of the page, by their titles."""


def picture(title: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """A decorator: the function draws the picture of this title."""

    def add(function: Callable[[], Any]) -> Callable[[], Any]:
        GALLERY[title] = function
        return function

    return add


@picture("The states along a text")
def states() -> Any:
    model = rnnviz.load("timemachine-gru")
    return rnnviz.trace(model, TEXT).plot()


@picture("Two models read the same text")
def model_comparison() -> Any:
    models = [rnnviz.load("timemachine-gru"), rnnviz.load("timemachine-rnn")]
    return units.compare(models, TEXT).plot("running")


@picture("Units that follow a target")
def bracket_units() -> Any:
    code = rnnviz.corpora.open_corpus("python-library").split().held_out
    begin = code.index("\ndef ")  # outside of any string, whichever Python's library it is
    code = code[begin : begin + 2_000]
    return units.find(rnnviz.load("python-lstm"), code, "py-brackets", quantity="cell").plot()


@picture("Which next characters a unit favours")
def pushes() -> Any:
    code = rnnviz.corpora.open_corpus("python-library").split().held_out[:1_000]
    return units.scan(rnnviz.load("python-lstm"), code)[0, 266].plot("pushes")


@picture("Which gates stay open, and which stay closed")
def gates() -> Any:
    model = rnnviz.load("timemachine-lstm")
    return units.gates(rnnviz.trace(model, TEXT)).plot("saturation")


@picture("How much each prediction rests on each character before it")
def connectivity() -> Any:
    model = rnnviz.load("timemachine-gru")
    return gradients.connectivity(model, TEXT).plot()


@picture("How far back a prediction reaches")
def memory_length() -> Any:
    model = rnnviz.load("timemachine-rnn")
    return gradients.memory_length(model, TEXT * 3, lags=30).plot()


@picture("How long a changed letter is felt")
def letter_memory() -> Any:
    model = rnnviz.load("timemachine-gru")
    return units.perturb(model, TEXT, 4, "L").plot("divergence")

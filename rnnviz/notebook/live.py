"""`rnnviz.live`: the live view as a widget in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rnnviz.checks import checked
from rnnviz.errors import ConfigError, install
from rnnviz.networks.checkpoint import load_ngram_model
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_engine import Weights
from rnnviz.networks.numpy_model import Network, weights_of

if TYPE_CHECKING:
    from rnnviz.notebook.widget import Live


@checked
def live(
    model: Network, text: str | None = None, *, ngram: NgramModel | None = None, temperature: float = 1.0
) -> Live:
    """The live view of `model` as a Jupyter widget: type, and look inside while it reads. The kernel answers
    each keystroke, so it must not be busy. Words are English.

    model        a network; an n-gram model has no hidden state to show
    text         the first text; None: the example in the model's card
    ngram        the n-gram model beside it; None: the one that the card names, if installed
    temperature  the first temperature of the bars and Continue; at 1 they show the network's own
                 probabilities

    The widget's `text` is the current text, and may be set; `trace` is its Trace. Needs anywidget, from
    the extra `notebook`. Raises ConfigError without anywidget, for a model without a hidden state, and
    for one whose step is a Python function.
    """
    if type(weights_of(model)) is not Weights:
        raise ConfigError(
            "the live view shows mlp, rnn, gru and lstm networks; {name!r} is a Python function: look at "
            "rnnviz.trace(model, text)",
            name=model.name,
        )
    if not 0 < temperature <= 10:
        raise ConfigError("temperature is above 0, at most 10; received {value}", value=temperature)
    try:
        from rnnviz.notebook.widget import Live
    except ImportError:
        raise ConfigError(
            "the live view in a notebook needs anywidget: {command}", command=install("notebook")
        ) from None
    return Live(model, text, load_ngram_model(model.card) if ngram is None else ngram, temperature)

"""`rnnviz.live`: the Explore page's view as a widget in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rnnviz.errors import ConfigError, ModelNotFoundError, install
from rnnviz.networks.numpy_engine import Weights
from rnnviz.networks.numpy_model import Network, weights_of

if TYPE_CHECKING:
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.notebook.widget import Live


def live(
    model: Network, text: str | None = None, *, ngram: NgramModel | None = None, temperature: float = 1.0
) -> Live:
    """The Explore page's view of `model` as a Jupyter widget: type, and look inside while it reads. Each
    keystroke is answered by the kernel, as by the app's server, so it must not be busy. Words are English.

    model        a network; an n-gram model has no hidden state to show
    text         what stands there at first, by default the example in the model's card
    ngram        the n-gram model beside it, by default the one that the card names, where it is here
    temperature  that the bars and Continue begin with; at 1 they are the network's own

    The widget's `text` is what stands there now, and may be set; `trace` is the Trace of it. Needs anywidget
    and Plotly, which the extra `notebook` brings. Raises ConfigError where anywidget is missing, for a model
    without a hidden state, and for one whose step is a Python function.
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
    return Live(model, text, _named_in(model.card) if ngram is None else ngram, temperature)


def _named_in(card: Any) -> NgramModel | None:
    """The n-gram model that a card names, if it is here."""
    from rnnviz.networks.checkpoint import load
    from rnnviz.networks.ngram import NgramModel

    name = card.get("ngram")
    try:
        found = load(name, device="cpu") if isinstance(name, str) else None
    except ModelNotFoundError:
        return None
    return found if isinstance(found, NgramModel) else None

"""rnnviz: look inside character-level recurrent language models.

    import rnnviz

    model = rnnviz.load("timemachine-gru")            # a shipped name, or a path
    trace = rnnviz.trace(model, "machine")            # the hidden state of every time step, and more
    score = rnnviz.perplexity(model, "machine")       # a file: pathlib.Path("book.txt"), or path="book.txt"

    load, save, available    models by name or path         train, fit, follow     models of a text
    trace, states, sample    states, predictions, text      adapt, adapt_step      your own network
    perplexity               of a text, a file, its rows    compress, decompress   a text in so many bits
    ngram                    counts of a text               live                   a notebook's widget

    rnnviz.units        find, probe, match: which units tell; Clamp, patch, ablate: what depends on them
    rnnviz.gradients    attribute, connectivity, memory_length: which characters a prediction rests on
    rnnviz.corpora      open_corpus: texts to train on

`help(rnnviz.trace)` explains one of them: its arguments, what it returns, and an example.
The public names stand in `__init__.pyi`, which type checkers read too. A name is
imported at its first use: `import rnnviz` itself is quick and loads neither torch
nor the app.
"""

from importlib import import_module
from importlib.util import find_spec

import lazy_loader

__version__ = "3.0.0"
_lazy_attribute, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]

_REMOVED_NAMES = {
    "mix": "the repository's examples/6_mix_and_adapt.py mixes two models, in a few lines",
    "dynamic": "the repository's examples/6_mix_and_adapt.py lets a network adapt, in a few lines",
}
"""Public names of 2.0.0 that are gone, and what to write instead."""


def __getattr__(name: str) -> object:
    try:
        return _lazy_attribute(name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        from rnnviz.errors import TorchMissingError

        raise TorchMissingError() from None
    except AttributeError:
        if name.startswith("_") or find_spec(f"rnnviz.{name}"):  # `from rnnviz import cli` asks here first
            raise
        if name in _REMOVED_NAMES:
            raise AttributeError(f"rnnviz.{name} is gone: {_REMOVED_NAMES[name]}") from None
        for room in ("units", "gradients", "corpora"):
            if name in import_module(f"rnnviz.{room}").__all__:
                raise AttributeError(f"rnnviz has no {name!r}: write rnnviz.{room}.{name}") from None
        raise

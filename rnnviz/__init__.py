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

from rnnviz import deprecated

__version__ = "2.0.0"
_found, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
_missing = deprecated.gone(
    __name__,
    {
        "adapt_state_dict": "load the state dict into torch's layers and give those to rnnviz.adapt",
        "NgramModel": "write rnnviz.ngram(text, order=…)",
        "Connectivity": "rnnviz.gradients.connectivity returns one",
        "StateNorms": "rnnviz.gradients.jacobian returns them",
        "connectivity_row": "write rnnviz.gradients.connectivity(model, text, at=…)",
        "jacobian_norms": "write rnnviz.gradients.jacobian(model, text)",
        "state_gradients": 'write rnnviz.gradients.jacobian(model, text, of="loss")',
        "ModelInfo": "rnnviz.available returns them",
        "Report": "rnnviz.perplexity returns a rnnviz.Score, with the same figures",
        "RowScore": "rnnviz.perplexity(model, path, column=…, each=…) is called with them",
        "RowsReport": "rnnviz.perplexity(model, path, column=…) returns one",
        "StepReport": "rnnviz.train yields them",
        "Vocabulary": "a model's is model.vocabulary; rnnviz.ngram and rnnviz.train make one of their text",
        "Tracer": "a text that grows is read anew by rnnviz.trace",
        "mix": "the repository's examples/6_mix_and_adapt.py mixes two models, in a few lines",
        "dynamic": "the repository's examples/6_mix_and_adapt.py lets a network adapt, in a few lines",
    },
    {
        "trace_many": ("rnnviz.scoring.tracer:trace", "rnnviz.trace(model, texts)"),
        "connectivity": ("rnnviz.analysis.connectivity:connectivity", "rnnviz.gradients.connectivity"),
        "CharModel": (
            "rnnviz.networks.torch_model:CharModel",
            "rnnviz.load or rnnviz.adapt, which return one",
        ),
        "UniformModel": (
            "rnnviz.scoring.language_model:UniformModel",
            "its perplexity, model.vocabulary.size",
        ),
        "open_rows": ("rnnviz.text.row_files:open_rows", "rnnviz.perplexity(model, path, column=…)"),
        "score_rows": ("rnnviz.scoring.rows:score_rows", "rnnviz.perplexity(model, path, column=…, each=…)"),
        "reshaped": ("rnnviz.scoring.sampling:sampling_distribution", "rnnviz.sampling_distribution"),
    },
    frames=3,  # `__getattr__` below stands between the caller and the warning
)


def __getattr__(name: str) -> object:
    if name == "runs":  # a module of 1.0.0: each of its names says what to write instead
        return import_module("rnnviz.runs")
    try:
        return _found(name) if name in __all__ else _missing(name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        from rnnviz.errors import TorchMissingError

        raise TorchMissingError() from None
    except AttributeError:
        if name.startswith("_") or find_spec(f"rnnviz.{name}"):  # `from rnnviz import cli` asks here first
            raise
        for room in ("units", "gradients", "corpora"):
            if name in import_module(f"rnnviz.{room}").__all__:
                raise AttributeError(f"rnnviz has no {name!r}: write rnnviz.{room}.{name}") from None
        raise

"""rnnviz: look inside character-level recurrent language models.

    import rnnviz

    model = rnnviz.load("timemachine-gru")            # a shipped name, or a path
    trace = rnnviz.trace(model, "machine")            # the hidden state of every time step, and more
    report = rnnviz.perplexity(model, text="machine")

Everything listed in `__all__` is public. Names are looked up when first used,
so that `import rnnviz` itself is quick and loads neither torch nor the app.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Where each public name lives. A type checker reads the same list from the block below.
_HOMES = {
    "CharModel": "model",
    "CheckpointError": "errors",
    "ConfigError": "errors",
    "Connectivity": "gradients",
    "CorpusError": "errors",
    "DecodingError": "errors",
    "DownloadError": "errors",
    "EmptyTextError": "errors",
    "ExportError": "errors",
    "ModelConfig": "config",
    "ModelInfo": "checkpoint",
    "ModelNotFoundError": "errors",
    "NgramModel": "ngram",
    "Report": "scoring",
    "RnnvizError": "errors",
    "StateNorms": "gradients",
    "StepReport": "training",
    "TextError": "errors",
    "Trace": "trace",
    "Tracer": "trace",
    "TrainConfig": "config",
    "TrainingError": "errors",
    "UniformModel": "scoring",
    "Vocabulary": "vocabulary",
    "adapt": "adapter",
    "adapt_state_dict": "adapter",
    "available": "checkpoint",
    "connectivity": "gradients",
    "connectivity_row": "gradients",
    "jacobian_norms": "gradients",
    "load": "checkpoint",
    "perplexity": "scoring",
    "sample": "sampling",
    "save": "checkpoint",
    "state_gradients": "gradients",
    "trace": "trace",
    "train": "training",
}

__all__ = [
    "CharModel",
    "CheckpointError",
    "ConfigError",
    "Connectivity",
    "CorpusError",
    "DecodingError",
    "DownloadError",
    "EmptyTextError",
    "ExportError",
    "ModelConfig",
    "ModelInfo",
    "ModelNotFoundError",
    "NgramModel",
    "Report",
    "RnnvizError",
    "StateNorms",
    "StepReport",
    "TextError",
    "Trace",
    "Tracer",
    "TrainConfig",
    "TrainingError",
    "UniformModel",
    "Vocabulary",
    "__version__",
    "adapt",
    "adapt_state_dict",
    "available",
    "connectivity",
    "connectivity_row",
    "jacobian_norms",
    "load",
    "perplexity",
    "sample",
    "save",
    "state_gradients",
    "trace",
    "train",
]

if TYPE_CHECKING:
    from rnnviz.adapter import adapt, adapt_state_dict
    from rnnviz.checkpoint import ModelInfo, available, load, save
    from rnnviz.config import ModelConfig, TrainConfig
    from rnnviz.errors import (
        CheckpointError,
        ConfigError,
        CorpusError,
        DecodingError,
        DownloadError,
        EmptyTextError,
        ExportError,
        ModelNotFoundError,
        RnnvizError,
        TextError,
        TrainingError,
    )
    from rnnviz.gradients import (
        Connectivity,
        StateNorms,
        connectivity,
        connectivity_row,
        jacobian_norms,
        state_gradients,
    )
    from rnnviz.model import CharModel
    from rnnviz.ngram import NgramModel
    from rnnviz.sampling import sample
    from rnnviz.scoring import Report, UniformModel, perplexity
    from rnnviz.trace import Trace, Tracer, trace
    from rnnviz.training import StepReport, train
    from rnnviz.vocabulary import Vocabulary


# Subpackages that a notebook reaches as `rnnviz.units` and the like without importing them first.
_SUBPACKAGES = ("corpora", "gradients", "units")


class _Package(types.ModuleType):
    """This package, with `trace` always the function.

    The import system binds a submodule in its package under the submodule's
    name, so loading `rnnviz/trace.py` for any reason would otherwise turn
    `rnnviz.trace` from the function into the module.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "trace" and isinstance(value, types.ModuleType):
            value = value.trace
        super().__setattr__(name, value)


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return importlib.import_module(f"rnnviz.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'rnnviz' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"rnnviz.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBPACKAGES})


sys.modules[__name__].__class__ = _Package

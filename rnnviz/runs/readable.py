"""The model of a training loop as it is now: one that rnnviz reads, a function that returns one, or none."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

from rnnviz.errors import ConfigError, RnnvizError
from rnnviz.reading.trace import Trace, trace


def current(given: Any) -> Any:
    """The model, or what the function in its place returns, which draws no random number of the loop's."""
    if not callable(given) or hasattr(given, "vocabulary") or hasattr(given, "parameters"):
        return given
    made: Callable[[], Any] = given
    if "torch" not in sys.modules:
        return made()
    import torch

    with torch.random.fork_rng(devices=[]):  # a new network begins with random weights, even if others follow
        return made()


def read(given: Any, watched: str) -> Trace:
    """What the model makes of the sentence to watch. Raises ConfigError for one that can't be read."""
    model = current(given)
    if not hasattr(model, "vocabulary"):
        raise ConfigError(
            "the sentence to watch needs a model that rnnviz can read: give one, or a function that returns "
            "it, such as lambda: rnnviz.adapt(gru, output, characters); received {received}",
            received=type(model).__name__,
        )
    return trace(model, watched)


def parameters(given: Any) -> int | None:
    """How many it has, if it is one of torch's modules."""
    model = current(given)
    parameters = getattr(model, "parameters", None)
    return sum(p.numel() for p in parameters()) if callable(parameters) else None


def model(given: Any) -> Any:
    """The model as it is now, if rnnviz can read it; else None."""
    found: Any = None
    with contextlib.suppress(RnnvizError):
        found = current(given)
    return found if hasattr(found, "vocabulary") else None

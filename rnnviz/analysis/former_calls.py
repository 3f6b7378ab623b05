"""Calls from the guides and examples of 1.0.0, which work for one more version; `rnnviz.units` warns with the
new call.
"""

from collections.abc import Callable, Generator
from typing import Any, TypeVar

from rnnviz.networks import progress
from rnnviz.networks.numpy_engine import StateChange
from rnnviz.networks.numpy_model import Network
from rnnviz.scoring.sampling import sample
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace

R = TypeVar("R")


def intervene(model: Network, text: str, interventions: StateChange | list[StateChange]) -> Trace:
    """`rnnviz.trace` under a change."""
    return trace(model, text, change=interventions)


def continuation(
    model: Network,
    prompt: str,
    length: int,
    interventions: StateChange | list[StateChange] | tuple[()] = (),
    **drawn: Any,
) -> str:
    """`rnnviz.sample` under a change."""
    return sample(model, prompt, length, change=interventions, **drawn)


def run(steps: Generator[Any, None, R] | R, each: Callable[[Any], object] | None = None) -> R:
    """The result of a generator. `scan`, `ablate` and `effect` now return results, which pass through."""
    return progress.run(steps, each) if isinstance(steps, Generator) else steps

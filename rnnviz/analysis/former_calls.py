"""Calls that the guides and examples of 1.0.0 showed, which work for one version more: `rnnviz.units` says of
each what to write.
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
    """The result of a generator; what `scan`, `ablate` and `effect` return now is one."""
    return progress.run(steps, each) if isinstance(steps, Generator) else steps

"""A trainer's reports, and the steps of the early ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from rnnviz.lab.engines.torch_model import CharModel

MAX_LOSS_NATS = 600.0
"""The largest loss, in nats, whose perplexity is still a finite number that events take."""

SECOND_REPORT_STEP = 8
"""Steps of the second early report; each further one comes after twice as many."""


def early_steps(first: int) -> list[int]:
    """The steps with a report before the `first` regular report, ever further apart.

    >>> early_steps(200)
    [1, 8, 16, 32, 64, 128]
    """
    steps = [1, *(SECOND_REPORT_STEP << n for n in range(max(0, first // SECOND_REPORT_STEP).bit_length()))]
    return [n for n in steps if n < first]


@dataclass(frozen=True)
class StepReport:
    """The progress of a run.

    `train_perplexity` is since the last report, with dropout. `validation_perplexity` is None where the
    recipe trains on that text too. `gradient_norm` is before clipping; `best`: no earlier report was better.
    `model` is the model in training: save it or trace with it before the next report.
    """

    step: int
    total_steps: int
    epoch: float
    characters: int
    train_perplexity: float
    validation_perplexity: float | None
    characters_per_second: float
    gradient_norm: float
    learning_rate: float
    seconds: float
    best: bool
    sample: str
    model: CharModel = field(repr=False, compare=False)


@dataclass
class ReportSums:
    """Sums since the last report: losses in nats, characters, seconds."""

    loss: Tensor
    characters: int = 0
    seconds: float = 0.0

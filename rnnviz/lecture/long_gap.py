"""The long gap: read a letter, then k characters that don't matter, then a cue; say the letter.

An RNN's gradient has to come back through k products with W_hh and k slopes of tanh. A gated cell carries its
state past them, and what a gradient is multiplied by on that way is the gate:

    GRU    h_t = z_t ⊙ h_{t-1} + (1 - z_t) ⊙ h̃_t        LSTM    c_t = f_t ⊙ c_{t-1} + i_t ⊙ c̃_t

`recorded` returns the shipped runs, made by `python -m rnnviz.lecture.long_gap`. All cells have about as many
parameters, as many sequences to train on, and each its best learning rate: chosen for every cell and gap on
seeds of their own. Weights begin uniform in ±1/√H, as torch's do.

    gru, lstm        the gate that keeps the state, z or f, begins with a bias of 1, at about 0.73 (Jozefowicz
                     et al. 2015 for the LSTM): over many steps that vanishes as well
    gru.open,        it begins with the log of a number drawn from 1 to k + 1, so that units remember for 1 to
    lstm.open        k steps (Tallec & Ollivier 2018; the LSTM's input gate with minus that)
    orthogonal       an RNN whose W_hh begins orthogonal: but for tanh nothing vanishes (Henaff et al. 2016)
    mlp              no state, the control: it sees the cue alone

The task is the simplest of those in Hochreiter & Schmidhuber 1997, section 5; the RNN's difficulty with it is
that of Bengio, Simard & Frasconi 1994.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rnnviz.errors import ConfigError
from rnnviz.lecture.many_networks import FILLERS, LETTERS, SYMBOLS, UNITS, Adam, Networks, parameters

if TYPE_CHECKING:
    from torch import Tensor

RECORDING = Path(__file__).with_name("long_gap.json")
GAPS = (2, 5, 10, 20, 40, 80)
RATES = (1e-3, 3e-3, 1e-2)
SEEDS, CHOOSING = tuple(range(5)), (100, 101)
STEPS, BATCH, EVERY, FRESH = 800, 32, 50, 200
THETA = 1.0
UNCLIPPED = 20
"""The gap at which every cell is trained without clipping, too."""


def draw(gap: int, batch: int, generators: Sequence[Any]) -> tuple[Tensor, Tensor]:
    """Sequences of the task for each generator: ids (S, B, gap + 2) and the letters' numbers (S, B).

    Raises ConfigError for a gap below 0.
    """
    import torch

    if gap < 0:
        raise ConfigError("the gap counts characters and is at least 0; received {gap}", gap=gap)
    each = []
    for generator in generators:
        letter = torch.randint(len(LETTERS), (batch, 1), generator=generator)
        filler = torch.randint(len(FILLERS), (batch, gap), generator=generator) + len(LETTERS)
        each.append(torch.cat([letter, filler, torch.full((batch, 1), len(SYMBOLS) - 1)], 1))
    ids = torch.stack(each)
    return ids, ids[..., 0]


@dataclass(frozen=True)
class Runs:
    """What a cell did at a gap, for each seed.

    rate        its learning rate
    accuracy    (S, R) on fresh sequences at each report, the first before any training
    gradient    (S, 2) how much of the gradient arrives, before and after training: the norm of the loss's
                gradient by the state after the letter, over that by the state before the cue (an LSTM's state
                is h and c)
    """

    cell: str
    gap: int
    clipped: bool
    rate: float
    accuracy: tuple[tuple[float, ...], ...]
    gradient: tuple[tuple[float, ...], ...]


def train(
    cell: str,
    gap: int,
    seeds: Sequence[int],
    rates: Sequence[float],
    *,
    theta: float | None = THETA,
    steps: int = STEPS,
    every: int = EVERY,
) -> tuple[list[list[float]], list[list[float]]]:
    """Train a network for each seed, with its rate, by Adam: accuracy and gradient as in `Runs`.

    `theta` clips each network's gradient to that norm; None doesn't.
    """
    import torch

    networks = Networks(cell, seeds, gap)
    tests = [torch.Generator().manual_seed(10_000 + seed) for seed in seeds]
    adam = Adam(networks.weights, rates)
    accuracy: list[list[float]] = []
    gradient: list[list[float]] = []
    for step in range(steps + 1):
        if step % every == 0:
            right, share = measured(networks, *draw(gap, FRESH, tests))
            accuracy.append(right)
            gradient.append(share)
        ids, letters = draw(gap, BATCH, networks.generators)
        loss = torch.nn.functional.cross_entropy(
            networks.read(ids).flatten(0, 1), letters.flatten(), reduction="sum"
        )
        grads = torch.autograd.grad(loss / BATCH, list(networks.weights.values()))
        adam.step(grads, theta)
    return [list(row) for row in zip(*accuracy, strict=True)], [
        list(row) for row in zip(*gradient, strict=True)
    ]


def measured(networks: Networks, ids: Tensor, letters: Tensor) -> tuple[list[float], list[float]]:
    """Of sequences (S, B, T) and letters (S, B): each network's accuracy, and how much gradient arrives."""
    import torch

    scores = networks.read(ids)
    right = (scores.argmax(-1) == letters).float().mean(-1)
    loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), letters.flatten(), reduction="sum")
    first, last = networks.states[0], networks.states[-2]
    if networks.cell == "mlp":
        return right.tolist(), [0.0] * len(right)
    at_letter, at_cue = (g.norm(dim=-1).mean(-1) for g in torch.autograd.grad(loss, (first, last)))
    return right.tolist(), (at_letter / at_cue).tolist()


def study(cell: str, gap: int, *, theta: float | None = THETA, steps: int = STEPS) -> Runs:
    """Choose a cell's learning rate for a gap on the seeds CHOOSING, then train with it on SEEDS.

    The best rate has the highest accuracy at the end, and of such the highest along the way.
    """
    every = min(EVERY, steps)
    each = [(rate, seed) for rate in RATES for seed in CHOOSING]
    tried, _ = train(
        cell, gap, [s for _, s in each], [r for r, _ in each], theta=theta, steps=steps, every=every
    )
    scores = {
        rate: [
            sum(sum(run[-2:]) for (r, _), run in zip(each, tried, strict=True) if r == rate),
            sum(sum(run) for (r, _), run in zip(each, tried, strict=True) if r == rate),
        ]
        for rate in RATES
    }
    rate = max(RATES, key=lambda r: scores[r])
    accuracy, gradient = train(cell, gap, SEEDS, [rate] * len(SEEDS), theta=theta, steps=steps, every=every)
    return Runs(
        cell,
        gap,
        theta is not None,
        rate,
        _rounded(accuracy, 3),
        _rounded([(row[0], row[-1]) for row in gradient], 2),
    )


def _rounded(rows: Sequence[Sequence[float]], digits: int) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(f"{value:.{digits}g}") for value in row) for row in rows)


@dataclass(frozen=True)
class Recording:
    """All runs, the steps of their reports, and what it took."""

    runs: tuple[Runs, ...]
    steps: tuple[int, ...]
    parameters: dict[str, int]
    recipe: dict[str, Any]
    seconds: float
    versions: dict[str, str]

    def at(self, cell: str, gap: int, clipped: bool = True) -> Runs:
        """A cell's runs at a gap. Raises ConfigError where none were made."""
        for run in self.runs:
            if (run.cell, run.gap, run.clipped) == (cell, gap, clipped):
                return run
        raise ConfigError("no runs of {cell} at a gap of {gap} were recorded", cell=cell, gap=gap)


def record(
    cells: Sequence[str] = tuple(UNITS),
    gaps: Sequence[int] = GAPS,
    *,
    steps: int = STEPS,
    processes: int = 2,
) -> Recording:
    """Train everything: each cell at each gap, and with gates or without at UNCLIPPED without clipping."""
    import time
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from rnnviz.runs.card import versions

    began = time.monotonic()
    jobs: list[tuple[str, int, float | None, int]] = [
        (cell, gap, THETA, steps) for gap in sorted(gaps, reverse=True) for cell in cells
    ]
    if UNCLIPPED in gaps:
        jobs += [(cell, UNCLIPPED, None, steps) for cell in cells if cell != "mlp"]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        runs = tuple(pool.map(_study, jobs))
    recipe = {
        "batch": BATCH,
        "fresh": FRESH,
        "theta": THETA,
        "rates": list(RATES),
        "seeds": list(SEEDS),
        "choosing": list(CHOOSING),
        "symbols": SYMBOLS,
    }
    every = min(EVERY, steps)
    return Recording(
        runs=runs,
        steps=tuple(range(0, steps + 1, every)),
        parameters={cell: parameters(cell) for cell in cells},
        recipe=recipe,
        seconds=round(time.monotonic() - began, 1),
        versions=versions(),
    )


def _study(job: tuple[str, int, float | None, int]) -> Runs:
    import torch

    torch.set_num_threads(1)
    cell, gap, theta, steps = job
    return study(cell, gap, theta=theta, steps=steps)


def write(recording: Recording, path: Path = RECORDING) -> None:
    """Write what `recorded` reads."""
    path.write_text(json.dumps(asdict(recording), separators=(",", ":")) + "\n", "utf-8")


@cache
def recorded() -> Recording:
    """The runs that ship with the package.

    >>> recorded().at("mlp", 2).accuracy[0][-1] < 0.3
    True
    """
    fields = json.loads(RECORDING.read_text("utf-8"))
    runs = tuple(
        Runs(**{**run, "accuracy": _tuples(run["accuracy"]), "gradient": _tuples(run["gradient"])})
        for run in fields["runs"]
    )
    return Recording(**{**fields, "runs": runs, "steps": tuple(fields["steps"])})


def _tuples(rows: list[list[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, rows))


if __name__ == "__main__":
    write(record())

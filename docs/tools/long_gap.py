"""The long gap: read a letter, then k characters that don't matter, then a cue; say the letter. Makes
`rnnviz/lecture/long_gap.json`, for the step `gap`.

    python docs/tools/long_gap.py [FILE]

An RNN's gradient has to come back through k products with W_hh and k slopes of tanh. A gated cell carries its
state past them, and what a gradient is multiplied by on that way is the gate:

    GRU    h_t = z_t ⊙ h_{t-1} + (1 - z_t) ⊙ h̃_t        LSTM    c_t = f_t ⊙ c_{t-1} + i_t ⊙ c̃_t

All cells have about as many parameters, as many sequences to train on, and each its best learning rate:
chosen for every cell and gap on seeds of their own. Weights begin uniform in ±1/√H, as torch's do.

    gru, lstm        the gate that keeps the state, z or f, begins with a bias of 1, at about 0.73 (Jozefowicz
                     et al. 2015 for the LSTM): over many steps that vanishes as well
    gru.open,        it begins with the log of a number drawn from 1 to k + 1, so that units remember for 1 to
    lstm.open        k steps (Tallec & Ollivier 2018; the LSTM's input gate with minus that)
    orthogonal       an RNN whose W_hh begins orthogonal: but for tanh nothing vanishes (Henaff et al. 2016)
    mlp              no state, the control: it sees the cue alone

The task is the simplest of those in Hochreiter & Schmidhuber 1997, section 5; the RNN's difficulty with it is
that of Bengio, Simard & Frasconi 1994. Some 25 minutes on two cores, a process each.

Shape letters: S networks of one cell, which are read at once, B sequences, T time steps, H units, G blocks
of a cell's weights, q letters.
"""

import json
import math
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_

from rnnviz.lab.engines.torch_engine import Torch
from rnnviz.lab.fit.card import versions
from rnnviz.networks.cells import CELLS

RECORDING = Path(__file__).parents[2] / "rnnviz" / "lecture" / "long_gap.json"

LETTERS, FILLERS, CUE = "abcdefgh", "wxyz", "?"
SYMBOLS = LETTERS + FILLERS + CUE
UNITS = {"rnn": 48, "gru": 26, "lstm": 22, "gru.open": 26, "lstm.open": 22, "orthogonal": 48, "mlp": 152}
"""Hidden units of each cell, so that the parameters are about as many."""

GAPS = (2, 5, 10, 20, 40, 80)
RATES = (1e-3, 3e-3, 1e-2)
SEEDS, CHOOSING = tuple(range(5)), (100, 101)
STEPS, BATCH, EVERY, FRESH = 800, 32, 50, 200
THETA = 1.0
UNCLIPPED = 20
"""The gap at which every cell with a state is trained without clipping, too."""


def draw(gap: int, batch: int, generators: Sequence[Generator]) -> tuple[Tensor, Tensor]:
    """Sequences of the task for each generator: ids (S, B, gap + 2) and the letters' numbers (S, B)."""
    texts = []
    for generator in generators:
        letter = torch.randint(len(LETTERS), (batch, 1), generator=generator)
        filler = torch.randint(len(FILLERS), (batch, gap), generator=generator) + len(LETTERS)
        texts.append(torch.cat([letter, filler, torch.full((batch, 1), len(SYMBOLS) - 1)], 1))
    ids = torch.stack(texts)
    return ids, ids[..., 0]


class Networks:
    """Networks of one cell, one for each seed, read and trained at once; each has its own learning rate.

    After `read`, `states` are those after each step: h (S, B, H), or an LSTM's h and c as one, (S, B, 2H), so
    that a gradient by the state is one.
    """

    def __init__(self, cell: str, gap: int, seeds: Sequence[int], rates: Sequence[float]) -> None:
        self.cell, self.gap, self.H = cell, gap, UNITS[cell]
        self.kind = CELLS[{"orthogonal": "rnn"}.get(cell, cell.removesuffix(".open"))]
        self.generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self.weights = [self._begin(generator) for generator in self.generators]
        groups = [
            {"params": list(weights.values()), "lr": rate}
            for weights, rate in zip(self.weights, rates, strict=True)
        ]
        self.adam = torch.optim.Adam(groups)
        self.states: list[Tensor] = []

    def _begin(self, generator: Generator) -> dict[str, Tensor]:
        H, wide = self.H, self.H * len(self.kind.blocks)
        shapes = {"W_x": (len(SYMBOLS), wide), "W_h": (H, wide), "b": (1, wide)}
        shapes |= {"W_q": (H, len(LETTERS)), "b_q": (1, len(LETTERS))}
        weights = {
            name: (torch.rand(shape, generator=generator) * 2 - 1) / math.sqrt(H)
            for name, shape in shapes.items()
        }
        if not self.kind.mixes:
            del weights["W_h"]
        if self.cell == "orthogonal":
            weights["W_h"] = torch.linalg.qr(torch.randn(H, H, generator=generator))[0]
        if self.kind.keeps is not None:
            at = self.kind.blocks.index(self.kind.keeps) * H
            keep = weights["b"][:, at : at + H]
            keep[:] = 1.0
            if self.cell.endswith(".open"):
                keep[:] = torch.log(1 + self.gap * torch.rand(1, H, generator=generator))
                if self.kind.has_cell:
                    weights["b"][:, :H] = -keep
        return {name: values.requires_grad_() for name, values in weights.items()}

    def read(self, ids: Tensor) -> Tensor:
        """Read ids (S, B, T) and say the letter: scores (S, B, q)."""
        w = {name: torch.stack([weights[name] for weights in self.weights]) for name in self.weights[0]}
        S, B, T = ids.shape
        one_hot = F.one_hot(ids.transpose(1, 2).reshape(S, T * B), len(SYMBOLS)).to(w["W_x"])
        x = self._blocks((one_hot @ w["W_x"] + w["b"]).view(S, T, B, -1))
        names = ("h", "c") if self.kind.has_cell else ("h",)
        state = torch.zeros(S, B, self.H * len(names))
        self.states = []
        for t in range(T):
            state_parts = state.split(self.H, -1)
            u = self._blocks(state_parts[0] @ w["W_h"]) if "W_h" in w else None
            parts = self.kind.step(Torch(), x[:, :, t], u, *state_parts)
            state = torch.cat([parts[name] for name in names], -1)
            self.states.append(state)
        return state[..., : self.H] @ w["W_q"] + w["b_q"]

    def _blocks(self, rows: Tensor) -> Tensor:
        """Rows (…, G·H) as the cell's record takes them, (G, …, H)."""
        return rows.unflatten(-1, (len(self.kind.blocks), self.H)).movedim(-2, 0)

    def train(self, theta: float | None) -> None:
        """One step down, on sequences of its own for each network, with the gradient of each clipped to the
        norm `theta`; None doesn't clip.
        """
        self.adam.zero_grad()
        ids, letters = draw(self.gap, BATCH, self.generators)
        (loss(self.read(ids), letters) / BATCH).backward()
        if theta is not None:
            for weights in self.weights:
                clip_grad_norm_(weights.values(), theta)
        self.adam.step()

    def measured(self, ids: Tensor, letters: Tensor) -> tuple[list[float], list[float]]:
        """Of sequences (S, B, T) and letters (S, B): each network's accuracy, and how much gradient arrives,
        as in `study`.
        """
        scores = self.read(ids)
        right = (scores.argmax(-1) == letters).float().mean(-1)
        if self.cell == "mlp":
            return right.tolist(), [0.0] * len(right)
        gradients = torch.autograd.grad(loss(scores, letters), (self.states[0], self.states[-2]))
        at_letter, at_cue = (gradient.norm(dim=-1).mean(-1) for gradient in gradients)
        return right.tolist(), (at_letter / at_cue).tolist()


def loss(scores: Tensor, letters: Tensor) -> Tensor:
    """Nats, the sum over all sequences."""
    return F.cross_entropy(scores.flatten(0, 1), letters.flatten(), reduction="sum")


Rows = list[tuple[float, ...]]


def train(
    cell: str, gap: int, seeds: Sequence[int], rates: Sequence[float], theta: float | None, steps: int
) -> tuple[Rows, Rows]:
    """Train a network for each seed, with its rate: for each the accuracy on fresh sequences, and how much
    gradient arrives, before any training and then every EVERY steps.
    """
    networks = Networks(cell, gap, seeds, rates)
    tests = [torch.Generator().manual_seed(10_000 + seed) for seed in seeds]
    reports = []
    for step in range(steps + 1):
        if step % min(EVERY, steps) == 0:
            reports.append(networks.measured(*draw(gap, FRESH, tests)))
        networks.train(theta)
    accuracy, gradient = zip(*reports, strict=True)
    return list(zip(*accuracy, strict=True)), list(zip(*gradient, strict=True))


def study(cell: str, gap: int, theta: float | None, steps: int) -> dict[str, Any]:
    """What networks of a cell, one for each of SEEDS, do at a gap, with the best of RATES: that with the
    highest accuracy at the end on the seeds CHOOSING, and of such the highest along the way.

    accuracy  (S, R) on fresh sequences at each report, the first before any training
    gradient  (S, 2) how much of the gradient arrives, before and after training: the norm of the loss's
              gradient by the state after the letter, over that by the state before the cue
    """
    trials = [(rate, seed) for rate in RATES for seed in CHOOSING]
    tried, _ = train(cell, gap, [seed for _, seed in trials], [rate for rate, _ in trials], theta, steps)

    def score(rate: float) -> tuple[float, float]:
        scores = [run for (r, _), run in zip(trials, tried, strict=True) if r == rate]
        return sum(sum(run[-2:]) for run in scores), sum(map(sum, scores))

    rate = max(RATES, key=score)
    accuracy, gradient = train(cell, gap, SEEDS, [rate] * len(SEEDS), theta, steps)
    return {
        "cell": cell,
        "gap": gap,
        "clipped": theta is not None,
        "rate": rate,
        "accuracy": _rounded(accuracy, 3),
        "gradient": _rounded([(row[0], row[-1]) for row in gradient], 2),
    }


def _rounded(rows: Rows, digits: int) -> list[list[float]]:
    return [[float(f"{value:.{digits}g}") for value in row] for row in rows]


def record(
    cells: Sequence[str] = tuple(UNITS), gaps: Sequence[int] = GAPS, *, steps: int = STEPS, processes: int = 2
) -> dict[str, Any]:
    """Train each cell at each gap, and at UNCLIPPED those with a state without clipping, too."""
    began = time.monotonic()
    jobs: list[tuple[str, int, float | None]] = [
        (cell, gap, THETA) for gap in sorted(gaps, reverse=True) for cell in cells
    ]
    jobs += [(cell, UNCLIPPED, None) for cell in cells if UNCLIPPED in gaps and cell != "mlp"]
    with ProcessPoolExecutor(processes, get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        runs = list(pool.map(study, *zip(*jobs, strict=True), [steps] * len(jobs)))
    return {
        "runs": runs,
        "steps": list(range(0, steps + 1, min(EVERY, steps))),
        "parameters": {cell: parameters(cell) for cell in cells},
        "recipe": {
            "batch": BATCH,
            "fresh": FRESH,
            "theta": THETA,
            "rates": RATES,
            "seeds": SEEDS,
            "choosing": CHOOSING,
            "symbols": SYMBOLS,
        },
        "seconds": round(time.monotonic() - began, 1),
        "versions": versions(),
    }


def parameters(cell: str) -> int:
    """How many numbers a network of this cell learns."""
    return sum(values.numel() for values in Networks(cell, 1, [0], [0.0]).weights[0].values())


if __name__ == "__main__":
    path = Path(sys.argv[1]) if sys.argv[1:] else RECORDING
    path.write_text(json.dumps(record(), separators=(",", ":"), allow_nan=False) + "\n", "utf-8")

"""Patches beside their controls, and at all places of two texts; see `rnnviz.units.patching`.

Putting any other state in moves predictions. So a patch stands beside random moves of the same length, and
beside the same patch from places of another text.

Shape letters: T, S characters of target and source, L layers, H units, V symbols, B patches side by side.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.networks.batch import NO_CHANGES, Batch, Change, Changes
from rnnviz.networks.numpy_model import Network
from rnnviz.networks.progress import Clock
from rnnviz.networks.stepping import Floats, Ids
from rnnviz.pictured import Brief
from rnnviz.reading.trace import Trace
from rnnviz.units.directions import Direction
from rnnviz.units.patching import Patched, Quantity, by_quantity, check_place, part, read, states_at
from rnnviz.units.perturbation import kl
from rnnviz.units.unit import Unit

Doubles = npt.NDArray[np.float64]
Effect = Literal["kl", "loss"]

ROWS = 128
"""Patches that are read side by side."""


@dataclass(frozen=True, eq=False, repr=False)
class PatchControls(Brief):
    """What a patch does beside what others of the same size, and from elsewhere, do.

    ahead      predictions that are compared, fewer where the target ends
    kl         nats a prediction, the mean of KL_t over them, with the patch
    random_each     (n, ahead) KL_t after moves of the same length in random directions of the same layers
    elsewhere_each  (m, ahead) the same with the patch taken from random places of another text; or (0, ahead)
    left       KL from the source's own prediction to the one with the patch, nats: 0, it is the source's
    apart      the same to the target's without the patch: what was to be bridged
    random_left, elsewhere_left  (n,), (m,) `left` of the controls
    """

    ahead: int
    kl: float
    random_each: Doubles
    elsewhere_each: Doubles
    left: float
    apart: float
    random_left: Doubles
    elsewhere_left: Doubles

    @property
    def random(self) -> Doubles:
        """(n,) nats, as `kl`, after random moves."""
        return np.asarray(self.random_each.mean(axis=1))

    @property
    def elsewhere(self) -> Doubles:
        """(m,) nats, as `kl`, of the patches from elsewhere."""
        return np.asarray(self.elsewhere_each.mean(axis=1))


def patch_controls(
    model: Network,
    patched: Patched,
    unrelated: str | Trace | None = None,
    *,
    n: int = 40,
    ahead: int = 20,
    seed: int = 0,
) -> PatchControls:
    """The controls of a patch: `n` random moves of the same length, and the same patch from `n` places of an
    `unrelated` text, all read side by side over `ahead` predictions. Raises ConfigError for n or ahead below
    1 and a seed below 0, EmptyTextError for an unrelated text without characters.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> model = rnnviz.load("timemachine-gru")
    >>> done = units.patch(model, '"I am afraid', 12, "He was afraid, he said", 13, units=[3, 4])
    >>> units.patch_controls(model, done, n=5).random.shape
    (5,)
    """
    if n < 1 or ahead < 1 or seed < 0:
        raise ConfigError(
            "n and ahead are at least 1, seed at least 0; received {n}, {ahead} and {seed}",
            n=n,
            ahead=ahead,
            seed=seed,
        )
    generator = np.random.default_rng(seed)
    target, to = patched.target, patched.to
    own = by_quantity(target.state_after(to))
    moves = {
        (layer, quantity): _random_move(own[quantity][layer], length, n, generator)
        for (layer, quantity), length in patched.lengths.items()
    }
    ahead = min(ahead, len(target) + 1 - to)
    random, first = _follow(target, to, moves, n, ahead)
    goal = patched.source.log_probs_at(patched.at, patched.at + 1)
    divergence, after = patched.divergence, patched.after.log_probs_at(to, to + 1)
    elsewhere, elsewhere_left = np.zeros((0, ahead)), np.zeros(0)
    if unrelated is not None:
        other = read(model, unrelated)
        if not len(other):
            raise EmptyTextError("an unrelated text has at least one character; received none")
        places = generator.integers(1, len(other) + 1, n)
        found, theirs = _follow(target, to, patched.part.changes(states_at(other, places)), n, ahead)
        elsewhere, elsewhere_left = found.divergence, kl(goal, theirs)
    return PatchControls(
        ahead=ahead,
        kl=float(divergence[to : to + ahead].mean()),
        random_each=random.divergence,
        elsewhere_each=elsewhere,
        left=float(kl(goal, after)[0]),
        apart=float(kl(goal, target.log_probs_at(to, to + 1))[0]),
        random_left=kl(goal, first),
        elsewhere_left=elsewhere_left,
    )


def _random_move(own: Floats, length: float, n: int, generator: np.random.Generator) -> Change:
    """Set n states to `own` (H,), each moved by `length` in a direction of its own."""
    moves = generator.normal(size=(n, len(own)))
    moves *= length / np.linalg.norm(moves, axis=1, keepdims=True)

    def change(states: Floats) -> None:
        states[:] = own + moves

    return change


@dataclass(frozen=True, eq=False)
class _Followed:
    """Effects of B patches on the predictions after them: `divergence` (B, ahead) nats; `loss` (B, ahead)
    nats, nan where the text has ended.
    """

    divergence: Doubles
    loss: Doubles


def _follow(target: Trace, to: int, changes: Changes, B: int, ahead: int) -> tuple[_Followed, Floats]:
    """Read the target from `to` on in B copies, changed there; and their first log P (B, V)."""
    weights = target.weights
    batch = Batch(weights, B)
    if to:
        hidden, cell = target.state_after(to - 1)
        batch.hidden[:] = hidden[:, None]
        if batch.cell is not None and cell is not None:
            batch.cell[:] = cell[:, None]
    inputs = np.concatenate(([target.vocabulary.start], target.ids))
    out = _Followed(np.zeros((B, ahead)), np.full((B, ahead), np.nan))
    first = None
    for k in range(ahead):
        row = to + k
        top = batch.step(inputs[row : row + 1], NO_CHANGES if k else changes)
        log_probs = weights.log_probs(top)
        before = target.log_probs_at(row, row + 1)
        out.divergence[:, k] = kl(before, log_probs)
        if row < len(target):
            came = target.ids[row]
            out.loss[:, k] = before[0, came].astype(np.float64) - log_probs[:, came]
        first = log_probs if first is None else first
    assert first is not None
    return out, first


@dataclass(frozen=True)
class PatchProgress:
    """Patches done so far, and in the end."""

    done: int
    total: int

    @property
    def fraction(self) -> float:
        """0 to 1."""
        return self.done / self.total


@dataclass(frozen=True, eq=False, repr=False)
class PatchGrid(Brief):
    """The effect of patching each place of a source into each of a target.

    at, to   (S',), (T',) the places: characters read of the source and of the target
    effect   (S', T') nats, the mean over up to `ahead` predictions; nan where no character is left to cost
    measure  "kl", or "loss": what the target's characters cost more
    """

    at: Ids
    to: Ids
    effect: Doubles
    measure: Effect
    ahead: int


def patch_grid(
    model: Network,
    source: str | Trace,
    target: str | Trace,
    *,
    at: Sequence[int] | None = None,
    to: Sequence[int] | None = None,
    measure: Effect = "kl",
    ahead: int = 1,
    layer: int | None = None,
    units: int | Sequence[int] | Unit | Sequence[Unit] | Direction | None = None,
    quantity: Quantity = "state",
) -> Generator[PatchProgress, None, PatchGrid]:
    """`patch` at every place `at` of the source into every place `to` of the target; returns the PatchGrid.

    None: after 0, 1, … all characters. Yields about ten times a second; 100 × 100 places of a GRU with 256
    units take about a second. Raises what `patch` raises, and ConfigError for another measure or ahead < 1.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> model = rnnviz.load("timemachine-gru")
    >>> units.run(units.patch_grid(model, "one", "machine", measure="loss", ahead=3)).effect.shape
    (4, 8)
    """
    if measure not in get_args(Effect):
        raise ConfigError("measure is 'kl' or 'loss'; received {measure!r}", measure=measure)
    if ahead < 1:
        raise ConfigError("ahead is at least 1 prediction; received {ahead}", ahead=ahead)
    taken, into = read(model, source), read(model, target)
    which = part(into.weights, layer=layer, units=units, quantity=quantity)
    rows = np.arange(len(taken) + 1) if at is None else np.asarray(at, np.int64)
    columns = np.arange(len(into) + 1) if to is None else np.asarray(to, np.int64)
    for name, places, text in (("at", rows, taken), ("to", columns, into)):
        for t in places.tolist():
            check_place(name, t, text)
    effect, clock = np.full((len(rows), len(columns)), np.nan), Clock()
    for begin in range(0, len(rows), ROWS):
        now = rows[begin : begin + ROWS]
        changes = which.changes(states_at(taken, now))
        for column, t in enumerate(columns.tolist()):
            steps = min(ahead, len(into) + (measure == "kl") - t)
            if steps > 0:
                found, _ = _follow(into, t, changes, len(now), steps)
                values = found.divergence if measure == "kl" else found.loss
                effect[begin : begin + ROWS, column] = values.mean(axis=1)
            if clock.due():
                yield PatchProgress(begin * len(columns) + (column + 1) * len(now), effect.size)
    yield PatchProgress(effect.size, effect.size)
    return PatchGrid(rows, columns, effect, measure, ahead)

"""Snapshots: a model's states and predictions on one sentence at a moment of its training, and their files.

A file is safetensors, with the sentence and symbols as JSON in its header; reading one needs no torch. The
arrays of a replay (rnnviz.lab.run.replay) have an axis of K moments in front.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rnnviz.arrays import Arrays, Floats
from rnnviz.errors import RnnvizError, TrainingError
from rnnviz.lab.run.folder import DAMAGE_ERRORS, RunFolder, damage_reason
from rnnviz.scoring.perplexity import running_perplexity
from rnnviz.text import files
from rnnviz.text.vocabulary import UNKNOWN_SYMBOL

if TYPE_CHECKING:
    from rnnviz.scoring.trace import Trace


MAX_TIME_SHARE = 0.03
"""The largest share of a run's time for snapshots."""

STEP_FACTOR = 1.35
"""The ratio between the steps of two kept snapshots: 38 snapshots in a hundred thousand steps."""

EVEN_MOMENTS = 24
"""Kept snapshots are at most this fraction of a run apart: units take on meanings late, as the rate falls."""

MIN_LOG_PROB = -60_000
"""The lowest log probability kept, nats: float16 can hold it."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A model's reading of the sentence to watch at one moment of its training.

    text        T characters
    hidden      (T, L, H) float32, H_t after reading character t
    cell        (T, L, H) float32, C_t of an LSTM; None for other cells
    log_probs   (T + 1, V) float32, nats: row t is log P(x_{t+1} | x_1 .. x_t)
    nll         (T,) float32, nats: each character's cost, an unknown one's whole cost
    step, characters   the steps made and characters read in training
    symbols     V names, in the order of log_probs' columns: "<unk>", then the characters
    rows        the targets of the R rows that the finished network's card names; () before it has one
    named       (R, T + …) float32, their values over the text, then over the `sentences`, in units of their
                reach in the finished network; None without rows
    """

    text: str
    hidden: Floats
    cell: Floats | None
    log_probs: Floats
    nll: Floats
    step: int
    characters: int
    symbols: tuple[str, ...]
    rows: tuple[str, ...] = ()
    named: Floats | None = None
    sentences: tuple[str, ...] = ()

    @property
    def perplexity(self) -> Floats:
        """(T,) perplexity of the characters up to and including t."""
        with np.errstate(over="ignore"):
            return running_perplexity(self.nll).astype(np.float32)


def take_snapshot(read: Trace, *, step: int, characters: int) -> Snapshot:
    """A trace as a snapshot, after `step` steps on `characters` characters."""
    return Snapshot(
        text=read.text,
        hidden=read.hidden,
        cell=read.cell,
        log_probs=read.log_probs,
        nll=read.nll.astype(np.float32),
        step=step,
        characters=characters,
        symbols=(UNKNOWN_SYMBOL, *read.vocabulary.characters),
    )


def to_bytes(snapshot: Snapshot, *, half: bool = False) -> bytes:
    """The file of one snapshot; `half` stores float16, half the size."""
    kind = np.float16 if half else np.float32
    limit = np.finfo(kind).max  # where training diverges, states grow beyond it
    arrays: Arrays = {
        "hidden": np.clip(snapshot.hidden, -limit, limit).astype(kind),
        "log_probs": np.maximum(snapshot.log_probs, MIN_LOG_PROB).astype(kind),
        "nll": snapshot.nll,
    }
    if snapshot.cell is not None:
        arrays["cell"] = snapshot.cell.astype(kind)
    if snapshot.named is not None:
        arrays["named"] = np.clip(snapshot.named, -limit, limit).astype(kind)
    about = {"step": snapshot.step, "characters": snapshot.characters}
    return pack("probe", snapshot, about, arrays)


class Watching:
    """Reads the sentence to watch into a run's folder, as training goes on."""

    def __init__(self, folder: RunFolder, total_steps: float = math.inf) -> None:
        self._folder, self._total_steps = folder, total_steps
        self._taken_at, self._cost = -math.inf, 0.0  # of the last snapshot: its time, and the seconds it took
        kept_steps = folder.kept_steps()
        self._keep_from = self._next_kept(kept_steps[-1]) if kept_steps else 0

    @property
    def due(self) -> bool:
        """Whether a further snapshot takes at most MAX_TIME_SHARE of the time."""
        return self._cost <= MAX_TIME_SHARE * (time.monotonic() - self._taken_at)

    def is_kept_step(self, step: int) -> bool:
        """Whether the replay keeps the snapshot of this step: 0, 1, 2, 3, 5, … STEP_FACTOR apart, and later
        the total by EVEN_MOMENTS.
        """
        return step >= self._keep_from

    def look(self, read: Callable[[], Trace], *, step: int, characters: int, keep: bool = False) -> None:
        """Write a reading as the newest snapshot. With `keep` it is written for the replay too, and first, so
        that it exists before the newest mentions its step. A file is replaced as a whole.
        """
        began = time.monotonic()
        if keep:
            self._keep_from = self._next_kept(step)
        try:
            with np.errstate(all="ignore"):  # training may diverge: then its states are no numbers
                snapshot = take_snapshot(read(), step=step, characters=characters)
        except RnnvizError:  # weights have become NaN
            return
        # Readers learn of a step from the newest snapshot, and then look for that step's own file.
        paths = [self._folder.newest_snapshot]
        if keep:
            self._folder.snapshots.mkdir(exist_ok=True)
            paths.insert(0, self._folder.snapshot_file(step))
        for path in paths:
            with files.replacing(path, durable=False) as file:  # an fsync would be slow
                file.write(to_bytes(snapshot, half=path != self._folder.newest_snapshot))
        self._taken_at = time.monotonic()
        self._cost = self._taken_at - began

    def _next_kept(self, step: int) -> int:
        # step + 1, because at step 0 the factor alone would stay at 0.
        return max(step + 1, math.ceil(min(step * STEP_FACTOR, step + self._total_steps / EVEN_MOMENTS)))


def read(path: Path) -> Snapshot:
    """The snapshot in a file. Raises TrainingError if the file is missing or damaged."""
    with opened(path, "probe") as (about, arrays):
        return unpack(about, arrays, about["step"], about["characters"])


def pack(key: str, snapshot: Snapshot, about: Mapping[str, Any], arrays: Arrays) -> bytes:
    """A file of arrays, with `about` and the sentence and symbols of `snapshot` as JSON under `key`."""
    from safetensors.numpy import save

    header = {"text": snapshot.text, "symbols": list(snapshot.symbols), **about}
    if snapshot.rows:
        header |= {"rows": list(snapshot.rows), "sentences": list(snapshot.sentences)}
    contiguous = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
    return bytes(save(contiguous, metadata={key: json.dumps(header)}))


@contextmanager
def opened(path: Path, key: str) -> Iterator[tuple[dict[str, Any], Arrays]]:
    """Header and arrays of a file that `pack` made. Raises TrainingError for any damage."""
    from safetensors import SafetensorError, safe_open

    try:
        files.opened(path).close()  # refuses a pipe, which would block
        with safe_open(path, framework="numpy") as file:
            about = json.loads((file.metadata() or {})[key])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
        yield about, arrays
    except FileNotFoundError:
        raise TrainingError(
            "there is no snapshot at {path}: none was taken yet, or no sentence was watched", path=path
        ) from None
    except (SafetensorError, *DAMAGE_ERRORS) as error:
        raise TrainingError(
            "{path} is damaged ({error}); copy it again, or go on training to renew it",
            path=path,
            error=damage_reason(error),
        ) from None


def unpack(
    about: Mapping[str, Any], arrays: Arrays, step: int, characters: int, place: int | None = None
) -> Snapshot:
    """The snapshot at a place of a file's arrays, or the only one. Raises ValueError if the shapes don't
    fit.
    """

    def floats(name: str) -> Floats:
        return (arrays[name] if place is None else arrays[name][place]).astype(np.float32)

    snapshot = Snapshot(
        text=str(about["text"]),
        hidden=floats("hidden") * np.float32(about.get("unit", 1.0)),
        cell=floats("cell") if "cell" in arrays else None,
        log_probs=floats("log_probs"),
        nll=floats("nll"),
        step=int(step),
        characters=int(characters),
        symbols=tuple(map(str, about["symbols"])),
        rows=tuple(map(str, about.get("rows", ()))) if "named" in arrays else (),
        named=floats("named") if "named" in arrays else None,
        sentences=tuple(map(str, about.get("sentences", ()))),
    )
    T, V = len(snapshot.text), len(snapshot.symbols)
    if (snapshot.hidden.ndim, len(snapshot.hidden), snapshot.nll.shape) != (3, T, (T,)):
        raise ValueError("its arrays don't belong together")
    values = T + sum(map(len, snapshot.sentences))
    if snapshot.named is not None and snapshot.named.shape != (len(snapshot.rows), values):
        raise ValueError("its arrays don't belong together")
    if snapshot.log_probs.shape != (T + 1, V):
        raise ValueError("its arrays don't belong together")
    return snapshot

"""What a worker of a cluster does: see `rnnviz.reading.cluster`. Needs no Dask.

Shape letters: n symbols, k rows.
"""

import tempfile
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import rnnviz
from rnnviz.arrays import Array, Doubles, Integers
from rnnviz.networks.batched_scoring import TOLERANCE
from rnnviz.networks.checkpoint import load, save
from rnnviz.networks.prediction import Scores
from rnnviz.reading.rows import Window, WindowScorer

Memory = tuple[Array, ...]
"""What a scorer carries from one symbol to the next."""

LOADED = 4
"""Models that a worker keeps ready."""

_files: dict[str, bytes] = {}
_models: OrderedDict[tuple[str, str], Any] = OrderedDict()
_lock = threading.Lock()


class Stretch(NamedTuple):
    """A stretch of a text to score, as it travels.

    ids     (n,) int32
    last    the symbol before it
    memory  the state before it; None at a text's beginning, and where it is not known yet
    before  the symbols to find a likely state from, where it is not known
    want    whether rank and entropy are asked for
    """

    ids: npt.NDArray[np.int32]
    last: int
    memory: Memory | None
    before: npt.NDArray[np.int32]
    want: bool
    precise: bool


class ScoredStretch(NamedTuple):
    """Its scores, the states in which it began and ended, and how many of its symbols are unsettled."""

    scores: Scores
    first: Memory
    end: Memory
    unsettled: int


def version() -> str:
    """The worker's version of rnnviz."""
    return str(rnnviz.__version__)


def packed(model: Any) -> bytes:
    """A model as the bytes of its file."""
    with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
        return save(model, Path(folder) / "model.safetensors").read_bytes()


def keep(digest: str, file: bytes) -> None:
    """Have a model's file at hand."""
    _files[digest] = file


def drop(digest: str) -> None:
    """Forget a model."""
    with _lock:
        _files.pop(digest, None)
        for key in [key for key in _models if key[0] == digest]:
            del _models[key]


def _model(digest: str, device: str) -> Any:
    with _lock:
        if (digest, device) not in _models:
            with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
                path = Path(folder) / "model.safetensors"
                path.write_bytes(_files[digest])
                _models[digest, device] = load(path, device=device)
            while len(_models) > LOADED:
                _models.popitem(last=False)
        _models.move_to_end((digest, device))
        return _models[digest, device]


def score_window(digest: str, device: str, window: Window, precise: bool) -> Doubles:
    """The costs of rows, (k, 2): see `rnnviz.reading.rows.WindowScorer`."""
    return WindowScorer(_model(digest, device), precise)(window)


def score_stretch(digest: str, device: str, stretch: Stretch) -> ScoredStretch:
    """Score a stretch from the state before it, or from a likely one."""
    model = _model(digest, device)
    scorer = model.precise_scorer() if stretch.precise else model.scorer()
    if stretch.memory is not None:
        scorer.remember(stretch.last, stretch.memory)
    elif len(stretch.before):
        scorer.remember(int(stretch.before[0]), scorer.memory)
        scorer.advance(stretch.before[1:].astype(np.int64))
    first = scorer.memory
    scores = _pieces(scorer, stretch.ids.astype(np.int64), stretch.want)
    return ScoredStretch(scores, first, scorer.memory, getattr(scorer, "unsettled", 0))


def _pieces(scorer: Any, ids: Integers, want: bool) -> Scores:
    step: int = getattr(scorer, "piece", len(ids))
    parts = [ids[n : n + step] for n in range(0, len(ids), step)]
    if want:
        return Scores.joined([scorer.advance_details(part) for part in parts])
    return Scores.unranked(np.concatenate([scorer.advance(part) for part in parts]))


def alike(one: Sequence[Array], other: Sequence[Array]) -> bool:
    """Whether two states are the same but for TOLERANCE: see `rnnviz.networks.batched_scoring`."""
    return all(
        x.shape == y.shape and bool((abs(x - y) <= TOLERANCE * np.maximum(abs(y), 1)).all())
        for x, y in zip(one, other, strict=True)
    )

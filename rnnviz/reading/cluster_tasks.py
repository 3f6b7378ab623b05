"""What a worker of a cluster does: see `rnnviz.reading.cluster`. Needs no Dask.

A model travels as the bytes of its file, which each worker loads once for its device.

Shape letters: n symbols, k rows.
"""

import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import rnnviz
from rnnviz.arrays import Array, Doubles
from rnnviz.networks.batched_scoring import TOLERANCE
from rnnviz.networks.checkpoint import load, save
from rnnviz.networks.prediction import Scores
from rnnviz.reading.rows import Window, WindowScorer

Memory = tuple[Array, ...]
"""What a scorer carries from one symbol to the next."""


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


@lru_cache(maxsize=4)
def _model(file: bytes, device: str) -> Any:
    with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(file)
        return load(path, device=device)


def score_window(file: bytes, device: str, window: Window, precise: bool) -> Doubles:
    """The costs of rows, (k, 3): see `rnnviz.reading.rows.WindowScorer`."""
    return WindowScorer(_model(file, device), precise)(window)


def score_stretch(
    file: bytes,
    device: str,
    ids: npt.NDArray[np.int32],
    begin: int,
    memory: Memory | None,
    *,
    want: bool,
    precise: bool,
) -> ScoredStretch:
    """Score ids[begin:], with rank and entropy if they are wanted; `begin` is at least 1.

    `memory` is the state before ids[begin - 1] is read. None: a likely one is found from the symbols up to
    there; it is exact where ids begins with the text's start symbol.
    """
    model, symbols = _model(file, device), ids.astype(np.int64)
    scorer = model.precise_scorer() if precise else model.scorer()
    if memory is not None:
        scorer.remember(int(symbols[begin - 1]), memory)
    elif begin > 1:
        scorer.remember(int(symbols[0]), scorer.memory)
        scorer.advance(symbols[1:begin])
    first, own = scorer.memory, symbols[begin:]
    scores = scorer.advance_details(own) if want else Scores.unranked(scorer.advance(own))
    return ScoredStretch(scores, first, scorer.memory, getattr(scorer, "unsettled", 0))


def alike(one: Sequence[Array], other: Sequence[Array]) -> bool:
    """Whether two states are the same but for TOLERANCE: see `rnnviz.networks.batched_scoring`."""
    return all(
        x.shape == y.shape and bool((abs(x - y) <= TOLERANCE * np.maximum(abs(y), 1)).all())
        for x, y in zip(one, other, strict=True)
    )

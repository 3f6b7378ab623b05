"""The window's predictions, a row for each place in the text, cached while the text before it stays."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from rnnviz.figures import live
from rnnviz.scoring.sampling import Shape, sampling_distribution
from rnnviz.scoring.trace import Trace

Rows = tuple[npt.NDArray[Any], ...]  # arrays with a row a prediction each
R = TypeVar("R")  # the source of predictions: a Trace, or two
Compute = Callable[[R, int, int], Rows]


class Held(Generic[R]):
    """A cache of `compute`'s rows for the last window; only rows after a change of the text are computed."""

    def __init__(self, compute: Compute[R]) -> None:
        self._compute = compute
        self._start = 0
        self._rows: Rows = ()

    def rows(self, read: R, start: int, stop: int, kept: int) -> Rows:
        """Rows start .. stop − 1; those before row `kept` are unchanged since the last call."""
        low = max(start, self._start)
        high = min(stop, self._start + len(self._rows[0]), kept) if self._rows else low
        if low >= high:
            rows = self._compute(read, start, stop)
        else:
            held = slice(low - self._start, high - self._start)
            before, after = self._compute(read, start, low), self._compute(read, high, stop)
            rows = tuple(
                np.concatenate([b, old[held], a]) for b, old, a in zip(before, self._rows, after, strict=True)
            )
        self._start, self._rows = start, rows
        return rows


def expected(trace: Trace, start: int, stop: int) -> Rows:
    """The most probable symbols: ids and probabilities, (n, live.NEXT) each."""
    return trace.top_at(start, stop, live.NEXT)


def redrawn(shape: Shape) -> Compute[tuple[Trace, Trace]]:
    """A `Compute` for predictions reshaped by temperature, top-k and top-p: one float32 array.

    Its shape is (n, live.NEXT + 2). A row has the probabilities of the symbols that `expected` lists. Then
    follow the probability of the actual character (0 after the last) and the number of symbols left to draw
    from. Of the two traces of one text, the first predicts, and the second lists symbols.
    """

    def compute(traces: tuple[Trace, Trace], start: int, stop: int) -> Rows:
        predicts, lists = traces
        P = sampling_distribution(predicts.log_probs_at(start, stop), **asdict(shape))  # (n, V)
        listed = np.take_along_axis(P, expected(lists, start, stop)[0], axis=1)
        came = np.zeros(len(P))
        ids = lists.ids[start:stop]
        came[: len(ids)] = P[np.arange(len(ids)), ids]
        return (np.column_stack([listed, came, np.count_nonzero(P, axis=1)]).astype("<f4"),)

    return compute

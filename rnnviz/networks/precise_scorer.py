"""How a network reads one text to score it in float64: in sequence, from the weights as they are stored.

Every other reading is in float32, whose rounding some texts magnify; see `rnnviz.networks.side_by_side`.
float64's is 5e8 times as small. Such a text magnifies that too, so what is far enough into it is still one of
many possible roundings, in any order of computing; that order is fixed here.

Shape letters: n symbols.
"""

import numpy as np
import numpy.typing as npt

from rnnviz.networks.prediction import Scores, entropy, rank
from rnnviz.networks.numpy_engine import NetworkReader, Weights


class PreciseScorer:
    """Feeds one text through `weights`, which are float64, after the symbol `start`."""

    piece = 1024
    """Characters best handed over at a time."""

    def __init__(self, weights: Weights, start: int) -> None:
        self._reader, self._last = NetworkReader(weights), start

    @property
    def memory(self) -> tuple[npt.NDArray[np.float64], ...]:
        """The state that is carried on, (1, L, H) each; for `remember`."""
        cell = self._reader.cell
        parts = (self._reader.hidden,) if cell is None else (self._reader.hidden, cell)
        return tuple(part.astype(np.float64) for part in parts)

    def remember(self, last: int, memory: tuple[npt.NDArray[np.float64], ...]) -> None:
        """Go on from a state, after the symbol `last`, which it has not read yet."""
        self._last = last
        hidden, *cell = (part.copy() for part in memory)
        self._reader.hidden, self._reader.cell = hidden, cell[0] if cell else None  # type: ignore[assignment]

    def advance(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """log P in nats of each symbol of `ids` (n,), given all before it."""
        return self._advance(ids)[0]

    def advance_details(self, ids: npt.NDArray[np.int64]) -> Scores:
        """log P, rank and entropy of each symbol of `ids` (n,)."""
        log_p, logits, log_sum = self._advance(ids)
        return Scores(log_p, rank(logits, ids), entropy(logits, log_sum))

    def advance_predictions(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """log P (n, V) in nats of every symbol before each of `ids` (n,); then `ids` have been read."""
        _, logits, log_sum = self._advance(ids)
        return np.asarray(logits - log_sum[:, None])

    def _advance(
        self, ids: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        inputs = np.concatenate(([self._last], ids[:-1]))
        self._last = int(ids[-1])
        logits, log_sum = self._reader.weights.predict(self._reader.read(inputs))
        wide = logits.astype(np.float64, copy=False)
        return wide[np.arange(len(ids)), ids] - log_sum, wide, log_sum

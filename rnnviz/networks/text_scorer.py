"""How a network reads one text to score it: in sequence, or long pieces as stretches side by side."""

from collections.abc import Generator

import numpy as np
import numpy.typing as npt

from rnnviz.networks import side_by_side
from rnnviz.networks.abreast import Abreast, State
from rnnviz.networks.prediction import Scores, entropy, rank
from rnnviz.networks.progress import mapped, run
from rnnviz.networks.side_by_side import Done, SideBySide
from rnnviz.networks.numpy_engine import NetworkReader

IN_SEQUENCE = 1024
"""Characters that are read at a time in sequence."""


class CharScorer:
    """Feeds one text through a model, with the weights it has now, the state carried from piece to piece.

    Long pieces are read as stretches side by side if `wide`. Short ones go in sequence: by `reader` where
    there is one, else as `abreast` does it. Where more than one thread may compute, the number that proves
    fastest does; with 1,024 units or so it shows in a figure's last digits. The ways agree to 1e-4 nats a
    character, unless the text makes the network magnify rounding; see `rnnviz.networks.side_by_side`.
    """

    def __init__(self, abreast: Abreast, start: int, reader: NetworkReader | None, *, wide: bool) -> None:
        self._abreast, self._last, self._reader = abreast, start, reader
        self._state: State = abreast.zeros(1)
        self._wide = SideBySide(abreast) if wide else None
        self.piece = side_by_side.PIECE
        """Characters best handed over at a time."""

    @property
    def unsettled(self) -> int:
        """Characters of stretches side by side whose seam was never mended: rounding grew all along them."""
        return self._wide.unsettled if self._wide is not None else 0

    @property
    def memory(self) -> tuple[npt.NDArray[np.float32], ...]:
        """The state that is carried on, (L, 1, H) each; for `remember`."""
        return self._abreast.arrays(self._state)

    def remember(self, last: int, memory: tuple[npt.NDArray[np.float32], ...]) -> None:
        """Go on from a state, after the symbol `last`, which it has not read yet."""
        self._last = last
        self._state = self._abreast.state(memory)
        self._hand_over()

    def _hand_over(self) -> None:
        if self._reader is not None:
            hidden, *cell = (part.transpose(1, 0, 2) for part in self.memory)  # (1, L, H)
            self._reader.hidden, self._reader.cell = hidden, cell[0] if cell else None

    def advance(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """log P in nats of each symbol of `ids` (n,), given all before it."""
        return run(self.advancing(ids, want=False)).log_p

    def advance_details(self, ids: npt.NDArray[np.int64]) -> Scores:
        """log P, rank and entropy of each symbol of `ids` (n,)."""
        return run(self.advancing(ids, want=True))

    def advancing(self, ids: npt.NDArray[np.int64], *, want: bool) -> Generator[Done, None, Scores]:
        """`advance_details` step by step: yields its progress several times a second.

        Rank and entropy are filled in if `want`. If it isn't run to its end, the scorer is of no more use.
        """
        found: list[Scores] = []
        done, begin = Done(0, 0.0), 0
        while begin < len(ids):
            now, wide = self._next(ids[begin:])
            inputs = np.concatenate(([self._last], now[:-1]))
            if self._wide is not None and wide:
                steps = self._wide.score(inputs, now, self._state, want=want)
                scores, self._state = yield from mapped(steps, done.plus)
                self._hand_over()
            else:
                scores = self._in_sequence(inputs, now, want)
            found.append(scores)
            self._last = int(now[-1])
            begin += len(now)
            done = Done(begin, done.nats - float(scores.log_p.sum()))
            yield done
        return Scores.joined(found)

    def advance_predictions(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """log P (n, V) in nats of every symbol before each of `ids` (n,); then `ids` have been read.

        What is returned is most of the memory it takes: hand over some thousands at a time.
        """
        out, begin = np.empty((len(ids), self._abreast.size)), 0
        while begin < len(ids):
            now, wide = self._next(ids[begin:])
            inputs = np.concatenate(([self._last], now[:-1]))
            if self._wide is not None and wide:
                out[begin : begin + len(now)], self._state = self._wide.predictions(inputs, self._state)
                self._hand_over()
            else:
                logits, log_sum = self._predict(inputs)
                np.subtract(logits, log_sum[:, None], out=out[begin : begin + len(now)])
            self._last = int(now[-1])
            begin += len(now)
        return out

    def _next(self, ids: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], bool]:
        """What of `ids` is read next, and whether as stretches side by side."""
        now = ids[: self.piece]
        if self._wide is not None and len(now) >= side_by_side.LEAST:
            return now[: len(now) - len(now) % side_by_side.count(len(now))], True
        return now[:IN_SEQUENCE], False

    def _in_sequence(
        self, inputs: npt.NDArray[np.int64], targets: npt.NDArray[np.int64], want: bool
    ) -> Scores:
        logits, log_sum = self._predict(inputs)
        log_p = logits[np.arange(len(targets)), targets] - log_sum
        if not want:
            return Scores.unranked(log_p)
        return Scores(log_p, rank(logits, targets), entropy(logits, log_sum))

    def _predict(
        self, inputs: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]:
        """As `Weights.predict`, after each of `inputs` (n,), which are read."""
        if self._reader is not None:
            found = self._reader.weights.predict(self._reader.read(inputs))
            parts = (self._reader.hidden, self._reader.cell)
            self._state = self._abreast.state(
                tuple(part.transpose(1, 0, 2).copy() for part in parts if part is not None)
            )
            return found
        logits, log_sum, self._state = self._abreast.in_sequence(inputs, self._state)
        return logits, log_sum

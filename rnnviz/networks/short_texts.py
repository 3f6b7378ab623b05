"""How a network reads many short texts to score them: side by side, each from a text's beginning."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from rnnviz.arrays import Doubles, Ids
from rnnviz.networks.abreast import CHUNK, Abreast
from rnnviz.networks.side_by_side import LEAST
from rnnviz.networks.text_scorer import CharScorer

ROWS = 64
"""Texts side by side, at most: more are no faster, their states leave the cache."""

_NONE: Doubles = np.empty(0)


class ShortTexts:
    """Scores many texts, each from its beginning, as if one after the other; long ones as stretches.

    How many are read side by side, and beside which others, moves a cost by rounding alone.
    """

    def __init__(self, abreast: Abreast, start: int, scorer: Callable[[], CharScorer]) -> None:
        self._abreast, self._start, self._scorer = abreast, start, scorer

    def advance(self, texts: Sequence[Ids]) -> list[Doubles]:
        """log P in nats of each symbol of each text, (n,), given all before it in that text."""
        found = [self._scorer().advance(ids) if len(ids) >= LEAST else _NONE for ids in texts]
        for group in _groups([len(ids) for ids in texts]):
            for n, log_p in zip(group, self._side_by_side([texts[n] for n in group]), strict=True):
                found[n] = log_p
        return found

    def _side_by_side(self, rows: Sequence[Ids]) -> list[Doubles]:
        """The costs of texts, the longest first: those that have ended leave the batch."""
        lengths = np.array([len(row) for row in rows])
        targets = np.zeros((len(rows), int(lengths[0])), np.int64)
        for row, ids in zip(targets, rows, strict=True):
            row[: len(ids)] = ids
        inputs = np.empty_like(targets)
        inputs[:, 0], inputs[:, 1:] = self._start, targets[:, :-1]
        out = np.empty(targets.shape)
        x, y, state = self._abreast.ids(inputs), self._abreast.ids(targets), self._abreast.zeros(len(rows))
        for begin in range(0, int(lengths[0]), CHUNK):
            alive = int((lengths > begin).sum())
            now = slice(begin, begin + CHUNK)
            with self._abreast.piece(alive * (min(now.stop, len(out[0])) - begin)):
                state = tuple(self._abreast.joined([part[:, :alive]]) for part in state)
                top, state = self._abreast.read(x[:alive, now], state)
                log_p = self._abreast.scores(top, y[:alive, now], want=False).log_p
            out[:alive, now] = log_p.reshape(alive, -1)
        return [row[:n].copy() for row, n in zip(out, lengths.tolist(), strict=True)]


def _groups(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The short texts in batches, the longest first: so few rows of one are empty."""
    order = sorted((n for n, length in enumerate(lengths) if 0 < length < LEAST), key=lambda n: -lengths[n])
    for begin in range(0, len(order), ROWS):
        yield order[begin : begin + ROWS]

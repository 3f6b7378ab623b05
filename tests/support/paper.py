"""Models on paper, whose every probability is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.text.vocabulary import UNICODE_SCALAR_VALUES, Vocabulary


@dataclass
class Paper:
    """Row i of `table` (V + 1, V) is P(next | symbol i), the last P(next | <s>)."""

    characters: str
    table: Any
    name: str = "paper"
    normaliser: str = "newlines"

    def __post_init__(self) -> None:
        self.vocabulary = Vocabulary(tuple(self.characters))
        self.last = self.vocabulary.start

    def scorer(self) -> Paper:
        return Paper(self.characters, self.table)

    def advance(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        *before, self.last = self.last, *ids.tolist()
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(self.table, np.float64)[np.array(before, int), ids])

    def probability(self, before: str, character: str) -> float:
        """P(character | before), "" at a text's beginning; an unknown character has its share of <unk>."""
        row = self.table[len(self.characters) + 1 if not before else self.characters.find(before) + 1]
        i = self.characters.find(character) + 1
        return row[i] if i else row[0] / (UNICODE_SCALAR_VALUES - len(self.characters))


#                  <unk>   a     b       after <unk>,       a,               b,               <s>
AB = Paper("ab", [[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [0.2, 0.3, 0.5], [0.25, 0.5, 0.25]])


@dataclass
class ConstantModel:
    """A model of one's own, with these log P and nothing else."""

    log_p: float
    name: str = "own"
    normaliser: str = "newlines"
    vocabulary: Any = AB.vocabulary

    def scorer(self) -> Any:
        return self

    def advance(self, ids: Any) -> Any:
        return np.full(len(ids), self.log_p)

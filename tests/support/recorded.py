"""Records for tests: made by scoring, with models whose costs are known."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring.perplexity import LanguageModel
from rnnviz.scoring.record import Record, record
from rnnviz.text.vocabulary import Vocabulary
from tests.support.models import TEXT

NGRAM = NgramModel.fit(TEXT, order=3, name="3gram")


class CostsModel:
    """A model that gives the t-th character of any text the probability exp(-costs[t])."""

    name = "told"
    normaliser = "newlines"

    def __init__(self, costs: npt.ArrayLike, characters: str = "abc \n") -> None:
        self.costs, self.at = np.asarray(costs, np.float64), 0
        self.vocabulary = Vocabulary(tuple(sorted(characters)))

    def scorer(self) -> CostsModel:
        return copy.copy(self)  # which begins at the first character: the model itself reads nothing

    def advance(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        self.at += len(ids)
        return -self.costs[self.at - len(ids) : self.at]

    def advance_details(self, ids: npt.NDArray[np.int64]) -> Any:
        log_p = self.advance(ids)
        return log_p, np.ones(len(ids), np.int32), np.zeros(len(ids), np.float32)


def make_record(folder: Path, model: LanguageModel, text: str, name: str | None = None) -> Record:
    """The text's record in a new folder within `folder`."""
    return record(model, None, folder / f"record-{len(list(folder.iterdir()))}", text=text, name=name)


def record_costs(folder: Path, text: str, costs: Sequence[float] | npt.NDArray[Any]) -> Record:
    """The record of a text whose characters cost these nats."""
    assert len(text) == len(costs)
    return make_record(folder, CostsModel(costs, "".join(set(text))), text)


def noise(n: int, seed: int, exponent: float) -> np.ndarray:
    """Of mean 0; its mean over b positions varies as b ** exponent, -1 is independence."""
    power = np.arange(1, 8 * n + 1) ** -((1 + exponent) / 2)
    waves = np.fft.rfft(np.random.default_rng(seed).standard_normal(16 * n))
    waves[1:] *= power
    waves[0] = 0
    signal = np.fft.irfft(waves, 16 * n)
    return signal[:n] / signal.std()

"""Linear models of many units at a time: fitted on one part of a text, read on another.

    a mask       logistic regression
    graded       ridge regression on its ranks

Shape letters: T time steps, n of them in a part, U units, k chosen ones.
"""

from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Array, Doubles, Floats, Integers, Mask
from rnnviz.units import ranking
from rnnviz.units.searching import varies

STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1)
"""Inverse penalties that are tried where all units are weighed; a few need none."""

FREE = 10.0
"""The inverse penalty of a few units."""


@dataclass(frozen=True, eq=False)
class Line:
    """Weights (k,) of columns (k,) that were scaled to variance 1, and what is added to their sum."""

    columns: Integers
    weights: Doubles
    bias: float

    def values(self, table: Floats) -> Doubles:
        """Of each row of `table` (n, U): (n,)."""
        rows = table if len(self.columns) == table.shape[1] else table[:, self.columns]
        return np.asarray(rows @ self.weights.astype(np.float32) + self.bias, np.float64)


class Parts:
    """Values (T, U) on two parts of a text, each column scaled to mean 0 and variance 1 on the first."""

    def __init__(self, values: Array, first: Mask, second: Mask) -> None:
        from sklearn.preprocessing import StandardScaler

        # An exploded network's states say nothing.
        finite = np.nan_to_num(values, nan=0, posinf=0, neginf=0).astype(np.float32, copy=False)
        scaler = StandardScaler().fit(finite[first])
        self.first, self.second = first, second
        self._fitted: Floats = scaler.transform(finite[first]).astype(np.float32, copy=False)
        self._measured: Floats = scaler.transform(finite[second]).astype(np.float32, copy=False)
        self._scale: Doubles = scaler.scale_

    def line(self, target: Array) -> Line:
        """A Line of all units for a `target` (T,), as strong as predicts the last quarter of the first part
        best from what is before it.
        """
        labels = target[self.first]
        every = np.arange(self._fitted.shape[1])
        cut = 3 * len(labels) // 4
        strength = STRENGTHS[-1]
        if varies(labels[:cut]) and varies(labels[cut:]):
            tried = [_fit(self._fitted[:cut], labels[:cut], every, s) for s in STRENGTHS]
            scores = [ranking.score(one.values(self._fitted[cut:]), labels[cut:]) for one in tried]
            strength = STRENGTHS[int(np.argmax(scores))]
        return _fit(self._fitted, labels, every, strength)

    def score(self, line: Line, target: Array) -> float:
        """How well a Line tells a `target` (T,) on the second part: AUC or correlation."""
        return ranking.score(self.measured(line), target[self.second])

    def measured(self, line: Line) -> Doubles:
        """Its values on the second part, (n,)."""
        return line.values(self._measured)

    def few(self, target: Array, chosen: list[int]) -> Line:
        """A Line of the `chosen` units alone."""
        return _fit(self._fitted, target[self.first], np.array(chosen), FREE)

    def next(self, target: Array, line: Line) -> int:
        """The unit that adds most to a Line for `target`: the largest score statistic (Rao 1948), the slope
        of the fit in the unit's weight, squared, over the slope's variance given the units of the Line.
        """
        values, labels = line.values(self._fitted), target[self.first]
        if labels.dtype == np.bool_:
            p = 1 / (1 + np.exp(-np.clip(values, -30, 30)))
            rest, weight = labels - p, p * (1 - p)
        else:
            rest, weight = _ranks(labels) - values, np.ones(len(values))
        X, w = self._fitted, weight.astype(np.float32)
        own = np.column_stack([X[:, line.columns], np.ones(len(X), np.float32)])  # (n, k + 1)
        slope = (rest.astype(np.float32) @ X).astype(np.float64)
        shared = ((own * w[:, None]).T @ X).astype(np.float64)  # (k + 1, U)
        within = ((own * w[:, None]).T @ own).astype(np.float64)
        alone = np.einsum("nu,nu,n->u", X, X, w).astype(np.float64)
        variance = alone - (shared * np.linalg.lstsq(within, shared, rcond=None)[0]).sum(axis=0)
        gain = slope**2 / np.where(variance > 1e-4 * alone, variance, np.inf)
        gain[line.columns] = -1
        return int(np.argmax(gain))

    def raw(self, line: Line) -> Doubles:
        """The weights (U,) of a Line of all units, for the values as they were."""
        return np.asarray(line.weights / self._scale)


def random_labels(target: Array, random: np.random.Generator) -> Array:
    """Labels (T,) in runs as long as those of a mask, and as many, in random order; then, and of a graded
    target only this, shifted around the end by a twentieth of the text or more.
    """
    n = len(target)
    nearest = max(1, n // 20)
    shift = int(random.integers(nearest, max(nearest + 1, n - nearest)))
    if target.dtype != np.bool_:
        return np.roll(target, shift)
    ends = np.flatnonzero(target[1:] != target[:-1]) + 1
    lengths = np.diff(np.concatenate(([0], ends, [n])))
    lengths[::2], lengths[1::2] = random.permutation(lengths[::2]), random.permutation(lengths[1::2])
    holds = np.arange(len(lengths)) % 2 == (0 if target[0] else 1)
    return np.roll(np.repeat(holds, lengths), shift)


def _fit(table: Floats, labels: Array, columns: Integers, strength: float) -> Line:
    rows = table if len(columns) == table.shape[1] else table[:, columns]
    if labels.dtype == np.bool_:
        from sklearn.linear_model import LogisticRegression

        with np.errstate(invalid="ignore"):  # some processors' float32 products say so of finite numbers
            logistic = LogisticRegression(C=strength, max_iter=2000).fit(rows, labels)
        return Line(columns, logistic.coef_[0].astype(np.float64), float(logistic.intercept_[0]))
    from sklearn.linear_model import Ridge

    ridge = Ridge(alpha=1 / strength).fit(rows, _ranks(labels).astype(np.float32))
    return Line(columns, np.asarray(ridge.coef_, np.float64), float(ridge.intercept_))


def _ranks(labels: Doubles) -> Doubles:
    return ranking.ranks(labels) / max(1, len(labels))

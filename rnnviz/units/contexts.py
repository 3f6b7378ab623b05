"""What the last few characters tell by themselves: the rival of every unit that seems to remember.

A linear model reads, at each character, the last k characters one by one and the n-grams of up to k that end
there, hashed (Weinberger et al. 2009): logistic regression for a mask, ridge regression on the ranks for a
graded target. It predicts a part of a text, fitted on all the rest.

Shape letters: T characters, V symbols, k characters of context, C different contexts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rnnviz.arrays import Array, Doubles, Ids, Mask
from rnnviz.errors import ConfigError
from rnnviz.units import ranking

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


LENGTHS = (2, 4, 8)
"""The k that are tried; what one character tells, `rnnviz.units.ranking.by_symbol` counts."""

BITS = 18
"""Hashed n-grams share 2^BITS weights."""


def predicted(ids: Ids, values: Array, k: int, learn: Mask) -> Doubles:
    """What the last `k` characters tell of `values` (T,), a mask or graded: (T,), higher for more.

    `ids` (T,) are the characters, `learn` (T,) those to fit on, where `values` must vary. Only the rest is a
    fair measure. Raises ConfigError for k < 1.

    >>> import numpy as np
    >>> ids = np.random.default_rng(0).integers(0, 5, 400)
    >>> after_a_two = np.concatenate(([False], ids[:-1] == 2))
    >>> half = np.arange(400) < 200
    >>> [bool(predicted(ids, after_a_two, k, half)[200:][after_a_two[200:]].min() > 0) for k in (1, 2)]
    [False, True]
    """
    if k < 1:
        raise ConfigError("a context has 1 character or more; received {k}", k=k)
    table, which = _features(ids, k)
    # The same context time and again is one row that weighs as much: the fit is the same, in far less time.
    if values.dtype != np.bool_:
        from sklearn.linear_model import Ridge

        ranked = ranking.ranks(values[learn]) / max(1, int(learn.sum()))
        seen, rows, weight = np.unique(which[learn], return_inverse=True, return_counts=True)
        ridge = Ridge(alpha=16, solver="lsqr", tol=1e-3)
        ridge.fit(table[seen], np.bincount(rows, ranked) / weight, sample_weight=weight)
        return np.asarray(ridge.predict(table)[which], np.float64)
    from sklearn.linear_model import LogisticRegression

    pairs, weight = np.unique(2 * which[learn] + values[learn], return_counts=True)
    # As exact as liblinear to a thousandth of an AUC, in a fiftieth of its time.
    logistic = LogisticRegression(solver="newton-cg", tol=1e-4)
    logistic.fit(table[pairs // 2], pairs % 2 == 1, sample_weight=weight)
    return np.asarray(logistic.decision_function(table)[which], np.float64)


def _features(ids: Ids, k: int) -> tuple[csr_matrix, Ids]:
    """Of each of C different contexts which character stands at each of k places, and which n-grams of 2 to k
    characters end there: ones in (C, k (V + 1) + 2^BITS); and which context each character has, (T,)."""
    from scipy.sparse import csr_matrix

    T, beyond = len(ids), int(ids.max()) + 1  # before the text stands a symbol of its own
    padded = np.concatenate([np.full(k - 1, beyond), ids])
    columns, gram = [], np.zeros(T, np.uint64)
    for lag in range(k):
        symbols = padded[k - 1 - lag :][:T]
        columns.append(lag * (beyond + 1) + symbols)
        gram = (gram ^ (symbols.astype(np.uint64) + np.uint64(1))) * np.uint64(0x9E3779B97F4A7C15)
        gram ^= gram >> np.uint64(29)
        if lag:
            columns.append(k * (beyond + 1) + (gram >> np.uint64(64 - BITS)).astype(np.int64))
    _, first, which = np.unique(gram, return_index=True, return_inverse=True)
    places = np.stack([column[first] for column in columns], axis=1)
    each = places.shape[1]
    table = csr_matrix(
        (np.ones(places.size, np.float32), places.ravel(), np.arange(0, places.size + 1, each)),
        shape=(len(first), k * (beyond + 1) + (1 << BITS)),
    )
    return table, which

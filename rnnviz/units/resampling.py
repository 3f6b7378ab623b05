"""Scores in texts drawn anew (see `rnnviz.reading.resampling`), without ranking each of them.

    AUC          through its placement values (DeLong, DeLong & Clarke-Pearson 1988): a character inside
                 counts with the share of the others that are lower, one outside with the share of those
                 inside that are higher
    correlation  through each character's part in the mean product of ranks (Hájek's projection)

Both are exact to first order, and sums over characters: so they follow from means over blocks.

Shape letters: n characters, S series, B resamples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.reading.resampling import Starts, means, starts
from rnnviz.units import ranking

Doubles = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

RESAMPLES = 1_000


def resampled(
    series: Doubles,
    values: npt.NDArray[Any],
    block: int,
    *,
    near: Mask | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Doubles:
    """The scores (B, S) of `series` (n, S) for a target's `values` (n,) in texts drawn anew: AUC, or
    correlation for a graded target. With `near` (n,) the smaller of the AUCs against all other characters and
    against those.

    >>> import numpy as np
    >>> mask = np.arange(5_000) % 50 < 20
    >>> noise = np.random.default_rng(0).normal(size=(5_000, 2)) + [1, 0] * mask[:, None]
    >>> np.percentile(resampled(noise, mask, 50), [2.5, 97.5], axis=0).round(2).tolist()
    [[0.74, 0.49], [0.77, 0.53]]
    """
    n = len(values)
    draws = starts(n, block, resamples, seed)
    if values.dtype != np.bool_:
        return _correlations(series, values, block, draws)
    out = _aucs(series, values, np.ones(n, np.bool_), block, draws)
    if near is None:
        return out
    return np.minimum(out, _aucs(series, values, values | near, block, draws))


def interval(scores: Doubles) -> tuple[float, float]:
    """What 95 of 100 of `scores` (B,) lie between."""
    low, high = np.percentile(scores, [2.5, 97.5])
    return float(low), float(high)


def not_above(differences: Doubles) -> float:
    """The two-sided p of a lead: twice the share of `differences` (B,) at most zero, at least 2 / (B + 1)."""
    return min(1.0, 2 * (1 + int((differences <= 0).sum())) / (len(differences) + 1))


def _aucs(series: Doubles, mask: Mask, here: Mask, block: int, draws: Starts) -> Doubles:
    """Of the characters `here` alone."""
    inside, outside = mask & here, ~mask & here
    S, ones, zeros = series.shape[1], int(inside.sum()), int(outside.sum())
    parts = np.zeros((len(mask), 2 * S + 2))
    parts[inside, 2 * S], parts[outside, 2 * S + 1] = 1, 1
    # A rank among all less that among its own kind is how many of the other kind are lower.
    among_all = ranking.ranks(series[here]) + (here.sum() - 1) / 2
    place = np.empty((len(mask), S))
    place[here] = among_all
    lower = place[inside] - (ranking.ranks(series[inside]) + (ones - 1) / 2)
    parts[inside, :S] = lower / zeros
    higher = ones - (place[outside] - (ranking.ranks(series[outside]) + (zeros - 1) / 2))
    parts[outside, S : 2 * S] = higher / ones
    auc = parts[:, :S].sum(axis=0) / ones
    sums = means(parts, block, draws)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = sums[:, :S] / sums[:, [2 * S]] + sums[:, S : 2 * S] / sums[:, [2 * S + 1]] - auc
    return np.asarray(np.clip(np.where(np.isfinite(found), found, 0.5), 0, 1))


def _correlations(series: Doubles, values: npt.NDArray[Any], block: int, draws: Starts) -> Doubles:
    n, S = series.shape
    ranked, target = ranking.ranks(series) / n, ranking.ranks(values)[:, None] / n
    parts = [_parts(ranked, target), _parts(ranked, ranked), _parts(target, target)]
    drawn = means(np.concatenate(parts, axis=1), block, draws)
    together, one, other = drawn[:, :S], drawn[:, S : 2 * S], drawn[:, 2 * S :]
    scale = np.sqrt(np.maximum(one * other, 0))
    found = np.divide(together, scale, out=np.zeros_like(together), where=scale > 0)
    return np.asarray(np.clip(found, -1, 1))


def _parts(one: Doubles, other: Doubles) -> Doubles:
    """Each character's part in the mean product of centred ranks (n, S) and (n, S) or (n, 1), whose mean that
    is: its own product, and what it does to the ranks of the others."""
    product = one * other
    return np.asarray(product + _raised(one, other) + _raised(other, one) - 2 * product.mean(axis=0))


def _raised(ranked: Doubles, weights: Doubles) -> Doubles:
    """The sum of `weights` over the characters that each one stands below, ties by half, over n."""
    n, S = len(ranked), max(ranked.shape[1], weights.shape[1])
    out = np.empty((n, S))
    for column in range(S):
        key = ranked[:, column % ranked.shape[1]]
        order = np.argsort(key)
        placed, sums = key[order], np.cumsum(weights[order, column % weights.shape[1]])
        first = np.flatnonzero(np.concatenate(([True], placed[1:] != placed[:-1])))
        after = np.append(first[1:], n)
        below = np.concatenate(([0.0], sums))
        mean = (below[first] + below[after]) / 2
        out[order, column] = np.repeat(below[-1] - mean, after - first) / n
    return out

"""Rank statistics: how well units separate a target, for many units at a time.

    AUC          the probability that a unit is higher at a random character inside the target than at a
                 random one outside; equals count half (Mann & Whitney 1947)
    correlation  Spearman's: the correlation of ranks (Spearman 1904)

Both are exact, also with ties, and follow from sums of ranks: one matrix product for many units and targets.

Shape letters: n characters, U units, S targets.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from rnnviz.arrays import Array, Doubles, Integers, Mask
from rnnviz.networks.threads import cores

THREADS_MIN_VALUES = 10_000
"""Values of a unit from which threads share the units."""


def ranks(values: Array) -> Doubles:
    """The rank of each value within its unit, (n, U) or (n,), less the mean rank; ties share their mean
    rank.
    """
    if values.ndim == 1:
        return ranks(values[:, None])[:, 0]
    n, units = values.shape
    out = np.empty((n, units))

    def rank(unit: int) -> None:  # one contiguous column at a time sorts faster, in little memory
        column = np.ascontiguousarray(values[:, unit])
        order = np.argsort(column)
        placed = column[order]
        # Runs of equal values: each begins where the sorted column changes.
        first = np.flatnonzero(np.concatenate(([True], placed[1:] != placed[:-1])))
        after = np.append(first[1:], n)
        out[order, unit] = np.repeat((first + after - 1) / 2, after - first)  # the mean of first .. after - 1

    # Sorting releases the GIL; for few values the threads would only wait for each other.
    with ThreadPoolExecutor(cores() if n >= THREADS_MIN_VALUES else 1, "rnnviz-ranks") as pool:
        list(pool.map(rank, range(units)))
    # Centred ranks: their sum inside the target gives the AUC without a further subtraction.
    out -= (n - 1) / 2
    return out


def auc(ranked: Doubles, mask: Mask) -> Doubles:
    """The AUC of each unit, (U,), for `ranks` (n, U) and a mask (n,) that is True and False at least once."""
    return auc_from_sums(ranked[mask].sum(axis=0), mask)


def auc_from_sums(sums: Array, mask: Mask) -> Doubles:
    """The AUC from the sum of centred ranks inside: mean ranks inside and outside are n (AUC - 1/2) apart."""
    inside = int(mask.sum())
    return np.asarray(0.5 + sums / (inside * (len(mask) - inside)))


def correlation(ranked: Doubles, target: Doubles) -> Doubles:
    """(U,) the correlation of each unit of `ranked` (n, U) with `target` (n,), both centred; 0 for a
    constant.
    """
    return correlation_from_sums(target @ ranked, ranked, target)


def correlation_from_sums(sums: Array, ranked: Doubles, target: Doubles) -> Doubles:
    """`correlation` from Σ_t target[t] ranked[t], (U,) or (S, U)."""
    length = np.linalg.norm(ranked, axis=0) * np.linalg.norm(target)
    return np.asarray(sums / np.where(length > 0, length, np.inf))


def predict_by_symbol(ids: Integers, values: Array, learn: Mask | slice) -> Doubles:
    """The best prediction without memory, (n,): for each of `ids` (n,) the mean of `values` (n,), a mask or
    graded, over the character's places in part `learn`.
    """
    count = np.bincount(ids[learn])
    mean = np.full(int(ids.max()) + 1, values[learn].mean())
    seen_ids = np.flatnonzero(count)
    mean[seen_ids] = np.bincount(ids[learn], values[learn])[seen_ids] / count[seen_ids]
    return np.asarray(mean[ids])


def score(column: Array, values: Array) -> float:
    """The score of one series (n,) for `values` (n,): AUC for a mask, correlation for a graded target."""
    ranked = ranks(column[:, None])
    if values.dtype == np.bool_:
        return float(auc(ranked, values)[0])
    return float(correlation(ranked, ranks(values))[0])


def shifted_products(ranked: Doubles, target: Array, shifts: Integers) -> Doubles:
    """(S, U) Σ_t target[t - s] ranked[t] for each shift s, cyclic, to float32's rounding."""
    n = len(target)
    twice = np.tile(np.asarray(target, np.float32), 2)
    scale = np.float32(2 / max(n, 1))  # centred ranks reach n/2: scaled to 1 for float32
    scaled = np.asarray(ranked, np.float32) * scale
    # 64 MB of shifted targets at a time; the product with all units then is one BLAS call.
    step = max(1, (1 << 24) // max(n, 1))
    parts = []
    for begin in range(0, len(shifts), step):
        # Twice the target end to end, so a cyclic shift is a slice of it.
        rows = np.stack([twice[n - s : 2 * n - s] for s in shifts[begin : begin + step].tolist()])
        parts.append(rows @ scaled)
    return np.concatenate(parts).astype(np.float64) / scale

"""Which units to show, and in which order.

seriate    all, similar ones beside one another: units whose activations rise and fall together
steady     a few that hold their colour for long and differ from one another
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError

WINDOW = 8
"""Characters over which `steady` takes means: more than a word has, mostly."""


def seriate(activations: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.int64]:
    """The units in their order, (H,), constant ones last: unit `result[i]` belongs into row i. `activations`
    (T, H) are their values over a text. Deterministic. Raises ConfigError for another shape.

    The order is that of the second eigenvector of the similarity graph's Laplacian (the Fiedler vector;
    Atkins, Boman & Hendrickson 1998, "A spectral algorithm for seriation").
    """
    values = _centred(activations)
    length = np.linalg.norm(values, axis=0)
    moving = np.flatnonzero(length > 1e-9)
    still = np.flatnonzero(length <= 1e-9)
    if len(moving) < 3:
        return np.arange(activations.shape[1], dtype=np.int64)
    unit = values[:, moving] / length[moving]
    similarity = np.clip((1 + unit.T @ unit) / 2, 0, 1) ** 2  # squared: near neighbours count for more
    degree = similarity.sum(axis=1)
    # The symmetric normalised Laplacian: units with many relatives don't pull all others towards them.
    scale = 1 / np.sqrt(degree)
    laplacian = np.eye(len(moving)) - similarity * scale[:, None] * scale
    _, vectors = np.linalg.eigh(laplacian)
    fiedler = np.round(vectors[:, 1] * scale, 12)
    if fiedler[np.argmax(np.abs(fiedler))] < 0:  # an eigenvector's sign is arbitrary
        fiedler = -fiedler
    return np.concatenate([moving[np.argsort(fiedler, kind="stable")], still]).astype(np.int64)


def steady(activations: npt.NDArray[np.floating[Any]], count: int = 24) -> npt.NDArray[np.int64]:
    """The `count` units that hold their colour, or all if there are fewer: the slowest first. `activations`
    (T, H) are their values over a text. Deterministic. Raises ConfigError for another shape, and count
    below 1.

    A unit is slow as far as its means over WINDOW characters still vary as it does: the share of its variance
    that is left in them. Units are chosen one after another, each for the slow part that those before don't
    tell: a QR decomposition with column pivoting (Businger & Golub 1965) of the means times that share.

    >>> t = np.arange(1000)
    >>> slow, slower, fast = np.sin(t / 5), np.cos(t / 30), np.cos(t)
    >>> steady(np.stack([fast, slow, -slow, slower], axis=1), 2)  # one of the two that say the same
    array([3, 1])
    """
    if count < 1:
        raise ConfigError("count is at least 1; received {count}", count=count)
    from scipy.linalg import qr

    values = _centred(activations)
    T, H = values.shape
    window = min(WINDOW, max(1, T // 2))
    sums = np.concatenate([np.zeros((1, H)), values.cumsum(axis=0)])
    means = (sums[window:] - sums[:-window]) / window  # (T - window + 1, H)
    if not len(means):
        return np.arange(min(count, H), dtype=np.int64)
    share = means.var(axis=0) / np.maximum(values.var(axis=0), 1e-9)
    _, _, chosen = qr((means - means.mean(axis=0)) * share, mode="economic", pivoting=True)
    few = np.asarray(chosen[:count], np.int64)
    return few[np.argsort(-share[few], kind="stable")]


def _centred(activations: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    """(T, H) with mean 0 over the text; what isn't finite is 0. Raises ConfigError for another shape."""
    if activations.ndim != 2:
        raise ConfigError("activations are (T, H); received shape {shape}", shape=activations.shape)
    values = np.nan_to_num(np.asarray(activations, np.float64), posinf=0.0, neginf=0.0)
    return values - values.mean(axis=0) if len(values) else values

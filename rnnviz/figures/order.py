"""An order of units in which similar ones are neighbours. Units are similar when their activations rise and
fall together. The order is that of the second eigenvector of the similarity graph's Laplacian (the Fiedler
vector; Atkins, Boman & Hendrickson 1998, "A spectral algorithm for seriation").
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError


def seriate(activations: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.int64]:
    """The units in their order, (H,), constant ones last: unit `result[i]` belongs into row i. `activations`
    (T, H) are their values over a text. Deterministic. Raises ConfigError for another shape.
    """
    if activations.ndim != 2:
        raise ConfigError("activations are (T, H); received shape {shape}", shape=activations.shape)
    values = np.nan_to_num(np.asarray(activations, np.float64), posinf=0.0, neginf=0.0)
    values = values - values.mean(axis=0) if len(values) else values
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

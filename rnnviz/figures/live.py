"""The live view's picture: states, running perplexity, surprisal, and predictions of a text being read.

Each keystroke brings `heat_map_values(...)`, in the colours of `scale(...)`, which the browser draws. In a
notebook the widget of `rnnviz.live` shows it.

Shape letters: T time steps, L layers, H units, n columns of the window.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles, Floats, Integers
from rnnviz.checks import renamed_names
from rnnviz.figures import themes
from rnnviz.figures.themes import ColourScale
from rnnviz.networks.config import KINDS
from rnnviz.scoring.trace import Trace

# The shown units, and their order.
#
# seriate    all units grouped by similarity: those whose activations rise and fall together side by side
# steady     a few units that change least often and differ from one another


STEADY_WINDOW_CHARS = 8
"""Characters over which `steady` takes means: more than most words have."""


def seriate(activations: npt.NDArray[np.floating[Any]]) -> Integers:
    """All units grouped by similarity, (H,), constant ones last: unit `result[i]` belongs into row i.
    `activations` (T, H) are their values over a text. Deterministic.

    The order is that of the second eigenvector of the similarity graph's Laplacian (the Fiedler vector;
    Atkins, Boman & Hendrickson 1998, "A spectral algorithm for seriation").
    """
    values = _centred(activations)
    norms = np.linalg.norm(values, axis=0)
    moving = np.flatnonzero(norms > 1e-9)
    still = np.flatnonzero(norms <= 1e-9)
    if len(moving) < 3:
        return np.arange(activations.shape[1], dtype=np.int64)
    normed = values[:, moving] / norms[moving]
    similarity = np.clip((1 + normed.T @ normed) / 2, 0, 1) ** 2  # squared: near neighbours weigh more
    degree = similarity.sum(axis=1)
    # The symmetric normalised Laplacian, so that units with many neighbours don't attract all others.
    scale = 1 / np.sqrt(degree)
    laplacian = np.eye(len(moving)) - similarity * scale[:, None] * scale
    _, vectors = np.linalg.eigh(laplacian)
    # Rounded, so that machines that differ in the last digits give one order.
    fiedler = np.round(vectors[:, 1] * scale, 12)
    if fiedler[np.argmax(np.abs(fiedler))] < 0:  # an eigenvector's sign is arbitrary
        fiedler = -fiedler
    return np.concatenate([moving[np.argsort(fiedler, kind="stable")], still]).astype(np.int64)


def steady(activations: npt.NDArray[np.floating[Any]], count: int = 24) -> Integers:
    """The `count` units that change least often, or all if there are fewer: the slowest first. `activations`
    (T, H) are their values over a text. Deterministic.

    A unit's slowness is the share of its variance that its means over STEADY_WINDOW_CHARS characters keep.
    Units are chosen one after another, each for the slow part that earlier choices don't explain. The method
    is a QR decomposition with column pivoting (Businger & Golub 1965) of the means times that share.

    >>> t = np.arange(1000)
    >>> slow, slower, fast = np.sin(t / 5), np.cos(t / 30), np.cos(t)
    >>> steady(np.stack([fast, slow, -slow, slower], axis=1), 2)  # one of the two that say the same
    array([3, 1])
    """
    values = _centred(activations)
    T, H = values.shape
    window = min(STEADY_WINDOW_CHARS, max(1, T // 2))
    sums = np.concatenate([np.zeros((1, H)), values.cumsum(axis=0)])
    means = (sums[window:] - sums[:-window]) / window  # (T - window + 1, H)
    if not len(means):
        return np.arange(min(count, H), dtype=np.int64)
    slowness = means.var(axis=0) / np.maximum(values.var(axis=0), 1e-9)
    chosen = _pivots((means - means.mean(axis=0)) * slowness, min(count, H))
    return chosen[np.argsort(-slowness[chosen], kind="stable")]


def _pivots(columns: Doubles, count: int) -> Integers:
    """The first `count` pivots of `columns` (n, H): each is the longest of what the earlier ones leave.

    SciPy's pivoted QR chooses the same, and would be 143 MB of an installation that only looks.
    """
    rest, chosen = columns.copy(), np.zeros(count, np.int64)
    for n in range(count):
        norms = np.linalg.norm(rest, axis=0)
        norms[chosen[:n]] = -1
        chosen[n] = pivot = int(np.argmax(norms))
        along = rest[:, pivot] / max(norms[pivot], 1e-300)
        rest -= np.outer(along, along @ rest)
    return chosen


def _centred(activations: npt.NDArray[np.floating[Any]]) -> Doubles:
    """(T, H) with mean 0 over the text; infinities and NaN count as 0."""
    values = np.nan_to_num(np.asarray(activations, np.float64), posinf=0.0, neginf=0.0)
    return values - values.mean(axis=0) if len(values) else values


WINDOW_COLUMNS = 120
"""Characters of a window, unless a view asks for more: on most screens more can't be told apart."""

LISTED_NEXT = 12
"""Next characters listed one by one; the others are summed."""

SYMBOLS = {
    "hidden": "H",
    "cell": "C",
    "reset": "R",
    "update": "Z",
    "input": "I",
    "forget": "F",
    "output": "O",
    "candidate": "candidate",
}
"""The textbook's letters."""


def quantities(cell: str) -> tuple[str, ...]:
    """The quantities that the heat map can show for such cells, in the picker's order.

    >>> quantities("gru")
    ('hidden', 'reset', 'update', 'candidate')
    """
    return KINDS[cell].quantities


def scale(quantity: str, span: str = "tanh") -> ColourScale:
    """The fixed colour scale of a quantity, for states with the given `span` (`ModelConfig.span`)."""
    if quantity == "cell":
        return themes.CELL
    if quantity in ("hidden", "candidate"):
        return themes.RELU if span in ("relu", "positive") else themes.TANH
    return themes.GATE


def trace_scale(trace: Trace) -> ColourScale:
    """The colour scale of a trace's H, in its last layer."""
    weights = trace.weights
    return scale("hidden", weights.layers[-1].activation if weights.cell in KINDS else "tanh")


def heat_map_values(trace: Trace, quantity: str, layer: int, start: int, stop: int) -> Floats:
    """One quantity of one layer over characters start .. stop - 1, (n, H) float32."""
    if quantity == "hidden":
        return trace.hidden[start:stop, layer]
    if quantity == "cell" and trace.cell is not None:
        return trace.cell[start:stop, layer]
    return trace.gates_at(start, stop)[quantity][:, layer]


if not TYPE_CHECKING:  # not for mypy, which would take every name for one of the module's
    __getattr__ = renamed_names(
        __name__,
        COLUMNS="WINDOW_COLUMNS",
        NEXT="LISTED_NEXT",
        WINDOW="STEADY_WINDOW_CHARS",
        plane="heat_map_values",
        scale_of="trace_scale",
    )

"""State contributions: how much of each earlier input is left in a state; exact for a linear recurrence.

    H_t = Σ_s W_{t,s}        W_{t,s} = A_t ⊙ A_{t-1} ⊙ … ⊙ A_{s+1} ⊙ B_s

of H_t = A_t ⊙ H_{t-1} + B_t: the input written at step s, times the share that is left. This is an attention
without queries and keys (Ali, Zimerman & Wolf 2024, "The hidden attention of Mamba models"). A GRU or an LSTM
has no such sum: its gates read the state. In the lowest layer B_s depends on character s alone, in higher
layers on the whole text up to s.

Shape letters: n steps (the start symbol and T characters), H units.
"""

from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Doubles, Floats, read_only
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.findings import Panel, report
from rnnviz.lab.analysis.linearisation import check_place, differentiable_weights, read
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_engine import layer_parts
from rnnviz.networks.numpy_model import Network
from rnnviz.reprs import Drawn


@dataclass(frozen=True, eq=False, repr=False)
class Remaining(Drawn):
    """A layer's linear recurrence over a text of T characters; arrays are float64 and read-only.

    keep   (T + 1, H) A of each step, the start symbol's first
    write  (T + 1, H) B of each step
    """

    REPORT = "rnnviz.lab.reports.state_contributions"

    text: str
    layer: int
    keep: Doubles
    write: Doubles

    def __repr__(self) -> str:
        return f"<Remaining of {len(self.text):,} characters, layer {self.layer}>"

    def at(self, t: int | None = None) -> Floats:
        """(t + 1, H) the contributions to the state after t characters (None: all), in the order of writing;
        the sum of the rows is the state. Raises ConfigError outside 1 .. T.
        """
        t = check_place(self.text, t)
        shares_left = np.ones((t + 1, self.keep.shape[1]))
        # Backwards from t: what was written at step s has been kept t - s times. Row 0 is step t's own,
        # kept by nothing yet.
        np.cumprod(self.keep[t:0:-1], axis=0, out=shares_left[1:])
        return np.asarray(shares_left[::-1] * self.write[: t + 1], np.float32)

    def shares(self) -> Doubles:
        """(T + 1, T + 1) row t has each step's share of the state after t characters, by the sum of absolute
        values over units; each row has sum 1, or is 0. Takes T² H operations.
        """
        n = len(self.keep)
        sizes = np.zeros((n, n))
        contributions = np.zeros_like(self.write)
        for t in range(n):
            # In place, one step on: each earlier input keeps its share, and the new one is written in its
            # row.
            contributions[:t] *= self.keep[t]
            contributions[t] = self.write[t]
            np.abs(contributions[: t + 1]).sum(axis=1, out=sizes[t, : t + 1])
        total = sizes.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(sizes, total, out=np.zeros_like(sizes), where=total > 0))

    def panels(self) -> list[Panel]:
        """Each character's share of each state, without the start symbol."""
        square: list[Panel] = report(self).panels(self)
        return square


@checked
def remaining(model: Network, text: str, *, layer: int = 0) -> Remaining:
    """The contributions of each step over `text` to the states of `layer`.

    Raises ConfigError for a model whose recurrence isn't linear or an absent layer, EmptyTextError,
    CheckpointError if the states overflow.

    >>> from rnnviz import gradients
    >>> import rnnviz
    >>> from rnnviz.text.vocabulary import Vocabulary
    >>> from rnnviz.lab.engines.untrained import tensors, weights_from, NumpyModel
    >>> config, vocabulary = rnnviz.ModelConfig("mingru", 3, 8), Vocabulary(("a", "b"))
    >>> model = NumpyModel(config, vocabulary, weights_from(config, tensors(config, seed=0)))
    >>> found = gradients.remaining(model, "abba").at()
    >>> found.shape, bool(abs(found.sum(axis=0) - rnnviz.trace(model, "abba").hidden[-1, 0]).max() < 1e-5)
    ((5, 8), True)
    """
    weights = differentiable_weights(model)
    if not CELLS[weights.cell].linear:
        raise ConfigError(
            "what is left of each input is a sum only where no gate looks at the state ({cells}); "
            "this network has {cell} cells",
            cells=", ".join(name for name, kind in CELLS.items() if kind.linear),
            cell=weights.cell,
        )
    if type(layer) is not int or not 0 <= layer < len(weights.layers):
        raise ConfigError(
            "layer is 0 to {layers}; received {layer}", layers=len(weights.layers) - 1, layer=layer
        )
    reading = read(model, text)
    rows = weights.rows(layer, reading.inputs, reading.hidden[1:, layer - 1])
    recurrence = layer_parts(weights.layers[layer], rows, reading.hidden[:-1, layer])
    keep, write = (np.array(recurrence[part], np.float64) for part in ("keep", "write"))
    keep[reading.begins] = 0  # nothing is left of a text that has ended
    keep, write = read_only(keep), read_only(write)
    return Remaining(reading.text, layer, keep, write)

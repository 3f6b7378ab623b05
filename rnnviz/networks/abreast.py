"""Texts read abreast, a row of a batch each: the steps that stretches of one text and many short texts share.

A batch is faster than one row after another because memory limits a matrix-vector product. How its steps are
computed is in `torch_abreast` and `numpy_abreast`, one of which a model brings.

Shape letters: B rows, T time steps, L layers, H hidden units, V symbols, n predictions.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.networks.prediction import Scores

CHUNK = 64
"""Time steps read at a time."""

LOGITS = 1 << 20
"""Entries, predictions by symbols, of one block of the readout."""


State: TypeAlias = "tuple[Any, ...]"
"""H, and an LSTM's C, (L, B, H) each: tensors or arrays."""


class Abreast(Protocol):
    """Reads the rows of a batch some steps at a time, with the weights that the model has now."""

    size: int
    """V."""

    def piece(self, size: int | None = None) -> AbstractContextManager[None]:
        """Compute inside, `size` characters; None: don't time it. See `rnnviz.networks.threads`."""
        ...

    def zeros(self, rows: int) -> State:
        """The state before a text, `rows` times."""
        ...

    def ids(self, ids: Ids) -> Any:
        """`ids` where the model computes, of any shape."""
        ...

    def read(self, inputs: Any, state: State) -> tuple[Any, State]:
        """The top layer's H (B, T, H) after each of the inputs (B, T), and the state after the last."""
        ...

    def scores(self, top: Any, targets: Any, *, want: bool) -> Scores:
        """The Scores of `targets` (B, T), (B·T,), given H (B, T, H); `want` fills in rank and entropy."""
        ...

    def predictions(self, top: Any) -> Doubles:
        """log P (B, T, V) of every symbol, given H (B, T, H)."""
        ...

    def in_sequence(self, inputs: Ids, state: State) -> tuple[Floats, Doubles, State]:
        """As `Weights.predict`, after each of `inputs` (n,) of one text, and the state after the last."""
        ...

    def joined(self, parts: Sequence[Any]) -> Any:
        """Parts of states (L, B, H) with their rows one after another: a copy."""
        ...

    def arrays(self, state: State) -> tuple[Floats, ...]:
        """A state as arrays."""
        ...

    def state(self, arrays: tuple[Floats, ...]) -> State:
        """The other way round."""
        ...

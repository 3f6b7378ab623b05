"""CustomModel: a network whose step is a Python function, traced, scored, sampled and changed as any other.

    step(ids, state) -> (outputs, state)      ids (B,) integers; state {name: (B, width of that part)}
    readout(outputs) -> logits                (B, n), of the network's own n symbols

`rnnviz.adapt_step` makes one. Each part of the state is a layer of `Trace.hidden`, in the order of the
initial state; the part that is the step's `outputs` comes last. Narrower parts are filled up with zeros.

An intervention changes a part as soon as the step that made it has returned. The prediction sees changed
`outputs` at once; values that the same step has already made of the part follow with the next character. A
network given as several steps, one for each layer, is changed between them, as torch's layers are.

Shape letters: B texts, L layers, H units of the widest part, n symbols of the network, V of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch

from rnnviz.arrays import Array, Floats, Ids
from rnnviz.errors import ConfigError
from rnnviz.networks.batched_scoring import CharScorer, NumpyEngine
from rnnviz.networks.config import ModelConfig
from rnnviz.networks.numpy_engine import Changes, Weights
from rnnviz.text.vocabulary import Vocabulary

Step = Callable[[Any, dict[str, Any]], "tuple[Any, Mapping[str, Any]]"]
Readout = Callable[[Any], Any]


@dataclass(frozen=True, kw_only=True)
class StepWeights(Weights):
    """A network's own functions in place of weights, for all code that reads with `Weights`.

    readout  W_hq, where the network's is a matrix; (V, 0) where it is the function `outputs -> logits`
    initial  each part before a text, (1, width), in the order of the layers, in the user's kind of array
    first    all of them, (L, H), filled up with zeros
    same     for each step the part that equals its outputs, or None; the last step has one
    inputs   (V + 1,) the network's index of each input; -1: the input isn't read, and the state stays
    symbols  (V - 1,) the network's index of each character
    unknown  the network's index of <unk>, or None: `gap` nats below the mean logit
    """

    steps: tuple[Step, ...]
    function: Readout
    initial: Mapping[str, Any]
    first: Floats
    same: tuple[str | None, ...]
    inputs: Ids
    symbols: Ids
    unknown: int | None
    gap: float

    def states(self, rows: int, texts: int | None = None) -> tuple[Floats, Floats | None]:
        """The state before a text, `rows` times: (rows, L, H), or (rows, L, texts, H)."""
        first = self.first if texts is None else np.repeat(self.first[:, None], texts, axis=1)
        return np.repeat(first[None], rows, axis=0), None

    def _run_on(
        self,
        ids: Ids,
        hidden: Floats,
        cell: Floats | None,
        changes: Changes,
        time: int,
        first_rows: Floats | None,
    ) -> None:
        """As that of `Weights`, for inputs: `first_rows` is not read."""
        if ids.ndim == 1:
            ids, hidden = ids[:, None], hidden[:, :, None]
        for t, symbols in enumerate(ids):
            self._read(symbols, hidden[t], hidden[t + 1], changes, time + t)

    def _read(self, ids: Ids, before: Floats, after: Floats, changes: Changes, time: int) -> None:
        """Read one symbol for each text, (B,): from the states `before` to `after`, (L, B, H) each."""
        indices = self.inputs[ids]
        # Texts whose symbol has no index go through the step too, with any index, and keep their state.
        unread = indices < 0
        x = like_of(next(iter(self.initial.values())), np.where(unread, self.symbols[0], indices))
        state = {name: self.part(name, rows) for name, rows in zip(self.initial, before, strict=True)}
        for step, same in zip(self.steps, self.same, strict=True):
            with torch.no_grad():
                x, new = step(x, dict(state))
            for name, values in new.items():
                n, width = list(self.initial).index(name), self.initial[name].shape[1]
                after[n, :, :width] = as_array(values)
                # In place of a batch without those texts: the function always gets all B rows.
                after[n, unread] = before[n, unread]
                if change := changes.get((n, "hidden")):
                    change(time, after[n])
                after[n, :, width:] = 0
                state[name] = self.part(name, after[n])
            if same is not None:
                x = state[same]

    def part(self, name: str, rows: Floats) -> Any:
        """A layer's rows (B, H) as the user's kind of array, (B, width)."""
        like = self.initial[name]
        rows = np.ascontiguousarray(rows[:, : like.shape[1]])
        return rows.astype(like.dtype) if isinstance(like, np.ndarray) else like_of(like, rows).to(like.dtype)

    def gates(self, ids: Ids, hidden: Floats) -> dict[str, Floats]:
        """Empty: a function's gates aren't known."""
        return {}

    def logits(self, top: Floats) -> Floats:
        """As `Weights.logits`, by the readout's matrix or the function."""
        if self.readout.shape[1]:
            return super().logits(top)
        theirs = self.theirs(top)
        logits = np.empty((len(top), len(self.bias)), np.float32)
        logits[:, 1:] = theirs[:, self.symbols]
        if self.unknown is None:
            logits[:, 0] = logits[:, 1:].mean(axis=1, dtype=np.float64) - self.gap
        else:
            logits[:, 0] = theirs[:, self.unknown]
        return logits

    def theirs(self, top: Floats) -> Array:
        """The network's own logits (B, n) of the last layer's rows (B, H)."""
        with torch.no_grad():
            return as_array(self.function(self.part(list(self.initial)[-1], top)))


@dataclass(frozen=True)
class CustomConfig(ModelConfig):
    """The shape of a CustomModel. `parameter_count` is 0, as a function's parameters aren't known."""

    def __post_init__(self) -> None:
        """Check nothing: the values come from the functions themselves."""

    @property
    def parameter_count(self) -> int:
        """0: not known."""
        return 0

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Raises ConfigError: functions have no tensors."""
        raise ConfigError(
            "this network's step is a Python function, so there are no weights to draw or to store; for "
            "untrained copies give fresh=, a function of a seed that adapts a new network of yours"
        )


@dataclass(frozen=True, eq=False, repr=False)
class CustomModel:
    """A network of Python functions, which can't be saved; `parts` names the layers of `Trace.hidden`."""

    vocabulary: Vocabulary
    weights: StepWeights
    name: str = ""
    card: dict[str, Any] = field(default_factory=dict)
    normaliser: str = "newlines"
    sketch: None = None
    parameter_count: ClassVar[int] = 0  # not known

    def __repr__(self) -> str:
        return f"<CustomModel {self.name!r} with the state {', '.join(self.parts)}>"

    @property
    def parts(self) -> tuple[str, ...]:
        """The name of each layer of `Trace.hidden`: a part of the state."""
        return tuple(self.weights.initial)

    @property
    def config(self) -> ModelConfig:
        """V, L and H; its cell is called "custom"."""
        layers, V = self.weights.layers, self.vocabulary.size
        return CustomConfig("custom", V, layers[0].units, len(layers), 0)

    def scorer(self) -> CharScorer:
        """A reader at the start of a text, in the functions' own precision."""
        return CharScorer(NumpyEngine(self.weights), self.vocabulary.start, wide=False)


def as_array(values: Any) -> Array:
    """An array, or a tensor on any device, as an array."""
    return values.detach().cpu().numpy() if hasattr(values, "detach") else np.asarray(values)


def like_of(like: Any, values: Array) -> Any:
    """`values` as an array, or a tensor where `like` is one."""
    return values if isinstance(like, np.ndarray) else torch.from_numpy(values).to(like.device)

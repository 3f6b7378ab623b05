"""A network whose step is a Python function, read as any other: traced, scored, sampled from, changed.

    step(ids, state) -> (outputs, state)      ids (B,) integers; state {name: (B, width of that part)}
    readout(outputs) -> logits                (B, n), of the network's own n symbols

`rnnviz.networks.adapter.adapt` makes one. A part of the state is a layer of `Trace.hidden`, in the order of
the initial state; the one that is the step's `outputs` comes last, and where none is, `outputs` are a layer
of their own after them. Narrower parts are filled up with zeros. An intervention changes a part as soon as
the step that made it has returned: the prediction sees a change of `outputs` at once, whatever the same step
has made of the part already follows with the next character. A network given as several steps, one a layer,
each reading the outputs of the one before, is changed between them, as torch's layers are.

Shape letters: B texts, L layers, H units of the widest part, n symbols of the network, V of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np

from rnnviz.arrays import Array, Floats, Ids
from rnnviz.errors import ConfigError
from rnnviz.networks.batched_scoring import CharScorer, NumpyEngine
from rnnviz.networks.config import Cell, ModelConfig
from rnnviz.networks.numpy_engine import NO_CHANGES, Changes, Layer, Weights
from rnnviz.text.vocabulary import Vocabulary

Step = Callable[[Any, dict[str, Any]], "tuple[Any, Mapping[str, Any]]"]
Readout = Callable[[Any], Any]
Change = Callable[[int], None]

OUTPUTS = "outputs"
"""The last layer's name where the step's outputs are no part of the state."""


@dataclass(frozen=True)
class Functions:
    """What a network of one's own is made of.

    initial  each part before a text, (1, width), in the order of the layers, in the user's kind of array
    same     for each step the part that its outputs are, or None
    inputs   (V + 1,) the network's index of each of our inputs; -1: it is not read, the state stays
    symbols  (V - 1,) the network's index of each character
    unknown  the network's index of <unk>, or None: `gap` nats below the mean logit
    batched  whether the steps read several texts at a time
    """

    steps: tuple[Step, ...]
    readout: Readout | None
    initial: Mapping[str, Any]
    same: tuple[str | None, ...]
    inputs: Ids
    symbols: Ids
    unknown: int | None
    gap: float
    outputs: int
    batched: bool = False

    @cached_property
    def widths(self) -> dict[str, int]:
        """The width of each layer."""
        own = {name: int(part.shape[1]) for name, part in self.initial.items()}
        return own if self.same[-1] is not None else {**own, OUTPUTS: self.outputs}

    def call(self, step: Step, x: Any, state: dict[str, Any]) -> tuple[Any, Mapping[str, Any]]:
        """One step of B texts, one by one where it reads only one at a time."""
        if self.batched or len(x) == 1:
            return step(x, state)
        each = [
            step(x[b : b + 1], {name: part[b : b + 1] for name, part in state.items()}) for b in range(len(x))
        ]
        parts = {name: _joined([new[name] for _, new in each]) for name in each[0][1]}
        return _joined([outputs for outputs, _ in each]), parts


@dataclass(frozen=True)
class StepWeights(Weights):
    """A network's own functions in the place of weights, for all that steps through `Weights`."""

    own: Functions = field(kw_only=True)

    @classmethod
    def of(cls, own: Functions, matrix: tuple[Floats, Floats] | None = None) -> StepWeights:
        """The layers of these functions; `matrix` is W_hq (V, width) and b_q, where the readout is that."""
        none, H, V = np.empty(0, np.float32), max(own.widths.values()), len(own.symbols) + 1
        layer = Layer("custom", H, "tanh", None, none, none)
        readout, bias = np.zeros((V, 0), np.float32), np.zeros(V, np.float32)
        if matrix is not None:
            readout, bias = np.zeros((V, H), np.float32), matrix[1]
            readout[:, : matrix[0].shape[1]] = matrix[0]
        return cls((layer,) * len(own.widths), None, readout, bias, own=own)

    @cached_property
    def _first(self) -> Floats:
        """The state before a text, (L, H)."""
        out = np.zeros((len(self.layers), self.layers[0].units), np.float32)
        for row, part in zip(out, self.own.initial.values(), strict=False):
            row[: part.shape[1]] = as_array(part)[0]
        return out

    def states(self, rows: int, texts: int | None = None) -> tuple[Floats, Floats | None]:
        """The state before a text, `rows` times: (rows, L, H), or (rows, L, texts, H)."""
        first = self._first if texts is None else np.repeat(self._first[:, None], texts, axis=1)
        return np.repeat(first[None], rows, axis=0), None

    def run(
        self,
        ids: Ids,
        hidden: Floats,
        cell: Floats | None,
        changes: Changes = NO_CHANGES,
        time: int = 0,
        *,
        driven: Floats | None = None,
    ) -> None:
        """As `Weights.run`, of inputs alone."""
        one = ids.ndim == 1
        rows = (hidden[:, :, None] if one else hidden).swapaxes(1, 2)  # (n + 1, B, L, H)
        for t, now in enumerate(ids[:, None] if one else ids):
            after = rows[t + 1]  # (B, L, H)

            def change(layer: int, t: int = t, after: Floats = after) -> None:
                if made := changes.get((layer, "hidden")):
                    made(time + t, after[:, layer])

            self.read(now, rows[t], after, change)

    def read(self, ids: Ids, before: Floats, after: Floats, change: Change) -> None:
        """Read one symbol per text, (B,): from the states `before` to those `after`, (B, L, H) each.

        `change(layer)` is called once a layer's rows in `after` are there, and may change them.
        """
        own, names = self.own, list(self.own.widths)
        after[:] = before
        theirs = own.inputs[ids]
        here = np.flatnonzero(theirs >= 0)
        untouched = set(range(len(names)))

        def put(name: str, values: Any | None) -> None:
            n, width = names.index(name), own.widths[name]
            untouched.discard(n)
            if values is not None:
                after[here, n, :width] = as_array(values)
            change(n)
            after[:, n, width:] = 0

        if len(here):
            x = like_of(next(iter(own.initial.values())), theirs[here])
            state = {name: self._part(name, before[here, n]) for n, name in enumerate(own.initial)}
            for step, same in zip(own.steps, own.same, strict=True):
                with no_gradients(own.initial):
                    x, new = own.call(step, x, state)
                for name, values in new.items():
                    put(name, values)
                    state[name] = self._part(name, after[here, names.index(name)])
                x = x if same is None else state[same]
            if own.same[-1] is None:
                put(OUTPUTS, x)
        for n in sorted(untouched):
            put(names[n], None)

    def _part(self, name: str, rows: Floats) -> Any:
        """A layer's rows (B, H) as the user's kind of array, (B, width)."""
        like = self.own.initial[name]
        rows = np.ascontiguousarray(rows[:, : like.shape[1]])
        return rows.astype(like.dtype) if isinstance(like, np.ndarray) else like_of(like, rows).to(like.dtype)

    def gates(self, ids: Ids, hidden: Floats) -> dict[str, Floats]:
        """None are known of."""
        return {}

    def logits(self, top: Floats) -> Floats:
        """As `Weights.logits`; without a readout every symbol has the same probability."""
        if self.readout.shape[1]:
            return super().logits(top)
        own, V = self.own, len(self.bias)
        logits = np.zeros((len(top), V), np.float32)
        if own.readout is not None and len(top):
            theirs = self.theirs(top)
            logits[:, 1:] = theirs[:, own.symbols]
            if own.unknown is None:
                logits[:, 0] = logits[:, 1:].mean(axis=1, dtype=np.float64) - own.gap
            else:
                logits[:, 0] = theirs[:, own.unknown]
        return logits

    def theirs(self, top: Floats) -> Floats:
        """The network's own logits (B, n) of the last layer's rows (B, H)."""
        assert self.own.readout is not None
        name = list(self.own.widths)[-1]
        like = self.own.initial.get(name, next(iter(self.own.initial.values())))
        rows = like_of(like, np.ascontiguousarray(top[:, : self.own.widths[name]]))
        with no_gradients(self.own.initial):
            if self.own.batched:
                return as_array(self.own.readout(rows))
            return as_array(_joined([self.own.readout(rows[b : b + 1]) for b in range(len(top))]))


@dataclass(frozen=True)
class CustomConfig(ModelConfig):
    """The shape of such a network. `parameter_count` is 0: a function's aren't known."""

    def __post_init__(self) -> None:
        """Nothing to check: it is made of what the functions gave."""

    @property
    def parameter_count(self) -> int:
        """Not known."""
        return 0

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Raises ConfigError: there are none."""
        raise ConfigError(
            "this network's step is a Python function, so there are no weights to draw or to store; for "
            "untrained copies give fresh=, a function of a seed that adapts a new network of yours"
        )


@dataclass(frozen=True, eq=False, repr=False)
class CustomModel:
    """A network of Python functions; `parts` names the layers of `Trace.hidden`. It can't be saved."""

    vocabulary: Vocabulary
    weights: StepWeights
    name: str = ""
    card: dict[str, Any] = field(default_factory=dict)
    normaliser: str = "newlines"
    sketch: None = None

    def __repr__(self) -> str:
        return f"<CustomModel {self.name!r} with the state {', '.join(self.parts)}>"

    @property
    def parts(self) -> tuple[str, ...]:
        """The name of each layer."""
        return tuple(self.weights.own.widths)

    @property
    def config(self) -> ModelConfig:
        """V, L and H; its cell is called "custom"."""
        layers, V = self.weights.layers, self.vocabulary.size
        return CustomConfig(cast(Cell, "custom"), V, layers[0].units, len(layers), 0)

    @property
    def parameter_count(self) -> int:
        """0: not known."""
        return self.config.parameter_count

    def scorer(self) -> CharScorer:
        """A reader at the start of a text, in the functions' own precision."""
        return CharScorer(NumpyEngine(self.weights), self.vocabulary.start, wide=False)


def as_array(values: Any) -> Array:
    """An array, or a tensor on any device, as an array."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return np.asarray(values)


def like_of(like: Any, values: Array) -> Any:
    """`values` as an array, or a tensor where `like` is one."""
    if isinstance(like, np.ndarray):
        return values
    import torch

    return torch.from_numpy(values).to(like.device)


def no_gradients(state: Mapping[str, Any]) -> Any:
    """The context in which functions of such a state are called."""
    if all(isinstance(part, np.ndarray) for part in state.values()):
        return nullcontext()
    import torch

    return torch.no_grad()


def _joined(rows: list[Any]) -> Any:
    if not hasattr(rows[0], "detach"):
        return np.concatenate(rows)
    import torch

    return torch.cat(rows)

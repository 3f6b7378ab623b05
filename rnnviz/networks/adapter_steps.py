"""Functions of one's own made a CustomModel: tried on two characters, so that a mistake is told at once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from torch import nn

from rnnviz.errors import ConfigError, Phrase
from rnnviz.networks.adapter_weights import Symbols, predicted_rows
from rnnviz.networks.custom import (
    OUTPUTS,
    CustomModel,
    Functions,
    Readout,
    Step,
    StepWeights,
    as_array,
    like_of,
    no_gradients,
)
from rnnviz.text.checked import received

CLOSE = 1e-4
"""The largest difference between a text read alone and beside another one."""


def build_custom(
    steps: Sequence[Step],
    readout: Readout | None,
    state: Mapping[str, Any],
    symbols: Symbols,
    unknown_gap: float,
    name: str,
) -> CustomModel:
    """The model of these functions; see `rnnviz.networks.adapter.adapt` for arguments and errors."""
    initial = _initial(state)
    unread = [-1 if index is None else index for index in (symbols.unknown, symbols.start)]
    draft = Functions(
        steps=tuple(steps),
        readout=readout,
        initial=initial,
        same=(None,) * len(steps),
        inputs=np.array([unread[0], *symbols.rows, unread[1]], np.int64),
        symbols=np.array(symbols.rows, np.int64),
        unknown=symbols.unknown,
        gap=unknown_gap,
        outputs=0,
    )
    tried = [_try(draft, index) for index in (symbols.rows[0], symbols.rows[-1])]
    _check_repeats(tried[0], _try(draft, symbols.rows[0]))
    same = tuple(_same([trial[n] for trial in tried]) for n in range(len(steps)))
    if same[-1] is None and symbols.start is None:
        raise ConfigError(
            "the step's outputs are no part of its state, so there are none before a text; name the "
            "character that is read first, such as start='\\n', or return the part that the readout reads"
        )
    if same[-1] is None and OUTPUTS in initial:
        raise ConfigError("a part of the state is called outputs and is another thing; rename it")
    last = same[-1]
    order = {n: part for n, part in initial.items() if n != last}
    if last is not None:
        order[last] = initial[last]
    width = int(as_array(tried[0][-1][0]).shape[-1])
    own = replace(draft, initial=order, same=same, outputs=width)
    own = replace(own, batched=_batched(own, symbols))
    _check_logits(StepWeights.of(own), len(symbols.entries))
    matrix = None
    if isinstance(readout, nn.Linear):
        rows = predicted_rows(readout.weight, readout.bias, symbols, unknown_gap)
        matrix = as_array(rows[:, :-1]).copy(), as_array(rows[:, -1]).copy()
    return CustomModel(symbols.vocabulary, StepWeights.of(own, matrix), name)


def _initial(state: Mapping[str, Any]) -> dict[str, Any]:
    """The parts, (1, width) each."""
    if not isinstance(state, Mapping) or not state or not all(isinstance(name, str) for name in state):
        raise ConfigError(
            "state names the parts of the state before a text, such as {{'h': torch.zeros(256)}}; "
            "received {state}",
            state=Phrase("no parts") if isinstance(state, Mapping) and not state else received(state),
        )
    out = {}
    for name, part in state.items():
        whole = part.detach() if hasattr(part, "detach") else np.asarray(part)
        if whole.ndim == 1:
            whole = whole[None]
        if whole.ndim != 2 or len(whole) != 1 or not whole.shape[1]:
            raise ConfigError(
                "the part {name!r} of the state has shape (units,) or (1, units); received {shape}",
                name=name,
                shape=tuple(whole.shape),
            )
        out[name] = whole
    return out


_Trial = list[tuple[Any, Mapping[str, Any]]]


def _try(own: Functions, index: int) -> _Trial:
    """What each step gives for one symbol from the initial state. Raises ConfigError for anything else than
    outputs and the parts of the state, each from one step and in the shape that it began with.
    """
    x: Any = like_of(next(iter(own.initial.values())), np.array([index]))
    state, found, parts = dict(own.initial), [], []
    for step in own.steps:
        with no_gradients(own.initial):
            given = step(x, dict(state))
        if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[1], Mapping):
            raise _other(own, received(given))
        x, new = given
        parts += [(name, tuple(part.shape)) for name, part in new.items()]
        state |= new
        found.append((x, new))
    if sorted(parts) != sorted((name, tuple(part.shape)) for name, part in own.initial.items()):
        raise _other(own, _listed(parts))
    if as_array(x).ndim != 2 or len(x) != 1:
        raise _other(own, Phrase("outputs of shape {shape}", shape=tuple(as_array(x).shape)))
    return found


def _check_repeats(one: _Trial, again: _Trial) -> None:
    for (_, first), (_, second) in zip(one, again, strict=True):
        for name, part in first.items():
            if not np.array_equal(as_array(part), as_array(second[name]), equal_nan=True):
                raise ConfigError(
                    "the step gave another {name!r} the second time it read the same: dropout may be on; "
                    "call the network's eval() first",
                    name=name,
                )


def _other(own: Functions, given: str) -> ConfigError:
    return ConfigError(
        "a step gets (ids, state) and returns (outputs, state): a row of outputs for each text, and of the "
        "parts {parts} those of its layer; received {received}",
        parts=_listed((name, tuple(part.shape)) for name, part in own.initial.items()),
        received=given,
    )


def _listed(parts: Iterable[tuple[str, tuple[int, ...]]]) -> str:
    return ", ".join(f"{name} {shape}" for name, shape in parts) or Phrase("no parts")


def _same(trials: Sequence[tuple[Any, Mapping[str, Any]]]) -> str | None:
    """The part that a step's outputs are in every trial."""
    for name in trials[0][1]:
        if all(np.array_equal(as_array(x), as_array(new[name])) for x, new in trials):
            return name
    return None


def _batched(own: Functions, symbols: Symbols) -> bool:
    """Whether two texts read side by side give what each gives alone."""
    ids = np.array([1, len(symbols.rows)])
    weights, alone = StepWeights.of(replace(own, batched=True)), StepWeights.of(own)
    start = weights.states(2)[0]
    found = []
    for reader in (alone, weights):
        first, second = np.empty_like(start), np.empty_like(start)
        try:
            reader.read(ids, start, first, lambda layer: None)
            reader.read(ids[::-1], first, second, lambda layer: None)
            logits = reader.theirs(second[:, -1]) if own.readout is not None else np.empty((2, 0))
        except Exception:
            if reader is alone:
                raise
            return False  # a step for one text at a time
        found.append((second, logits))
    return all(
        one.shape == other.shape and np.allclose(one, other, rtol=CLOSE, atol=CLOSE)
        for one, other in zip(*found, strict=True)
    )


def _check_logits(weights: StepWeights, n: int) -> None:
    if weights.own.readout is None:
        return
    logits = weights.theirs(weights.states(1)[0][:, -1])
    if logits.shape != (1, n):
        raise ConfigError(
            "the readout gives a number for each of the {n} characters, (1, {n}) for one text; received "
            "shape {shape}",
            n=n,
            shape=logits.shape,
        )

"""A CustomModel made of Python functions, which are tried on two characters: mistakes are told at once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.checks import received
from rnnviz.errors import ConfigError, Phrase
from rnnviz.lab.engines.adapter_weights import Symbols, predicted_rows
from rnnviz.lab.engines.custom import CustomModel, Readout, Step, StepWeights, as_array, like_of
from rnnviz.networks.numpy_engine import Layer

CLOSE = 1e-4  # the largest difference between a text read alone and beside another one


def build_custom(
    step: Step | Sequence[Step],
    readout: Readout | None,
    state: Mapping[str, Any] | None,
    symbols: Symbols,
    unknown_gap: float,
    name: str,
) -> CustomModel:
    """The model of these functions; see `rnnviz.lab.engines.adapter.adapt_step` for arguments and errors."""
    n = len(symbols.entries)
    steps = tuple(step) if isinstance(step, Sequence) else (step,)
    if readout is None:  # a network that predicts no characters: all are equally likely, <unk> too
        readout, unknown_gap = partial(_alike, n), 0.0
    if not steps or not all(map(callable, (*steps, readout))):
        raise ConfigError(
            "step is a function, or a list of functions, one for each layer, and readout is one; "
            "received step={step}, readout={readout}",
            step=received(step),
            readout=received(readout),
        )
    initial = _initial(state)
    trials = [_try(steps, initial, index) for index in (symbols.rows[0], symbols.rows[-1])]
    same = tuple(_same(pair) for pair in zip(*trials, strict=True))
    last = same[-1]
    if last is None:
        raise ConfigError(
            "the step's outputs are no part of its state, so there are none before a text: return the part "
            "that the readout reads, or the outputs as one more part"
        )
    # What the steps return besides, such as gates, is shown as a part of the state is: it is zero at first.
    initial |= {name: 0 * part for _, new in trials[0] for name, part in new.items() if name not in initial}
    initial[last] = initial.pop(last)
    first = np.zeros((len(initial), max(part.shape[1] for part in initial.values())), np.float32)
    for row, part in zip(first, initial.values(), strict=True):
        row[: part.shape[1]] = as_array(part)[0]
    unread = [-1 if index is None else index for index in (symbols.unknown, symbols.start)]
    V, H, none = symbols.vocabulary.size, first.shape[1], np.empty(0, np.float32)
    weights = StepWeights(
        (Layer("custom", H, "tanh", None, none, none),) * len(initial),
        None,
        np.zeros((V, 0), np.float32),
        np.zeros(V, np.float32),
        steps=steps,
        function=readout,
        initial=initial,
        first=first,
        same=same,
        inputs=np.array([unread[0], *symbols.rows, unread[1]], np.int64),
        symbols=np.array(symbols.rows, np.int64),
        unknown=symbols.unknown,
        gap=unknown_gap,
    )
    shape = weights.theirs(weights.states(1)[0][:, -1]).shape
    if shape != (1, n):
        raise ConfigError(
            "the readout gives a number for each of the {n} characters, (1, {n}) for one text; received "
            "shape {shape}",
            n=n,
            shape=shape,
        )
    _check_rows(weights, len(symbols.rows))
    if isinstance(readout, nn.Linear):  # a matrix shows which characters a unit speaks for
        rows = as_array(predicted_rows(readout.weight, readout.bias, symbols, unknown_gap))
        filled = np.pad(rows[:, :-1], ((0, 0), (0, H - rows.shape[1] + 1)))
        weights = replace(weights, readout=filled, bias=rows[:, -1].copy())
    return CustomModel(symbols.vocabulary, weights, name)


def _alike(n: int, outputs: Any) -> Doubles:
    return np.zeros((len(outputs), n))


def _initial(state: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parts of the state before a text, (1, width) each. Raises ConfigError for other shapes."""
    given = state if isinstance(state, Mapping) else {}
    parts = {name: p.detach() if hasattr(p, "detach") else np.asarray(p) for name, p in given.items()}
    rows = {name: part[None] if part.ndim == 1 else part for name, part in parts.items()}
    named = rows and all(isinstance(name, str) for name in rows)
    if not named or any(part.ndim != 2 or len(part) != 1 or not part.shape[1] for part in rows.values()):
        raise ConfigError(
            "state names the parts of the state before a text, (units,) or (1, units) each, such as "
            "{{'h': torch.zeros(256)}}; received {state}",
            state=", ".join(_shapes(parts))
            or (received(state) if given is not state else Phrase("no parts")),
        )
    return rows


def _try(
    steps: Sequence[Step], initial: Mapping[str, Any], index: int
) -> list[tuple[Any, Mapping[str, Any]]]:
    """The outputs and new parts of each step, for one symbol read from the initial state.

    Raises ConfigError unless each part of the state comes from exactly one step, in its initial shape.
    Further parts are rows, too.
    """
    x: Any = like_of(next(iter(initial.values())), np.array([index]))
    state, found, parts = dict(initial), [], []
    for step in steps:
        with torch.no_grad():
            given: Any = step(x, dict(state))
        if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[1], Mapping):
            parts = [received(given)]
            break
        x, new = given
        parts += _shapes(new)
        state |= new
        found.append((x, new))
    names = [name for _, new in found for name in new]
    rows = all(np.ndim(part) == 2 and len(part) == 1 for _, new in found for part in new.values())
    if not {*parts} >= {*_shapes(initial)} or len({*names}) < len(names) or not rows:
        raise ConfigError(
            "a step gets (ids, state) and returns (outputs, state): a row of outputs for each text, and of "
            "the parts {parts} those of its layer; received {received}",
            parts=", ".join(_shapes(initial)),
            received=", ".join(parts) or Phrase("no parts"),
        )
    return found


def _shapes(parts: Mapping[str, Any]) -> list[str]:
    return [f"{name} {tuple(np.shape(part))}" for name, part in parts.items()]


def _same(trials: Sequence[tuple[Any, Mapping[str, Any]]]) -> str | None:
    """The name of the part that equals a step's outputs in every trial; None without one."""
    for name in trials[0][1]:
        if all(np.array_equal(as_array(x), as_array(new[name])) for x, new in trials):
            return name
    return None


def _check_rows(weights: StepWeights, last: int) -> None:
    """Raise ConfigError unless texts are read alike a second time, and side by side as alone.

    The two texts have each other's symbols in reverse, so that a mixed-up row shows.
    """
    ids = np.array([[1, last], [last, 1]])
    alone, again = (np.concatenate([_rows(weights, ids[:, [text]]) for text in range(2)]) for _ in range(2))
    if np.isnan(alone).any():
        raise ConfigError("the network gives NaN: its weights are damaged, or its training diverged")
    if not np.array_equal(alone, again):
        raise ConfigError(
            "the network gave something else the second time that it read the same: dropout may be on; call "
            "its eval() first"
        )
    try:
        np.testing.assert_allclose(_rows(weights, ids), alone, rtol=CLOSE, atol=CLOSE)
    except Exception as error:  # a difference, or any error of functions that were written for one text
        raise ConfigError(
            "two texts side by side are read otherwise than each alone: step and readout get a row for each "
            "of B texts, ids (B,) and parts (B, units), and no row may change another"
        ) from error


def _rows(weights: StepWeights, ids: Ids) -> Floats:
    """All states and the last prediction of B texts (n, B), a row for each text."""
    hidden, _ = weights.states(len(ids) + 1, ids.shape[1])
    weights.run(ids, hidden, None)
    states = np.moveaxis(hidden, 2, 0).reshape(ids.shape[1], -1)
    return np.concatenate([states, weights.log_probs(hidden[-1, -1])], axis=1)

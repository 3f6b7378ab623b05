"""Adapters: a network that was trained elsewhere becomes a model of rnnviz.

`adapt` makes a CharModel of torch's nn.RNN, nn.GRU or nn.LSTM with an output layer. `adapt_step` makes a
CustomModel of any other network, given as a Python function.

Weights are copied; predictions after one character or more are the same, to rounding. An LSTM's projections
(`proj_size`) are multiplied into the weights that read them: the hidden state is the one before a projection.
Two symbols are new:

The start symbol is read before a text. `start` names the character or entry of the network's vocabulary to
use. Without `start`, the start symbol of a one-layer network leaves the state at zero: softmax(b_q) predicts
the first character. In several layers no input does that, so `start` is required there. A function isn't
called for the start symbol.

<unk> stands for characters outside the vocabulary; `unknown` is the network's own index. Without `unknown`,
torch's layers read <unk> as the mean of all embeddings (or one-hot vectors), and a function doesn't read it.
The logit of <unk> is then `unknown_gap` nats below the mean: by default a probability below exp(-20) / V.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.checks import checked, received
from rnnviz.errors import ConfigError, Phrase
from rnnviz.lab.engines.adapter_weights import Symbols, build, check_recurrence, predicted_rows, unwrapped
from rnnviz.lab.engines.custom import CustomModel, Readout, Step, StepWeights, as_array, like_of
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.networks.numpy_engine import Layer
from rnnviz.text.vocabulary import END

Check = Callable[[list[int]], Any]
"""Returns the network's logits or log-probabilities (T, n), after each of T of the network's indices, or
(logits, state). A function gets a list of indices; an nn.Module gets a tensor, of one of FORMS."""

FORMS = ((-1,), (1, -1), (-1, 1))
"""The shapes of a Module's input: (T,), (1, T) or (T, 1)."""


@checked
def adapt(
    recurrence: nn.Module,
    output: nn.Linear | None = None,
    characters: Sequence[str] = (),
    *,
    embedding: nn.Embedding | None = None,
    start: str | int | None = None,
    unknown: int | None = None,
    end: str | int | None = None,
    unknown_gap: float = 20.0,
    name: str = "adapted",
    check: Check | None = None,
) -> CharModel:
    """A CharModel with the weights of a network of torch's own layers; `adapt_step` takes any other cell.

    recurrence   nn.RNN, nn.GRU or nn.LSTM of any number of layers, with or without biases, batch_first or
                 not. Dropout between its layers does nothing here, as in eval()
    output       nn.Linear from H to n, the length of characters
    characters   the network's vocabulary by index: single characters, each once; any name at the indices
                 `start` and `unknown`; entries that no text has, such as "<pad>" and "</s>", which are never
                 predicted: the probabilities of the others sum to 1
    embedding    nn.Embedding with n rows, or one more at its padding_idx; None: one-hot vectors of width n
    start        the character or index read before a text, needed for several layers; None: one layer
                 begins with a zero state. An entry that is no character is never predicted
    unknown      the index of the network's own symbol for unknown characters
    end          the character or index predicted where a text ends, maybe the one that `start` names; None:
                 its texts don't end
    unknown_gap  without `unknown`: nats from the mean logit down to that of unknown characters
    check        the network itself: an nn.Module, called in eval() with a tensor of its indices, (T,),
                 (1, T) or (T, 1), or a function of a list of them. Its logits or log-probabilities (T, n)
                 must agree with the adapted model to 1e-4 nats on a few texts. It may return (logits, state)

    Modules of DataParallel or torch.compile stand for the module inside. Raises ConfigError for other or
    bidirectional layers, an embedding with max_norm, shapes that don't fit, weights that are NaN or infinite,
    and where `check` differs.

    >>> import rnnviz
    >>> import torch
    >>> rnn, output = torch.nn.GRU(3, 8), torch.nn.Linear(8, 3)
    >>> rnnviz.trace(rnnviz.adapt(rnn, output, "abc"), "cab").hidden.shape
    (3, 1, 8)
    """
    _check_gap(unknown_gap)
    layer, output, embedding = map(unwrapped, (recurrence, output, embedding))
    check_recurrence(layer)
    symbols = Symbols(characters, start, unknown, end)
    model = build(layer, output, embedding, symbols, unknown_gap, name)
    if check is not None:
        compare_predictions(model, symbols, check)
    return model


@checked
def adapt_step(
    step: Step | Sequence[Step],
    *,
    state: Mapping[str, Any],
    characters: Sequence[str],
    readout: Readout | None = None,
    start: str | int | None = None,
    unknown: int | None = None,
    end: str | int | None = None,
    unknown_gap: float = 20.0,
    name: str = "adapted",
    check: Check | None = None,
) -> CustomModel:
    """A CustomModel that calls `step`, a function for any cell. It has no gradients and can't be saved.

    step         a function (ids, state) -> (outputs, state). ids (B,) are the network's own indices, an array
                 of numpy, or a tensor where `state` has tensors. state is {name: (B, width)}, a row for each
                 of B texts; outputs are one of the new parts. Or a list of functions, one a layer: each
                 reads the outputs of the layer below, and returns the parts of its layer. Further parts
                 that it returns, such as gates, are shown as layers too, after those of `state`; no step
                 needs to read them
    state        {name: (width,)}, each part before a text: arrays, or tensors, which the functions then get.
                 The names are `parts` of the model, the layers of `Trace.hidden`: the part that is the
                 outputs comes last
    readout      a function outputs -> logits (B, n); None for a network that predicts no characters, such as
                 a tagger: all characters then have the same probability

    `characters`, `start`, `unknown`, `end`, `unknown_gap`, `name` and `check` as in `rnnviz.adapt`. Put all
    that comes after the state (a norm, a layer more) into `readout`: a changed state then reaches the
    prediction. Raises ConfigError for a function that returns anything else, or NaN, and where `check`
    differs.

    >>> import rnnviz
    >>> import torch
    >>> cell, output = torch.nn.GRUCell(3, 8), torch.nn.Linear(8, 3)
    >>> def step(ids, state):
    ...     h = cell(torch.nn.functional.one_hot(ids, 3).float(), state["h"])
    ...     return h, {"h": h}
    >>> own = rnnviz.adapt_step(step, readout=output, state={"h": torch.zeros(8)}, characters="abc")
    >>> rnnviz.trace(own, "cab").hidden.shape, own.parts
    ((3, 1, 8), ('h',))
    """
    _check_gap(unknown_gap)
    symbols = Symbols(characters, start, unknown, end)
    model = build_custom(step, unwrapped(readout), state, symbols, unknown_gap, name)
    if check is not None:
        compare_predictions(model, symbols, check)
    return model


def _check_gap(unknown_gap: float) -> None:
    if not (math.isfinite(unknown_gap) and unknown_gap > 0):
        raise ConfigError(
            "unknown_gap is a number of nats above 0; received {unknown_gap}", unknown_gap=unknown_gap
        )


CHECK_TEXTS, CHECK_CHARS = 4, 40
MAX_CHECK_NATS = 1e-4  # nats


def compare_predictions(model: CharModel | CustomModel, symbols: Symbols, check: Check) -> None:
    """Read a few random texts with the model and with `check`; a Module takes one of FORMS.

    Raises ConfigError at the first log P that differs by more than MAX_CHECK_NATS nats.
    """
    check = unwrapped(check)
    if not isinstance(check, torch.nn.Module):
        _compare(model, symbols, check)
        return
    # Networks want (T,), (1, T) or (T, 1), and no module says which. The first form that runs and agrees is
    # right; one that runs and differs is reported only if no other agrees, as batch and time may be mixed up.
    errors = []
    for form in FORMS:
        try:
            _compare(model, symbols, partial(_evaluated, check, form))
        except Exception as error:  # a network fails in its own way where it takes another form
            errors.append(error)
        else:
            return
    refused = [error for error in errors if isinstance(error, ConfigError)]
    raise (
        refused[0]
        if refused
        else ConfigError(
            "check can't read a tensor of indices, (T,), (1, T) or (T, 1): {error}; give a function that "
            "takes a list of indices and returns the logits",
            error=errors[0],
        )
    ) from errors[0]


def _compare(model: CharModel | CustomModel, symbols: Symbols, check: Check) -> None:
    generator = np.random.default_rng(0)
    begin = [] if symbols.start is None else [symbols.start]
    unknown = [] if symbols.unknown is None else [symbols.unknown]
    for _ in range(CHECK_TEXTS):
        # Not the end: after it rnnviz begins anew, and check goes on.
        inside = [n for n, index in enumerate(symbols.rows) if symbols.entries[index] != END]
        picked = np.array(inside)[generator.integers(0, len(inside), CHECK_CHARS)]
        ids = begin + [symbols.rows[n] for n in picked]
        expected = _ask(check, ids, len(symbols.entries))[:, [*unknown, *symbols.rows]]
        # One character more, whichever: each row of predictions stands before a character.
        predictions = model.scorer().advance_predictions(np.append(picked + 1, 1))
        # Only symbols that both have: rnnviz's <unk> is not compared where the network has none.
        both = torch.from_numpy(np.stack([predictions[-len(ids) :, 1 - len(unknown) :], expected]))
        # log P of <unk>, if the network has one, and of the characters, given that one of these comes.
        ours, theirs = torch.log_softmax(both, dim=2).numpy()
        differ = ~np.isclose(ours, theirs, rtol=0, atol=MAX_CHECK_NATS, equal_nan=True)
        if differ.any():
            row = int(differ.any(axis=1).argmax())
            by = np.abs(np.exp(ours[row]) - np.exp(theirs[row]))
            column = int(np.where(differ[row], by, -1).argmax())
            raise ConfigError(
                "the adapted network differs from check: after {read!r} its log P of {next!r} is {ours:.4f} "
                "nats, and check's {theirs:.4f}",
                read=model.vocabulary.decode(picked[: row + 1 - len(begin)] + 1),
                next=model.vocabulary.symbol(column + 1 - len(unknown)),
                ours=float(ours[row, column]),
                theirs=float(theirs[row, column]),
            )


def _ask(check: Check, ids: list[int], n: int) -> Doubles:
    """The network's logits after each of its indices, (T, n)."""
    with torch.no_grad():
        output = check(list(ids))
    # Logits may stand beside a state.
    values = as_array(getattr(output, "logits", output[0] if isinstance(output, tuple) else output))
    if values.dtype.kind not in "fiu" or values.size != len(ids) * n or values.shape[-1] != n:
        raise ConfigError(
            "check gives a row of {n} logits after each of its {steps} symbols; received shape {shape}",
            n=n,
            steps=len(ids),
            shape=values.shape,
        )
    return values.reshape(len(ids), n).astype(np.float64)


def _evaluated(check: torch.nn.Module, form: tuple[int, ...], ids: list[int]) -> Any:
    """What the Module returns in eval()."""
    device = next((p.device for p in check.parameters()), None)
    modes = [(module, module.training) for module in check.modules()]
    check.eval()  # with dropout on, the logits would be another network's
    try:
        return check(torch.tensor(ids, device=device).reshape(form))
    finally:
        for module, training in modes:
            module.training = training


MAX_ROW_DIFFERENCE = 1e-4  # the largest difference between a text read alone and beside another one


def build_custom(
    step: Step | Sequence[Step],
    readout: Readout | None,
    state: Mapping[str, Any] | None,
    symbols: Symbols,
    unknown_gap: float,
    name: str,
) -> CustomModel:
    """The model of these functions, which are tried on two characters: mistakes are told at once.

    See `adapt_step` for arguments and errors.
    """
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
    # Two characters, as a part that equals the outputs by chance for one will differ for the other.
    trials = [_try(steps, initial, index) for index in (symbols.rows[0], symbols.rows[-1])]
    same = tuple(_same(pair) for pair in zip(*trials, strict=True))
    last = same[-1]
    if last is None:
        raise ConfigError(
            "the step's outputs are not part of its state, so there are none before a text: return the part "
            "that the readout reads, or the outputs as one more part"
        )
    # What the steps return besides, such as gates, is shown as a part of the state is: it is zero at first.
    initial |= {name: 0 * part for _, new in trials[0] for name, part in new.items() if name not in initial}
    initial[last] = initial.pop(last)
    first = np.zeros((len(initial), max(part.shape[1] for part in initial.values())), np.float32)
    for row, part in zip(first, initial.values(), strict=True):
        row[: part.shape[1]] = as_array(part)[0]
    unread = [-1 if index is None else index for index in (symbols.unknown, symbols.start)]
    inputs = np.array([unread[0], *symbols.rows, unread[1]], np.int64)
    if symbols.vocabulary.end is not None:
        inputs[symbols.vocabulary.end] = inputs[-1]
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
        inputs=inputs,
        end=symbols.vocabulary.end,
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
    entries = state if isinstance(state, Mapping) else {}
    parts = {name: p.detach() if hasattr(p, "detach") else np.asarray(p) for name, p in entries.items()}
    rows = {name: part[None] if part.ndim == 1 else part for name, part in parts.items()}
    named = rows and all(isinstance(name, str) for name in rows)
    if not named or any(part.ndim != 2 or len(part) != 1 or not part.shape[1] for part in rows.values()):
        raise ConfigError(
            "state names the parts of the state before a text, (units,) or (1, units) each, such as "
            "{{'h': torch.zeros(256)}}; received {state}",
            state=", ".join(_shapes(parts))
            or (received(state) if entries is not state else Phrase("no parts")),
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
    state, results, parts = dict(initial), [], []
    for step in steps:
        with torch.no_grad():
            result: Any = step(x, dict(state))
        if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[1], Mapping):
            parts = [received(result)]
            break
        x, new = result
        parts += _shapes(new)
        state |= new
        results.append((x, new))
    names = [name for _, new in results for name in new]
    rows = all(np.ndim(part) == 2 and len(part) == 1 for _, new in results for part in new.values())
    if not {*parts} >= {*_shapes(initial)} or len({*names}) < len(names) or not rows:
        raise ConfigError(
            "a step gets (ids, state) and returns (outputs, state): a row of outputs for each text, and of "
            "the parts {parts} those of its layer; received {received}",
            parts=", ".join(_shapes(initial)),
            received=", ".join(parts) or Phrase("no parts"),
        )
    return results


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
            "the network gave a different answer when it read the same again: dropout may be on; call its "
            "eval() first"
        )
    try:
        np.testing.assert_allclose(
            _rows(weights, ids), alone, rtol=MAX_ROW_DIFFERENCE, atol=MAX_ROW_DIFFERENCE
        )
    except Exception as error:  # a difference, or any error of functions that were written for one text
        raise ConfigError(
            "two texts side by side are read differently from each alone: step and readout get a row for "
            "each of B texts, ids (B,) and parts (B, units), and no row may change another"
        ) from error


def _rows(weights: StepWeights, ids: Ids) -> Floats:
    """All states and the last prediction of B texts (n, B), a row for each text."""
    hidden, _ = weights.states(len(ids) + 1, ids.shape[1])
    weights.run(ids, hidden, None)
    states = np.moveaxis(hidden, 2, 0).reshape(ids.shape[1], -1)
    return np.concatenate([states, weights.log_probs(hidden[-1, -1])], axis=1)

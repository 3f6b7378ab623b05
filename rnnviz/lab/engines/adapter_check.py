"""The check that an adapted model predicts as the network itself does."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.lab.engines.adapter_weights import Symbols, unwrapped
from rnnviz.lab.engines.custom import CustomModel, as_array
from rnnviz.lab.engines.torch_model import CharModel

Check = Callable[[list[int]], Any]
"""Returns the network's logits or log-probabilities (T, n), after each of T of the network's indices, or
(logits, state). A function gets a list of indices; an nn.Module gets a tensor, of one of FORMS."""

FORMS = ((-1,), (1, -1), (-1, 1))
"""The shapes of a Module's input: (T,), (1, T) or (T, 1)."""

TEXTS, LENGTH = 4, 40
TOLERANCE = 1e-4  # nats


def compare(model: CharModel | CustomModel, symbols: Symbols, check: Check) -> None:
    """Read a few random texts with the model and with `check`; a Module takes one of FORMS.

    Raises ConfigError at the first log P that differs by more than TOLERANCE nats.
    """
    check = unwrapped(check)
    if not isinstance(check, torch.nn.Module):
        _compare(model, symbols, check)
        return
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
            "check reads no tensor of indices, (T,), (1, T) or (T, 1): {error}; give a function that takes a "
            "list of indices and returns the logits",
            error=errors[0],
        )
    ) from errors[0]


def _compare(model: CharModel | CustomModel, symbols: Symbols, check: Check) -> None:
    drawn = np.random.default_rng(0)
    begin = [] if symbols.start is None else [symbols.start]
    unknown = [] if symbols.unknown is None else [symbols.unknown]
    for _ in range(TEXTS):
        picked = drawn.integers(0, len(symbols.rows), LENGTH)
        ids = begin + [symbols.rows[n] for n in picked]
        given = _ask(check, ids, len(symbols.entries))[:, [*unknown, *symbols.rows]]
        # One character more, whichever: each row of predictions stands before a character.
        found = model.scorer().advance_predictions(np.append(picked + 1, 1))
        both = torch.from_numpy(np.stack([found[-len(ids) :, 1 - len(unknown) :], given]))
        # log P of <unk>, if the network has one, and of the characters, given that one of these comes.
        ours, theirs = torch.log_softmax(both, dim=2).numpy()
        differ = ~np.isclose(ours, theirs, rtol=0, atol=TOLERANCE, equal_nan=True)
        if differ.any():
            row = int(differ.any(axis=1).argmax())
            by = np.abs(np.exp(ours[row]) - np.exp(theirs[row]))
            column = int(np.where(differ[row], by, -1).argmax())
            raise ConfigError(
                "the adapted network is another one than check: after {read!r} its log P of {next!r} is "
                "{ours:.4f} nats, and check's {theirs:.4f}",
                read=model.vocabulary.decode(picked[: row + 1 - len(begin)] + 1),
                next=model.vocabulary.symbol(column + 1 - len(unknown)),
                ours=float(ours[row, column]),
                theirs=float(theirs[row, column]),
            )


def _ask(check: Check, ids: list[int], n: int) -> Doubles:
    """The network's logits after each of its indices, (T, n)."""
    with torch.no_grad():
        given = check(list(ids))
    # Logits may stand beside a state.
    values = as_array(getattr(given, "logits", given[0] if isinstance(given, tuple) else given))
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

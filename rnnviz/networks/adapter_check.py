"""Whether an adapted network predicts what the network itself does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from rnnviz.errors import ConfigError
from rnnviz.networks.adapter_weights import Symbols
from rnnviz.networks.numpy_model import Network, weights_of

Check = Callable[[list[int]], Any]
"""The network's own logits or log-probabilities (T, n), after each of T of its own indices. A function gets a
list of them; an nn.Module a tensor (T,), and may give its state too: (logits, state)."""

TEXTS, LENGTH = 4, 40
TOLERANCE = 1e-4
"""nats"""


def compare(model: Network, symbols: Symbols, check: Check) -> None:
    """Read a few random texts with both. Raises ConfigError where a log P differs by more than TOLERANCE, and
    says where that is so first.
    """
    drawn = np.random.default_rng(0)
    for _ in range(TEXTS):
        picked = drawn.integers(0, len(symbols.rows), LENGTH)
        begin = [] if symbols.start is None else [symbols.start]
        ids = begin + [symbols.rows[n] for n in picked]
        with torch.no_grad():
            given = _ask(check, ids)
        theirs = _log_probs(given, len(ids), symbols)
        ours = _ours(model, picked + 1, symbols)[-len(ids) :]
        differ = ~np.isclose(ours, theirs, rtol=0, atol=TOLERANCE, equal_nan=True)
        if differ.any():
            row = int(differ.any(axis=1).argmax())
            by = np.abs(np.exp(ours[row]) - np.exp(theirs[row]))
            column = int(np.where(differ[row], by, -1).argmax())
            raise ConfigError(
                "the adapted network is another one than check: after {read!r} its log P of {next!r} is "
                "{ours:.4f} nats, and check's {theirs:.4f}",
                read="".join(model.vocabulary.symbol(int(n) + 1) for n in picked[: row + 1 - len(begin)]),
                next=model.vocabulary.symbol(column + (symbols.unknown is None)),
                ours=float(ours[row, column]),
                theirs=float(theirs[row, column]),
            )


def _ask(check: Check, ids: list[int]) -> Any:
    """What the network gives after each of its indices; a Module's own, as it stands in eval()."""
    if not isinstance(check, torch.nn.Module):
        return check(list(ids))
    device = next((p.device for p in check.parameters()), None)
    modes = [(module, module.training) for module in check.modules()]
    check.eval()  # its dropout would be another network's
    try:
        given = check(torch.tensor(ids, device=device))
    finally:
        for module, training in modes:
            module.training = training
    return given[0] if isinstance(given, tuple) else given  # beside its state


def _ours(model: Network, ids: npt.NDArray[np.int64], symbols: Symbols) -> npt.NDArray[np.float64]:
    """log P (T + 1, V') before the first of our `ids` and after each; V' as in `_log_probs`."""
    weights = weights_of(model)
    inputs = np.concatenate(([model.vocabulary.start], ids))
    hidden, cell = weights.states(len(inputs) + 1)
    weights.run(inputs, hidden, cell)
    return _normalised(weights.log_probs(hidden[1:, -1])[:, 1 if symbols.unknown is None else 0 :])


def _log_probs(given: Any, steps: int, symbols: Symbols) -> npt.NDArray[np.float64]:
    """The network's own, of <unk> if it has one and our characters, given that one of these comes."""
    values = given.detach().cpu().numpy() if hasattr(given, "detach") else np.asarray(given)
    n = len(symbols.entries)
    if values.dtype.kind not in "fiu" or values.size != steps * n or values.shape[-1] != n:
        raise ConfigError(
            "check gives a row of {n} logits after each of its {steps} symbols; received shape {shape}",
            n=n,
            steps=steps,
            shape=values.shape,
        )
    own = [] if symbols.unknown is None else [symbols.unknown]
    return _normalised(values.reshape(steps, n)[:, [*own, *symbols.rows]])


def _normalised(logits: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    logits = logits.astype(np.float64)
    logits -= logits.max(axis=1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))

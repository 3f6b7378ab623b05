"""How much worse a network predicts without one of its units: for every unit, one after another.

Many copies of the network read the same text side by side, each without another
unit. That is a batch: the product with W_hh costs little more for sixty-four than for one.

    loss = mean over the text of  -log P(x_t | x_<t) without the unit  -  the same with it (nats a character)

Silencing a unit takes the network to states that no text leads to, so a loss is
an upper limit of what the unit is for. Holding it at its own mean is the milder question.

Shape letters: n characters, U units, H units of a layer. This module knows nothing of screens.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.networks.numpy_model import NumpyModel, prepare
from rnnviz.networks.stepping import LOGITS, Ids, Weights
from rnnviz.reading import scoring
from rnnviz.text.normalising import normalise
from rnnviz.units.lanes import Change, Lanes
from rnnviz.units.unit import check_layer, check_units

if TYPE_CHECKING:
    from rnnviz.networks.torch_model import CharModel

Doubles = npt.NDArray[np.float64]

INTERVAL = 0.1
"""Seconds between two progress reports."""

STRETCHES = 20
"""Parts of the text whose losses are compared to say how certain their mean is."""


@dataclass(frozen=True)
class AblationProgress:
    """How far it is: characters read, by the whole network and without each unit, and how many in the end."""

    done: int
    total: int

    @property
    def fraction(self) -> float:
        """0 to 1."""
        return self.done / self.total


@dataclass(frozen=True, eq=False)
class Ablation:
    """What each unit is worth on a text of `characters` characters.

    units       (U,) of `layer`, as they were asked for
    loss        (U,) nats a character that the text costs more without the unit; 0: nothing depends on it
    error       (U,) standard error of `loss`, from the parts of the text; nan for a text that is too short
    baseline    the perplexity of the whole network
    perplexity  (U,) without each unit
    """

    layer: int
    units: npt.NDArray[np.int64]
    loss: Doubles
    error: Doubles
    baseline: float
    perplexity: Doubles
    characters: int

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """The units, that which is missed most first."""
        return self.units[np.argsort(-self.loss, kind="stable")]


def ablate(
    model: CharModel | NumpyModel,
    text: str,
    *,
    layer: int = 0,
    units: Sequence[int] | None = None,
    to: Literal["zero", "mean"] | float = "zero",
    batch: int = 64,
) -> Generator[AblationProgress, None, Ablation]:
    """Read `text` once without each of `units` (all of `layer` where None); returns the Ablation.

    `to` says what the missing unit's hidden state is throughout, from the start symbol on:
    0, its own mean over the text, or a number. `batch` units are done at a time.
    Yields about ten times a second; close it to stop. 2,000 characters without each of
    256 units of a GRU take some seconds.

    Raises ConfigError for a layer or units that the network doesn't have, EmptyTextError for no text.
    """
    weights = prepare(model)
    check_layer(layer, len(weights.layers))
    H = weights.layers[layer].units
    which = np.arange(H) if units is None else check_units(units, H)
    if batch < 1:
        raise ConfigError("a batch has at least 1 unit; received {batch}", batch=batch)
    if isinstance(to, str) and to not in ("zero", "mean"):
        raise ConfigError("a missing unit is 'zero', its 'mean', or a number; received {to!r}", to=to)
    text = normalise(text, model.normaliser)
    if not text:
        raise EmptyTextError("there is no text to read, and nothing has no perplexity; choose another text")
    ids = model.vocabulary.encode(text)
    inputs = np.concatenate(([model.vocabulary.start], ids))

    last, total = time.perf_counter(), (len(which) + 1) * len(ids)
    sums, costs = np.zeros(H), []
    for start, top, own in _read(Lanes(weights, 1), inputs[:-1], layer):
        costs.append(_costs(weights, top, ids[start : start + len(top)])[:, 0])
        sums += own.sum(axis=0, dtype=np.float64)
        if time.perf_counter() - last >= INTERVAL:
            last = time.perf_counter()
            yield AblationProgress(start + len(top), total)
    base = np.concatenate(costs)
    values = sums / len(ids) if to == "mean" else np.full(H, 0.0 if to == "zero" else float(to))

    stretch = np.arange(len(ids)) * STRETCHES // len(ids)
    counts = np.bincount(stretch, minlength=STRETCHES)
    more = np.zeros((len(which), STRETCHES))
    for begin in range(0, len(which), batch):
        now = which[begin : begin + batch]
        change = Change(layer, (np.arange(len(now)), now), 0.0, values[now])
        lanes = Lanes(weights, len(now), [change])
        for start, top, _ in _read(lanes, inputs[:-1], layer):
            here = slice(start, start + len(top))
            extra = _costs(weights, top, ids[here]) - base[here, None]
            np.add.at(more[begin : begin + batch].T, stretch[here], extra)
            if time.perf_counter() - last >= INTERVAL:
                last = time.perf_counter()
                yield AblationProgress((begin + 1) * len(ids) + (start + len(top)) * len(now), total)
    yield AblationProgress(total, total)
    loss = more.sum(axis=1) / len(ids)
    if counts.min() > 0:
        error = (more / counts).std(axis=1, ddof=1) / np.sqrt(STRETCHES)
    else:
        error = np.full(len(which), np.nan)
    nats = scoring.costs(-base, ids, model.vocabulary).sum()
    return Ablation(
        layer=layer,
        units=which,
        loss=loss,
        error=error,
        baseline=scoring.of_sum(float(nats), len(ids)),
        perplexity=np.array([scoring.of_sum(float(nats + m), len(ids)) for m in more.sum(axis=1)]),
        characters=len(ids),
    )


def _read(
    lanes: Lanes, inputs: Ids, layer: int
) -> Generator[tuple[int, npt.NDArray[np.float32], npt.NDArray[np.float32]], None, None]:
    """Stretches of time steps: the first, the top layer's H (n, B, H), and H (n, H) of `layer` in lane 0."""
    V = len(lanes.weights.bias)
    step = int(np.clip(LOGITS // (lanes.lanes * V), 1, 64))
    for begin in range(0, len(inputs), step):
        symbols = inputs[begin : begin + step]
        top = np.empty((len(symbols), lanes.lanes, lanes.hidden.shape[2]), np.float32)
        own = np.empty((len(symbols), lanes.hidden.shape[2]), np.float32)
        for t in range(len(symbols)):
            top[t] = lanes.step(symbols[t : t + 1])
            own[t] = lanes.hidden[layer, 0]
        yield begin, top, own


def _costs(weights: Weights, top: npt.NDArray[np.float32], ids: Ids) -> Doubles:
    """-log P (n, B) in nats of the symbols `ids` (n,), given the states (n, B, H) before them."""
    n, lanes, H = top.shape
    logits, log_sum = weights.predict(top.reshape(n * lanes, H))
    came = logits.reshape(n, lanes, -1)[np.arange(n), :, ids]
    return np.asarray(log_sum.reshape(n, lanes) - came)

"""How much worse a network predicts without one of its units, for every unit.

Copies of the network, each without another unit, read the text as a batch: sixty-four cost little more than
one.

    loss = mean over the text of  -log P(x_t | x_<t) without the unit  -  the same with it (nats a character)

Silencing a unit leads to states that no text leads to, so a loss is an upper limit of what the unit is for.
Holding it at its own mean is the milder question.

Shape letters: n characters, U units, H units of a layer, B texts side by side.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.networks.batch import Batch, Held
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.progress import Clock
from rnnviz.networks.stepping import LOGITS, Floats, Ids, Weights
from rnnviz.pictured import Brief
from rnnviz.reading import scoring
from rnnviz.text.normalising import normalise
from rnnviz.units.unit import Unit, check_layer, check_units, may_be_one, refuse_pair, within_layer

Doubles = npt.NDArray[np.float64]

STRETCHES = 20
"""Parts of the text whose losses give their mean's standard error."""


@dataclass(frozen=True)
class AblationProgress:
    """Characters read so far, by the whole network and without each unit, and in the end."""

    done: int
    total: int

    @property
    def fraction(self) -> float:
        """0 to 1."""
        return self.done / self.total


@dataclass(frozen=True, eq=False, repr=False)
class Ablation(Brief):
    """What each unit is worth on a text of `characters` characters.

    units       (U,) of `layer`, in the order asked for
    loss        (U,) nats a character lost without the unit; 0: nothing depends on it
    error       (U,) standard error of `loss`, from parts of the text; nan for a text that is too short
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
        """The units, largest loss first."""
        return self.units[np.argsort(-self.loss, kind="stable")]


def ablate(
    model: Network,
    text: str,
    *,
    layer: int | None = None,
    units: Sequence[int] | Sequence[Unit] | None = None,
    to: Literal["zero", "mean"] | float = "zero",
    batch: int = 64,
) -> Generator[AblationProgress, None, Ablation]:
    """Read `text` once without each of `units` (all of `layer` where None); returns the Ablation.

    Units carry their layer; else `layer` is 0 unless it is given.
    The missing unit's hidden state is `to`, from the start symbol on: 0, its mean over the text, or a number.
    Yields about ten times a second; 2,000 characters without each of 256 units of a GRU take some seconds.
    Raises ConfigError for a layer or units that don't exist, EmptyTextError for no text.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> units.run(units.ablate(rnnviz.load("timemachine-gru"), "The machine", units=[3, 17])).loss.shape
    (2,)
    """
    weights = weights_of(model)
    layer, which = _chosen(weights, layer, units)
    H = weights.layers[layer].units
    if batch < 1:
        raise ConfigError("a batch has at least 1 unit; received {batch}", batch=batch)
    if isinstance(to, str) and to not in ("zero", "mean"):
        raise ConfigError("a missing unit is 'zero', its 'mean', or a number; received {to!r}", to=to)
    text = normalise(text, model.normaliser)
    if not text:
        raise EmptyTextError("a text of no characters has no perplexity; choose another text")
    ids = model.vocabulary.encode(text)
    inputs = np.concatenate(([model.vocabulary.start], ids[:-1]))

    clock, total = Clock(), (len(which) + 1) * len(ids)
    sums, parts = np.zeros(H), []
    for start, top, own in _read(Batch(weights, 1), inputs, layer):
        parts.append(_costs(weights, top, ids[start : start + len(top)])[:, 0])
        sums += own.sum(axis=0, dtype=np.float64)
        if clock.due():
            yield AblationProgress(start + len(top), total)
    whole = np.concatenate(parts)  # (n,) nats of the whole network
    values = sums / len(ids) if to == "mean" else np.full(H, 0.0 if to == "zero" else float(to))

    stretch = np.arange(len(ids)) * STRETCHES // len(ids)
    more = np.zeros((len(which), STRETCHES))
    for begin in range(0, len(which), batch):
        now = which[begin : begin + batch]
        without = Batch(weights, len(now), Held(layer, now, values[now].astype(np.float32)))
        for start, top, _ in _read(without, inputs, layer):
            here = slice(start, start + len(top))
            extra = _costs(weights, top, ids[here]) - whole[here, None]
            np.add.at(more[begin : begin + batch].T, stretch[here], extra)
            if clock.due():
                yield AblationProgress((begin + 1) * len(ids) + (start + len(top)) * len(now), total)
    yield AblationProgress(total, total)
    return _ablation(layer, which, more, np.bincount(stretch, minlength=STRETCHES), whole, ids, model)


def _chosen(
    weights: Weights, layer: int | None, units: Sequence[int] | Sequence[Unit] | None
) -> tuple[int, npt.NDArray[np.int64]]:
    """The layer, and which of its units."""
    numbers, said = (None, layer) if units is None else within_layer(units, layer)
    if said is None and numbers is not None and may_be_one(numbers):
        refuse_pair(numbers, len(weights.layers))
    which = 0 if said is None else said
    check_layer(which, len(weights.layers))
    H = weights.layers[which].units
    return which, np.arange(H) if numbers is None else check_units(numbers, H)


def _ablation(
    layer: int, units: Ids, more: Doubles, counts: Ids, whole: Doubles, ids: Ids, model: Network
) -> Ablation:
    """The result of `more` (U, STRETCHES) nats without each unit; `counts` are the stretches' characters."""
    error = np.full(len(units), np.nan)
    if counts.min() > 0:
        error = (more / counts).std(axis=1, ddof=1) / np.sqrt(STRETCHES)
    nats = scoring.costs(-whole, ids, model.vocabulary).sum()
    return Ablation(
        layer=layer,
        units=units,
        loss=more.sum(axis=1) / len(ids),
        error=error,
        baseline=scoring.of_sum(float(nats), len(ids)),
        perplexity=np.array([scoring.of_sum(float(nats + m), len(ids)) for m in more.sum(axis=1)]),
        characters=len(ids),
    )


def _read(batch: Batch, inputs: Ids, layer: int) -> Generator[tuple[int, Floats, Floats], None, None]:
    """Stretches of time steps: the first, the top layer's H (n, B, H), and H (n, H) of `layer` in text 0."""
    _, B, H = batch.hidden.shape
    step = int(np.clip(LOGITS // (B * len(batch.weights.bias)), 1, 64))
    for begin in range(0, len(inputs), step):
        symbols = inputs[begin : begin + step]
        top, own = np.empty((len(symbols), B, H), np.float32), np.empty((len(symbols), H), np.float32)
        for t in range(len(symbols)):
            top[t] = batch.step(symbols[t : t + 1])
            own[t] = batch.hidden[layer, 0]
        yield begin, top, own


def _costs(weights: Weights, top: Floats, ids: Ids) -> Doubles:
    """-log P (n, B) in nats of the symbols `ids` (n,), given the states (n, B, H) before them."""
    n, B, H = top.shape
    logits, log_sum = weights.predict(top.reshape(n * B, H))
    came = logits.reshape(n, B, -1)[np.arange(n), :, ids]
    return np.asarray(log_sum.reshape(n, B) - came)

"""A scan of every unit over a whole text: extremes, values, and what moves each unit.

The text is cut into windows as long as a context; the extreme of each window is a candidate.

Shape letters: T characters, U units, V symbols, K contexts, W characters of one context.
"""

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import BinaryIO

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids, Integers
from rnnviz.checks import checked, text_or_file
from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.findings import Json, Reported
from rnnviz.lab.analysis.activations import Unit, check_units, unit_at_column, within_layer
from rnnviz.lab.analysis.directions import Direction
from rnnviz.networks.config import check_layer, check_quantity
from rnnviz.networks.model_card import WeightedSum
from rnnviz.networks.numpy_engine import NetworkReader, Weights
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.progress import Progress, Reporter
from rnnviz.reprs import Pictured, ReprMixin
from rnnviz.text.decoding import Source, SourceText, warn_of_guess
from rnnviz.text.vocabulary import Vocabulary

PIECE_CHARS = 2048
"""Characters read at a time."""

READING_SHARE = 0.9
"""The share of the work that reading takes."""

MAX_MOVES, MAX_PUSHES = 10, 5
"""Characters named for a unit: those that move it most, and those that it raises or lowers most."""

MAX_STATE = np.float32(1e18)
"""The largest value kept; larger values are clipped."""


@dataclass(frozen=True, eq=False, repr=False)
class Context(ReprMixin):
    """A unit's value at one character, `text[at]`, at `position` in the whole text. `values` (W,) float32 are
    the unit's values along `text`.
    """

    position: int
    value: float
    text: str
    at: int
    values: Floats


@dataclass(frozen=True)
class Move:
    """The mean change of a unit at `character`, and the mean of its amount, over `count` occurrences."""

    character: str
    amount: float
    change: float
    count: int


Pushes = Sequence[tuple[str, float]]
"""Next characters, with the nats added to their logits."""


@dataclass(frozen=True, eq=False, repr=False)
class UnitReport(ReprMixin, Pictured, Reported):
    """A unit's card: its extremes, the distribution of its values, the characters that move it, and those it
    predicts.

    top, bottom     contexts that don't overlap, the most extreme first
    counts          (bins,) values between two `edges` (bins + 1,)
    moves           the characters that move the unit most on average; rare ones are left out
    raises, lowers  the next characters that the unit favours and suppresses most at the value 1, with the
                    nats added to their logits, less the mean: see `pushes`. () except for the top layer's
                    hidden state, and where the readout is a function
    """

    REPORT = "rnnviz.lab.reports.scanning"

    unit: Unit
    top: tuple[Context, ...]
    bottom: tuple[Context, ...]
    counts: Integers
    edges: Doubles
    moves: tuple[Move, ...]
    mean: float
    variance: float
    lowest: float
    highest: float
    raises: Pushes = ()
    lowers: Pushes = ()

    def facts(self) -> Json:
        """The unit's figures, and its highest and lowest places."""
        places = {"highest_at": self.top, "lowest_at": self.bottom}
        return {
            "layer": self.unit.layer,
            "unit": self.unit.unit,
            "characters": int(self.counts.sum()),
            **{name: getattr(self, name) for name in ("mean", "variance", "lowest", "highest")},
            **{
                name: [
                    {"position": c.position, "value": c.value, "text": c.text, "at": c.at} for c in contexts
                ]
                for name, contexts in places.items()
            },
            "moves": [asdict(move) for move in self.moves],
            **{name: [list(push) for push in getattr(self, name)] for name in ("raises", "lowers")},
        }


class ScanReport:
    """A scan of a text of `characters` characters: a UnitReport for each of `units`, in their order; `mean`
    and `variance` (U,) are those of the units.
    """

    def __init__(self, characters: int, cards: list[UnitReport]) -> None:
        self.characters, self._found = characters, {card.unit: card for card in cards}
        self.units = list(self._found)
        self.mean = np.array([card.mean for card in cards])
        self.variance = np.array([card.variance for card in cards])

    def __getitem__(self, unit: Unit | tuple[int, int]) -> UnitReport:
        """The card of a unit. Raises ConfigError for a unit that wasn't scanned."""
        if unit not in self._found:
            raise ConfigError(
                "unit {unit} was not scanned; ask for (layer, unit), such as {other}",
                unit=unit,
                other=tuple(self.units[0]),
            )
        return self._found[Unit(*unit)]


@checked
def scan(
    model: Network,
    text: str | os.PathLike[str] | BinaryIO | None = None,
    *,
    path: Source | None = None,
    encoding: str | None = None,
    layer: int | None = None,
    units: Sequence[int] | Sequence[Unit] | None = None,
    quantity: str = "hidden",
    sums: Sequence[WeightedSum] = (),
    contexts: int = 10,
    before: int = 40,
    after: int = 20,
    bins: int = 40,
    progress: Progress | None = None,
) -> ScanReport:
    """Scan each unit over a text or a file: its highest and lowest places, and the characters that move it.

    text      a str is the text itself; a `pathlib.Path` or a seekable binary file is a file
    path      a file in place of `text`; its path may be a str
    encoding  of the file; None: detected
    layer     one layer, counted from 0; None: all layers
    units     their numbers in that layer; None: all
    quantity  "hidden", "cell" of an LSTM, or a gate's name
    sums      weighted sums to scan too, such as a card's (`Recorded.weighted`): they are numbered behind the
              units, from H on
    contexts  K, the places kept where a unit is highest, and as many where it is lowest, each with `before`
              characters, the character itself, and `after`
    bins      of the histogram of its values, a multiple of 4
    progress  called about ten times a second with the share done

    Returns a ScanReport, whose [layer, unit] is that unit's card, a UnitReport. A GRU with 256 units takes
    some ten seconds and 200 MB for 200,000 characters. Raises ConfigError for absent layers, units or
    quantities and numbers out of range, TextError and DecodingError for an unreadable file, EmptyTextError
    for no text.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> report = units.scan(rnnviz.load("timemachine-gru"), "The machine")
    >>> report.characters, len(report.units)
    (11, 256)
    >>> card = report[0, 17]
    >>> card.top[0].text[card.top[0].at], len(card.raises), len(card.panels())
    ('e', 5, 2)
    """
    text, path = text_or_file(text, path)
    weights = weights_of(model)
    check_quantity(quantity, weights.cell)
    layer, columns = _chosen(weights, layer, units)
    _check_sizes(contexts, before, after, bins)
    source = SourceText(path, text, encoding, None, model.normaliser, model.vocabulary.characters)
    warn_of_guess(source.name, source.encoding, source.certainty)
    text = "".join(source.pieces(PIECE_CHARS))
    if not text:
        raise EmptyTextError("{name} has no characters; choose another text", name=source.name)
    inputs = np.append(model.vocabulary.start, model.vocabulary.encode(text))
    H = weights.layers[0].units
    scanned = [unit_at_column(column, H, layer) for column in columns.tolist()]
    scanned += [Unit(weighted.layer, H + n) for n, weighted in enumerate(sums)]
    values = np.empty((len(inputs), len(scanned)), np.float32)  # (T + 1, U), after each input
    reader, report = NetworkReader(weights), Reporter(progress)
    for begin in range(0, len(inputs), PIECE_CHARS):
        rows = slice(begin, begin + PIECE_CHARS)
        table = reader.values(inputs[rows], quantity)
        of_units = (table.reshape(len(table), -1) if layer is None else table[:, layer])[:, columns]
        values[rows] = np.column_stack([of_units, *(s.along(table[:, s.layer]) for s in sums)])
        report(READING_SHARE * min(1.0, rows.stop / len(inputs)))
    # A relu network may explode; clipping keeps the statistics finite.
    np.clip(np.nan_to_num(values, copy=False), -MAX_STATE, MAX_STATE, out=values)
    cards = []
    for number, unit in enumerate(scanned):
        series = values[:, number].copy()
        extremes = (_extremes(series[1:], sign, text, contexts, (before, after)) for sign in (1, -1))
        card = _make_card(unit, series, inputs[1:], model.vocabulary, bins, *extremes)
        of_readout = quantity == "hidden" and unit.layer == len(weights.layers) - 1
        if of_readout and unit.unit < H and weights.readout.shape[1]:
            raises, lowers = pushes(model, unit, k=MAX_PUSHES)
            card = replace(card, raises=raises, lowers=lowers)
        cards.append(card)
        report(READING_SHARE + (1 - READING_SHARE) * len(cards) / len(scanned))
    report.end()
    return ScanReport(len(text), cards)


def _extremes(
    series: Floats, sign: int, text: str, count: int, around: tuple[int, int]
) -> tuple[Context, ...]:
    """At most `count` Contexts of a unit's values (T,) that don't overlap: window maxima, highest first,
    earliest first among equals; with `sign` -1 minima.
    """
    before, after = around
    W = before + 1 + after
    # A candidate in each window of a context's length is enough: two extremes nearer than that would share
    # text.
    padded = np.append(series * sign, np.full(-len(series) % W, -np.inf, np.float32)).reshape(-1, W)
    places = padded.argmax(axis=1) + np.arange(len(padded)) * W
    chosen: list[int] = []
    for place in places[np.argsort(-padded.max(axis=1), kind="stable")].tolist():
        if len(chosen) == count:
            break
        if all(abs(place - other) >= W for other in chosen):
            chosen.append(place)
    contexts = []
    for place in chosen:
        around_place = slice(max(0, place - before), place + after + 1)
        value = float(series[place])
        contexts.append(
            Context(place, value, text[around_place], place - around_place.start, series[around_place].copy())
        )
    return tuple(contexts)


def _make_card(
    unit: Unit,
    series: Floats,
    ids: Ids,
    vocabulary: Vocabulary,
    bins: int,
    top: tuple[Context, ...],
    bottom: tuple[Context, ...],
) -> UnitReport:
    """The UnitReport from a unit's values (T + 1,) before each of `ids` (T,) and after the last."""
    values, changes = series[1:], np.diff(series.astype(np.float64))
    # A power of two, at least 1: histograms of units of one network then have the same edges.
    limit = 2.0 ** max(0, math.ceil(math.log2(max(1.0, float(np.abs(values).max())))))
    counts, edges = np.histogram(values, bins, (-limit, limit))
    times = np.bincount(ids)
    often = np.flatnonzero(times >= max(3, len(ids) / 2000))  # at least three times, and once in 2,000
    change, amount = (
        np.bincount(ids, weights)[often] / times[often] for weights in (changes, np.abs(changes))
    )
    moves = [
        Move(vocabulary.symbol(int(often[k])), float(amount[k]), float(change[k]), int(times[often[k]]))
        for k in np.argsort(-amount, kind="stable")[:MAX_MOVES].tolist()
    ]
    mean, variance = float(values.mean(dtype=np.float64)), float(values.var(dtype=np.float64))
    lowest, highest = float(values.min()), float(values.max())
    return UnitReport(unit, top, bottom, counts, edges, tuple(moves), mean, variance, lowest, highest)


def _chosen(
    weights: Weights, layer: int | None, units: Sequence[int] | Sequence[Unit] | None
) -> tuple[int | None, Integers]:
    """The layer, None for all, and the scanned columns of `rnnviz.units.activations`."""
    layers, H = len(weights.layers), weights.layers[0].units
    numbers: Sequence[int] | None = None
    if units is not None:
        numbers, layer = within_layer(units, layer)
    if layer is not None:
        check_layer(layer, layers)
    if numbers is None:
        return layer, np.arange(H if layer is not None else layers * H)
    if layer is None:
        raise ConfigError("units are counted within a layer; say which one")
    return layer, check_units(numbers, H)


def _check_sizes(contexts: int, before: int, after: int, bins: int) -> None:
    """Raise ConfigError for numbers out of range."""
    if not (
        1 <= contexts <= 1000 and 0 <= before <= 1000 and 0 <= after <= 1000 and bins >= 4 and bins % 4 == 0
    ):
        raise ConfigError(
            "contexts are 1 to 1,000, of 0 to 1,000 characters before and after, and bins a multiple of 4; "
            "received {contexts}, {before}, {after} and {bins}",
            contexts=contexts,
            before=before,
            after=after,
            bins=bins,
        )


def pushes(
    model: Network, unit: int | Unit | Direction, value: float = 1.0, *, k: int = 8
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """The next symbols that `unit` of the top layer, or a Direction in it, favours and suppresses at `value`:
    k symbols each, the strongest first.

    The push is value · W_hq[unit, x], less its mean over x, in nats: the unit's term in log P(x) before
    normalisation, without effects through later steps. Raises ConfigError for an absent unit or k < 1.

    >>> import rnnviz
    >>> up, down = pushes(rnnviz.load("timemachine-gru"), 17, k=3)
    >>> len(up), down[0][1] < 0
    (3, True)
    """
    weights = weights_of(model)
    top = len(weights.layers) - 1
    if isinstance(unit, Direction):
        within_layer(Unit(unit.layer, 0), top)  # refuses another layer
        unit.check(weights.layers[-1].units)
    else:
        if isinstance(unit, Unit):
            (unit,), _ = within_layer(unit, top)
        check_units(unit, weights.layers[-1].units)
    if not weights.readout.shape[1]:
        raise ConfigError(
            "what a unit favours is its column of the output layer's weights, but the readout of {name!r} is "
            "a function; give an nn.Linear as readout",
            name=model.name,
        )
    if k < 1:
        raise ConfigError("k counts symbols and is at least 1; received {k}", k=k)
    readout = weights.readout
    column = readout @ unit.vector if isinstance(unit, Direction) else readout[:, unit]
    nats = column.astype(np.float64) * value
    # The softmax ignores what is added to all logits alike, so only the difference from the mean says
    # anything.
    nats -= nats.mean()
    order = np.argsort(-nats, kind="stable").tolist()

    def with_nats(symbols: Iterable[int]) -> list[tuple[str, float]]:
        return [(model.vocabulary.symbol(s), float(nats[s])) for s in symbols]

    return with_nats([s for s in order if nats[s] > 0][:k]), with_nats(
        [s for s in order[::-1] if nats[s] < 0][:k]
    )

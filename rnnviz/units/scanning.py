"""What every unit of a network does over a whole corpus, in one pass and constant memory.

The text is cut into windows as long as a context, and each window's extreme is a candidate. Three times as
many windows as contexts are kept, since a context can overlap only those of its two neighbours.

Shape letters: n characters, U units, V symbols, K contexts, W characters of one.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids, Integers
from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.findings import Bars, Histogram, Json, Number, Panel, Picture, Said, Table, count, say, words
from rnnviz.networks.numpy_engine import NetworkReader, Weights
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.progress import Clock
from rnnviz.pictured import Brief, Pictured
from rnnviz.text.characters import visible
from rnnviz.text.decoding import Source, SourceText
from rnnviz.text.vocabulary import Vocabulary, code_points
from rnnviz.units.directions import Direction
from rnnviz.units.tallies import Contexts, Histograms, Moments, Moves
from rnnviz.units.unit import Unit, check_layer, check_quantity, check_units, unit_of, within_layer

PIECE = 2048
"""Characters that are read at a time, about."""

EXPLODED = np.float32(1e18)
"""Larger values count as this."""


@dataclass(frozen=True, eq=False, repr=False)
class Context(Brief):
    """A unit's value at one character, `text[at]`, with `position` characters before it in the whole text.
    `values` (W,) float32 are the unit's values along `text`.
    """

    position: int
    value: float
    text: str
    at: int
    values: Floats


@dataclass(frozen=True)
class Move:
    """How a unit changes at `character`: the means of the change and of its amount, over `count` times."""

    character: str
    amount: float
    change: float
    count: int


@dataclass(frozen=True, eq=False, repr=False)
class UnitReport(Brief, Pictured):
    """What one unit did.

    top, bottom  contexts that don't overlap, the most extreme first
    counts       (bins,) how often its value lay between two `edges` (bins + 1,)
    moves        the characters that move it most on average; rare ones are left out
    """

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

    def facts(self) -> Json:
        """Its figures, and where it is highest and lowest."""
        places = {"highest_at": self.top, "lowest_at": self.bottom}
        return {
            "layer": self.unit.layer,
            "unit": self.unit.unit,
            "characters": int(self.counts.sum()),
            **{name: getattr(self, name) for name in ("mean", "variance", "lowest", "highest")},
            **{
                name: [{"position": c.position, "value": c.value, "text": c.text, "at": c.at} for c in found]
                for name, found in places.items()
            },
            "moves": [asdict(move) for move in self.moves],
        }

    def table(self) -> Table:
        """The characters where it is highest, then those where it is lowest, with what stands around them."""
        columns = [words(f"head.{name}") for name in ("position", "value", "text")]
        rows = [
            (count(one.position), Number(one.value, digits=2), one.text) for one in (*self.top, *self.bottom)
        ]
        return Table(columns, rows)

    def sentences(self) -> list[Said]:
        """Its mean and range."""
        n = count(int(self.counts.sum()))
        mean, low, high = (Number(x, digits=2) for x in (self.mean, self.lowest, self.highest))
        return say(["unit.read"], n=n, mean=mean, low=low, high=high)

    def panels(self) -> list[Panel]:
        """How often each value occurs, and the characters that move it."""
        values = Histogram(self.counts, self.edges, words("unit.value"), words("unit.share"))
        moved = Bars(
            [visible(move.character) for move in self.moves],
            [move.change for move in self.moves],
            words("unit.change"),
        )
        pictures: list[tuple[str, Picture]] = [
            ("histogram", values),
            *([("moves", moved)] if self.moves else []),
        ]
        return [
            Panel(
                name,
                words(f"unit.{name}"),
                picture,
                [words(f"unit.{name}-notice")],
                words(f"unit.{name}-limits"),
            )
            for name, picture in pictures
        ]


class ScanReport:
    """What a scan found in `characters` characters; `mean` and `variance` (U,) are those of all `units`."""

    def __init__(
        self, units: list[Unit], vocabulary: Vocabulary, tallies: tuple[Contexts, Histograms, Moments, Moves]
    ) -> None:
        self.units, self._vocabulary = units, vocabulary
        self._contexts, self._histograms, moments, self._moves = tallies
        self.characters, self.mean, self.variance = moments.count, moments.mean.copy(), moments.variance
        self._lowest, self._highest = moments.lowest.copy(), moments.highest.copy()

    def __getitem__(self, unit: Unit | tuple[int, int]) -> UnitReport:
        """Raises ConfigError for a unit that wasn't scanned."""
        if unit not in self.units:
            raise ConfigError("unit {unit} of layer {unit2} was not scanned", unit=unit[1], unit2=unit[0])
        u = self.units.index(Unit(*unit))
        top, bottom = (tuple(Context(*found) for found in self._contexts.chosen(u, sign)) for sign in (1, -1))
        counts, edges = self._histograms.of(u)
        moves = tuple(Move(self._vocabulary.symbol(s), *how) for s, how in self._moves.of(u))
        return UnitReport(
            Unit(*unit),
            top,
            bottom,
            counts,
            edges,
            moves,
            float(self.mean[u]),
            float(self.variance[u]),
            float(self._lowest[u]),
            float(self._highest[u]),
        )


@dataclass(frozen=True, eq=False)
class ScanProgress:
    """How far a scan is. `report()` is what has been found so far."""

    characters: int
    bytes_read: int
    bytes_total: int
    report: Callable[[], ScanReport]

    @property
    def fraction(self) -> float:
        """The share of the text that has been read, 0 to 1."""
        return min(self.bytes_read / self.bytes_total, 1.0) if self.bytes_total else 1.0


def scan(
    model: Network,
    path: Source | None = None,
    *,
    text: str | None = None,
    encoding: str | None = None,
    layer: int | None = None,
    units: Sequence[int] | Sequence[Unit] | None = None,
    quantity: str = "hidden",
    contexts: int = 10,
    before: int = 40,
    after: int = 20,
    bins: int = 40,
) -> Generator[ScanProgress, None, ScanReport]:
    """Read a file, or `text`, and follow `units` of `layer` (None: all); returns the ScanReport. Units, as
    against their numbers, carry their layer.

    Yields about ten times a second. `contexts` is K, each of `before` characters, the unit's own and `after`.
    A GRU with 256 units takes some ten seconds for 200,000 characters. Raises ConfigError for absent layers,
    units or quantities and numbers out of range, TextError and DecodingError for an unreadable file,
    EmptyTextError for no text.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> report = units.run(units.scan(rnnviz.load("timemachine-gru"), text="The machine"))
    >>> report.characters, len(report.units)
    (11, 256)
    """
    weights = weights_of(model)
    check_quantity(quantity, weights.cell)
    layer, columns = _chosen(weights, layer, units)
    _check_sizes(contexts, before, after, bins)
    source = SourceText(path, text, encoding, None, model.normaliser)
    U, V = len(columns), model.vocabulary.size
    tallies = Contexts(U, contexts, before, after), Histograms(U, bins), Moments(U), Moves(U, V)
    named = [unit_of(int(c), weights.layers[0].units, layer) for c in columns]
    length = max(1, PIECE // (before + 1 + after)) * (before + 1 + after)

    def progress() -> ScanProgress:
        return ScanProgress(tallies[2].count, source.bytes_read, source.bytes_total, report)

    def report() -> ScanReport:
        return ScanReport(named, model.vocabulary, tallies)

    reading = _UnitReader(model, layer, quantity, columns)
    clock = Clock()
    for piece in source.pieces(length):
        ids = model.vocabulary.encode(piece)
        values, earlier = reading.read(ids)
        tallies[0].add(code_points(piece), values)
        tallies[1].add(values)
        tallies[2].add(values)
        tallies[3].add(ids, values - earlier)
        if clock.due():
            yield progress()
    if not tallies[2].count:
        raise EmptyTextError("{name} has no characters; choose another text", name=source.name)
    tallies[0].finish()
    yield progress()
    return report()


def _chosen(
    weights: Weights, layer: int | None, units: Sequence[int] | Sequence[Unit] | None
) -> tuple[int | None, Integers]:
    """The layer, None for all, and which columns of `rnnviz.units.activations` are followed."""
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


class _UnitReader:
    """A text read in pieces, as the values (n, U) of some units before and after each character."""

    def __init__(self, model: Network, layer: int | None, quantity: str, columns: Integers) -> None:
        self._reader = NetworkReader(weights_of(model))
        self._layer, self._quantity, self._columns = layer, quantity, columns
        self._before = self._advance(np.array([model.vocabulary.start]))

    def read(self, ids: Ids) -> tuple[Floats, Floats]:
        """(n, U) after each of `ids` (n,), and before each."""
        values = self._advance(ids)
        earlier = np.concatenate([self._before, values[:-1]])
        self._before = values[-1:]
        return values, earlier

    def _advance(self, ids: Ids) -> Floats:
        hidden, cell = self._reader.states(ids)
        if self._quantity == "hidden":
            table = hidden[1:]
        elif self._quantity == "cell":
            assert cell is not None
            table = cell[1:]
        else:
            table = self._reader.weights.gates(ids, hidden)[self._quantity]
        rows = table.reshape(len(ids), -1) if self._layer is None else table[:, self._layer]
        # A relu network may explode; the tallies need finite values.
        return np.clip(np.nan_to_num(rows[:, self._columns]), -EXPLODED, EXPLODED)


def pushes(
    model: Network, unit: int | Unit | Direction, value: float = 1.0, *, k: int = 8
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """What `unit` of the top layer, or a Direction in it, speaks for and against at `value`: k symbols each,
    the strongest first.

    By value · W_hq[unit, x], less its mean over x, in nats: what the unit adds to log P(x) before
    normalisation, not through later steps. Raises ConfigError for an absent unit or k < 1.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> up, down = units.pushes(rnnviz.load("timemachine-gru"), 17, k=3)
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
            "what a unit speaks for is its column of the output layer's weights, and the readout of {name!r} "
            "is a function; give an nn.Linear as readout",
            name=model.name,
        )
    if k < 1:
        raise ConfigError("k counts symbols and is at least 1; received {k}", k=k)
    nats = push(weights, unit, value)
    order = np.argsort(-nats, kind="stable").tolist()

    def named(symbols: Iterable[int]) -> list[tuple[str, float]]:
        return [(model.vocabulary.symbol(s), float(nats[s])) for s in symbols]

    return named([s for s in order if nats[s] > 0][:k]), named([s for s in order[::-1] if nats[s] < 0][:k])


def push(weights: Weights, unit: int | Direction, value: float) -> Doubles:
    """(V,) nats; see `pushes`."""
    readout = weights.readout
    own = readout @ unit.vector if isinstance(unit, Direction) else readout[:, unit]
    column = own.astype(np.float64) * value
    return np.asarray(column - column.mean())

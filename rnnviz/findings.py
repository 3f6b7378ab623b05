"""What an analysis found, in four forms, none of which knows a language, a page or a drawing library.

    facts()      plain JSON: what --json prints
    table()      cells under named columns; findings of one class stack into one table
    sentences()  what may be said, the verdict first: codes and values
    panels()     pictures as data, each with what to notice in it

A terminal, the app and a notebook render them, and nothing else formats a result. What a code says in each
language stands in `locale/findings.toml`; `rnnviz.sentences` reads it, `rnnviz.figures.pictures` draws.

>>> said = Said("search.chance-only")
>>> from rnnviz.sentences import tell
>>> tell(said, "en")
'That is hardly more than chance.'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:  # the command line answers --help without numpy
    from rnnviz.arrays import Array

Json = dict[str, Any]
Form = Literal["decimal", "signed", "count", "percent", "whole percent", "perplexity", "significant"]


@dataclass(frozen=True)
class Number:
    """A number that is shown: unrounded, or None where it was not measured, and how to write it.

    decimal        `digits` after the point, a true minus: −0.012
    signed         the same with its sign: +0.12
    count          thousands apart: 40,000
    percent        a share, never 0 % or 100 % unless it is none or all: 0.4 %, 12 %
    whole percent  a share without a decimal: 98 %
    perplexity     3.70, 1,204, 98.7 million, far beyond guessing
    significant    `digits` that count, of small amounts: 0.0021
    """

    value: float | None
    form: Form = "decimal"
    digits: int = 3


@dataclass(frozen=True)
class Said:
    """A sentence, or words inside one: a code of `locale/findings.toml` and the values it names. A value is a
    Number, a Said, a list of these, or the reader's own text, which is escaped where it is shown.
    """

    code: str
    values: Mapping[str, object] = field(default_factory=dict)


Value = Number | Said | str | None
"""A table's cell: None is empty, a Number of None a dash."""


def say(codes: Iterable[str], **values: object) -> list[Said]:
    """Sentences of one finding, which share their values."""
    return [Said(code, values) for code in codes]


def words(code: str, **values: object) -> Said:
    """Words inside a sentence, or a title."""
    return Said(code, values)


def count(value: float | None) -> Number:
    """A whole number."""
    return Number(value, "count")


def span(low: float | None, high: float | None, digits: int = 3) -> Said | Number:
    """An interval inside a sentence; a dash where it wasn't measured."""
    if low is None or high is None:
        return Number(None)
    return words("span", low=Number(low, digits=digits), high=Number(high, digits=digits))


@dataclass(frozen=True)
class Table:
    """Rows of cells under `columns`; numbers stand to the right."""

    columns: Sequence[Said]
    rows: Sequence[Sequence[Value]]


def one_row(*cells: tuple[Said, Value]) -> Table:
    """A table of a single row, of cells with their columns."""
    return Table([column for column, _cell in cells], [[cell for _column, cell in cells]])


@dataclass(frozen=True, eq=False)
class Bars:
    """Bars from `first` on, the first name above, beside marked `levels`; one may be `chosen`."""

    names: Sequence[object]
    values: Sequence[float]
    x: object
    levels: Sequence[tuple[object, float]] = ()
    errors: Array | None = None
    first: float | None = None
    last: float | None = None
    chosen: int | None = None


@dataclass(frozen=True, eq=False)
class Pair:
    """Two probabilities for each name, before and after a change; `labels` are of the two."""

    names: Sequence[object]
    before: Array
    after: Array
    labels: tuple[object, object]
    x: object


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often values lay between two `edges` (n + 1,): `counts` (n,)."""

    counts: Array
    edges: Array
    x: object
    y: object


@dataclass(frozen=True, eq=False)
class Lines:
    """Up to four lines, by name, over whole numbers from `first` on; `places`: these are characters of a
    text.
    """

    curves: Sequence[tuple[object, Array]]
    x: object
    y: object
    first: float = 0
    log: bool = False
    places: bool = False


@dataclass(frozen=True, eq=False)
class Heat:
    """`values` (rows, T) as colours of a `scale` from its low to its high end; `names` of the rows. `places`:
    the axes along which a text lies, "x" or "xy".
    """

    values: Array
    scale: tuple[Literal["diverging", "sequential"], float, float]
    x: object
    y: object
    names: Sequence[object] | None = None
    places: str = "x"


@dataclass(frozen=True, eq=False)
class Square:
    """Shares of each row as decimal logarithms, (T, T): of the characters read in what comes later."""

    log10: Array
    x: object
    y: object


@dataclass(frozen=True, eq=False)
class Points:
    """Points (n, 2) of each name in a plane, with the line that bounds them: where two shares add up to 1, a
    "diagonal"; of complex numbers, the unit "circle".
    """

    groups: Sequence[tuple[object, Array]]
    bound: Literal["diagonal", "circle"]
    x: object
    y: object


Picture = Bars | Pair | Histogram | Lines | Heat | Square | Points


@dataclass(frozen=True, eq=False)
class Panel:
    """A picture with what to notice in it and what it does not show.

    link   "x": its x axis counts characters; "xy": both do
    pick   what a click on it chooses: "at", a character; "bar": an entry of `picks`, one for each bar
    """

    name: str
    title: Said
    picture: Picture
    notice: Sequence[Said]
    limits: Said
    link: str = ""
    pick: str = ""
    picks: Sequence[int] = ()


@runtime_checkable
class Finding(Protocol):
    """What an analysis found; complete wherever there is one. All four forms are cheap and pure."""

    def facts(self) -> Json:
        """Plain values, unrounded."""
        ...

    def table(self) -> Table:
        """Rows under the columns that all of a class have."""
        ...

    def sentences(self) -> list[Said]:
        """What may be said, the verdict first."""
        ...

    def panels(self) -> list[Panel]:
        """The pictures; a finding that is told in words or as a text has none."""
        return []


def stacked(tables: Sequence[Table]) -> Table:
    """The rows of several findings under the columns of the first; what a row lacks stays empty."""
    columns = tables[0].columns
    rows: list[list[Value]] = []
    for one in tables:
        for row in one.rows:
            cells = dict(zip((column.code + repr(column.values) for column in one.columns), row, strict=True))
            rows.append([cells.get(column.code + repr(column.values)) for column in columns])
    return Table(columns, rows)

"""Findings: the result of an analysis in four forms, which know no language, page or drawing library.

    facts()      plain JSON data, as --json prints it
    table()      cells under named columns; findings of one class stack into one table; frame() is the same as
                 a pandas DataFrame
    sentences()  codes of sentences and their values, the verdict first
    panels()     pictures as data, each with a sentence on what to notice

The terminal, the app and the notebook render these forms; nothing else formats a result.
`locale/findings.toml` has each code's sentence in each language: `rnnviz.sentences` reads it.
`rnnviz.figures.pictures` draws the panels.

>>> sentence = Sentence("search.chance-only")
>>> from rnnviz.sentences import describe
>>> describe(sentence, "en")
'That is hardly more than chance.'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:  # the command line answers --help without numpy
    from rnnviz.arrays import Array

Json = dict[str, Any]
Form = Literal["decimal", "signed", "count", "percent", "whole percent", "perplexity", "significant"]


@dataclass(frozen=True)
class Number:
    """A number to show and its form: unrounded, or None where it was not measured.

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
class Sentence:
    """A sentence, or words inside one: a code of `locale/findings.toml` and the values it names. A value is a
    Number, a Sentence, a list of these, or the reader's own text, which is escaped where it is shown.
    """

    code: str
    values: Mapping[str, object] = field(default_factory=dict)


Value = Number | Sentence | str | None
"""A table's cell: None shows as empty, Number(None) as a dash."""


def make_sentences(codes: Iterable[str], **values: object) -> list[Sentence]:
    """A sentence for each code; all share the same values."""
    return [Sentence(code, values) for code in codes]


def words(code: str, **values: object) -> Sentence:
    """Words inside a sentence, or a title."""
    return Sentence(code, values)


def count(value: float | None) -> Number:
    """A whole number."""
    return Number(value, "count")


def interval_words(low: float | None, high: float | None, digits: int = 3) -> Sentence | Number:
    """An interval inside a sentence; a dash where an end is None."""
    if low is None or high is None:
        return Number(None)
    return words("span", low=Number(low, digits=digits), high=Number(high, digits=digits))


@dataclass(frozen=True)
class Table:
    """Rows of cells under `columns`; numbers are aligned on the right."""

    columns: Sequence[Sentence]
    rows: Sequence[Sequence[Value]]


def one_row(*cells: tuple[Sentence, Value]) -> Table:
    """A table of a single row, from pairs (column, cell)."""
    return Table([column for column, _cell in cells], [[cell for _column, cell in cells]])


@dataclass(frozen=True, eq=False)
class Bars:
    """Horizontal bars of n `values`, the first name on top.

    levels       named values, marked by a line across the bars
    errors       (n,) the half width of each bar's whisker
    first, last  the ends of the axis, where they are given
    chosen       the number of the bar that stands out
    """

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
    """Probabilities (n,) `before` and `after` a change, for n names; `labels` name the two."""

    names: Sequence[object]
    before: Array
    after: Array
    labels: tuple[object, object]
    x: object


@dataclass(frozen=True, eq=False)
class Histogram:
    """`counts` (n,) of the values between neighbouring `edges` (n + 1,)."""

    counts: Array
    edges: Array
    x: object
    y: object


@dataclass(frozen=True, eq=False)
class Lines:
    """Up to four named curves over whole numbers from `first` on.

    log     the y axis is logarithmic
    places  the whole numbers are characters of a text
    """

    curves: Sequence[tuple[object, Array]]
    x: object
    y: object
    first: float = 0
    log: bool = False
    places: bool = False


@dataclass(frozen=True, eq=False)
class Heat:
    """`values` (rows, T) as colours; `names` are the rows'.

    scale   the kind of colours, and the values at its low and its high end
    places  the axes along which a text lies, "x" or "xy"
    """

    values: Array
    scale: tuple[Literal["diverging", "sequential"], float, float]
    x: object
    y: object
    names: Sequence[object] | None = None
    places: str = "x"


@dataclass(frozen=True, eq=False)
class Square:
    """`log10` (T, T): the share of each character read, by column, in a row's prediction or state."""

    log10: Array
    x: object
    y: object


@dataclass(frozen=True, eq=False)
class Points:
    """Named groups of points (n, 2) in a plane, and a line that bounds them.

    bound   "diagonal", where two shares add up to 1, or the unit "circle" of complex numbers
    """

    groups: Sequence[tuple[object, Array]]
    bound: Literal["diagonal", "circle"]
    x: object
    y: object


Picture = Bars | Pair | Histogram | Lines | Heat | Square | Points


@dataclass(frozen=True, eq=False)
class Panel:
    """A picture, the sentences that say what to notice, and its limits.

    link   "x": the x axis counts characters; "xy": both axes do
    pick   the choice of a click: "at", a character; "bar", an entry of `picks`, one for each bar
    """

    name: str
    title: Sentence
    picture: Picture
    notice: Sequence[Sentence]
    limits: Sentence
    link: str = ""
    pick: str = ""
    picks: Sequence[int] = ()


@runtime_checkable
class Finding(Protocol):
    """The result of an analysis, complete from the start. All four forms are cheap and pure."""

    def facts(self) -> Json:
        """Plain values, unrounded."""
        ...

    def table(self) -> Table:
        """Rows under the columns of this class of findings."""
        ...

    def sentences(self) -> list[Sentence]:
        """The sentences that the numbers allow, the verdict first."""
        ...

    def panels(self) -> list[Panel]:
        """The pictures; a finding in words or as a text alone has none."""
        return []

    def frame(self) -> Any:
        """`table` as a pandas DataFrame: headings and words in English, numbers unrounded. Raises ConfigError
        where pandas is missing.

        >>> import rnnviz
        >>> score = rnnviz.perplexity(rnnviz.load("timemachine-gru"), "The Time Traveller smiled.")
        >>> score.frame()[["under", "perplexity"]].round(1).to_dict("records")
        [{'under': 'timemachine-gru', 'perplexity': 2.3}]
        """
        # Words and pandas stand above findings: they are imported by name when a frame is asked for.
        return import_module("rnnviz.scoring.frames").table_frame(self.table())


def report(result: Any) -> Any:
    """The module that presents a result, named in its class's `REPORT`."""
    return import_module(result.REPORT)


class Reported(Finding):
    """A Finding that another module presents, its report."""

    # A result is computed in one room, and put into words and pictures in a room above it, which may not be
    # imported there. So the class only names its report, and the first question loads it:
    #
    #     class Ablation(Reported):                          rnnviz/lab/analysis/ablation.py
    #         REPORT = "rnnviz.lab.reports.ablation"
    #
    #     def table(ablation: Ablation) -> Table: ...        rnnviz/lab/reports/ablation.py
    #     def sentences(ablation: Ablation) -> list[Sentence]: ...
    #     def panels(ablation: Ablation) -> list[Panel]: ...     only where there is a picture
    #
    # All others ask the result: `ablation.table()`. The numbers are in the first file; a sentence, a column
    # or a picture is changed in the second. A method with more arguments, such as `Search.panels(chosen)`,
    # stands in its class and asks `report(self)` likewise.

    REPORT: ClassVar[str]

    def table(self) -> Table:
        """Rows under the columns of this class of findings."""
        rows: Table = report(self).table(self)
        return rows

    def sentences(self) -> list[Sentence]:
        """The sentences that the numbers allow, the verdict first."""
        allowed: list[Sentence] = report(self).sentences(self)
        return allowed

    def panels(self) -> list[Panel]:
        """The pictures; a finding in words or as a text alone has none."""
        module = report(self)
        pictures: list[Panel] = module.panels(self) if hasattr(module, "panels") else []
        return pictures


def stack_tables(tables: Sequence[Table]) -> Table:
    """The rows of several findings under the first one's columns; a cell that a row lacks stays empty."""
    columns = tables[0].columns
    rows: list[list[Value]] = []
    for table in tables:
        for row in table.rows:
            cells = dict(zip(map(_column_key, table.columns), row, strict=True))
            rows.append([cells.get(_column_key(column)) for column in columns])
    return Table(columns, rows)


def _column_key(column: Sentence) -> str:
    # Headings with the same code, such as "best of {n} units", are different columns for different values.
    return column.code + repr(column.values)

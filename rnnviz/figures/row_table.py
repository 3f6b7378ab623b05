"""Tables of scored rows beside the rows themselves: Parquet, JSON Lines or CSV, streaming.

A row of the table has all columns of the scored row, then

    file              its file
    row               its number there, from 0
    characters        as normalised; 0 where the row could not be scored
    unknown           characters outside the model's vocabulary
    nll               nats, -log P of the whole text: the sum over rows is the corpus's
    perplexity        exp(nll / characters)
    words             runs of characters between white space; empty for languages without spaces
    word_perplexity   exp(nll / words)
    given_characters  of the context, read before and not counted
    error             the reason why it could not be scored, else empty
    nll_…             nats of a region, for each region of the text by its name; together they are nll

If a file has a column of one of these names, all of these begin with rnnviz_ instead. In Parquet and CSV a
column has one type in all rows: values of mixed types are written as JSON.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from rnnviz.checks import renamed, renamed_names
from rnnviz.errors import ConfigError, TextError
from rnnviz.figures import export
from rnnviz.text import files
from rnnviz.text.row_files import JsonLines, Parquet, RowFile, parquet_library
from rnnviz.text.row_files import values as column_values

if TYPE_CHECKING:
    from rnnviz.scoring.rows import RowBatch, RowScore

Format = Literal["parquet", "jsonl", "csv"]
FORMATS: tuple[Format, ...] = ("parquet", "jsonl", "csv")

COLUMNS = {
    "file": "string", "row": "int64", "characters": "int64", "unknown": "int64", "nll": "float64",
    "perplexity": "float64", "words": "int64", "word_perplexity": "float64", "given_characters": "int64",
    "error": "string",
}  # fmt: skip
"""The columns' types in Parquet."""

PREFIX = "rnnviz_"

MAX_OWN_COLUMNS = 1000
"""The rows' own columns, at most, in Parquet and CSV."""

JSON = "json"  # the type of a column with mixed or nested values
_TYPES = {str: "string", int: "int64", float: "float64", bool: "bool"}

Kinds = dict[str, Any]
"""The rows' own columns by name, each with a type: the name of a pyarrow type, a pyarrow type, or JSON."""


def output_format(target: str) -> Format:
    """The format of an output, by its ending. Raises ConfigError for an unknown ending, or without
    pyarrow.
    """
    ending = Path(target).suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise ConfigError(
            "scored rows are written as .parquet, .jsonl or .csv; received {ending!r}",
            ending=ending or target,
        )
    if ending == "parquet":
        parquet_library()
    return ending


@renamed(of="row_files")
def kinds(row_files: Iterable[RowFile]) -> Kinds:
    """The own columns of files' rows, with their types. Reads JSON Lines to their end, as any line may add a
    column.

    Raises ConfigError for more columns than MAX_OWN_COLUMNS.
    """
    column_kinds: Kinds = {}
    for file in row_files:
        for name, kind in _column_kinds(file):
            if kind is not None and column_kinds.get(name) not in (None, kind):
                both = {column_kinds[name], kind}
                kind = "float64" if both == {"int64", "float64"} else JSON
            column_kinds[name] = kind if kind is not None else column_kinds.get(name)
            if len(column_kinds) > MAX_OWN_COLUMNS:
                raise ConfigError(
                    "the rows of {name} have more than {most:,} columns; write them as .jsonl",
                    name=file.name,
                    most=MAX_OWN_COLUMNS,
                )
    return {name: kind or "string" for name, kind in column_kinds.items()}


def _column_kinds(file: RowFile) -> Iterable[tuple[str, Any]]:
    """Names and types, with repetitions; None for a null."""
    if isinstance(file, Parquet):
        yield from ((field.name, field.type) for field in file.schema)
    elif isinstance(file, JsonLines):
        with suppress(TextError):  # reported when it is scored
            for table in file.tables():
                for row in file.full_rows(table):
                    yield from ((name, _kind(value)) for name, value in row.items())
    else:
        yield from ((name, "string") for name in file.columns)


def _kind(value: Any) -> str | None:
    if value is None:
        return None
    if type(value) is int and not -(2**63) <= value < 2**63:
        return JSON
    return _TYPES.get(type(value), JSON)


class RowTable:
    """A table of scored rows, written batch by batch into an open file; only `close` completes it.

    `own` are the `kinds` of the rows' own columns, `regions` the names of all regions; JSON Lines needs none.
    """

    def __init__(self, file: BinaryIO, format: Format, row_kinds: Kinds, regions: Iterable[str] = ()) -> None:
        self._file, self._format, self._own = file, format, row_kinds
        self._figures = COLUMNS | {f"nll_{region}": "float64" for region in regions}
        self.columns = _names(self._figures, row_kinds)
        if format == "csv":
            self._text = io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="", write_through=True)
            export.write_rows(self._text, [[*row_kinds, *self.columns]])
        elif format == "parquet":
            self._open_parquet()

    def add(self, batch: RowBatch, name: str) -> None:
        """Write a batch of rows of the file called `name`."""
        if self._format == "parquet":
            self._add_parquet(batch, name)
            return
        rows = batch.columns if isinstance(batch.columns, list) else _dicts(batch.columns)
        for row, score in zip(rows, batch.scores, strict=True):
            values = _values(score, name)
            if self._format == "csv":
                cells = [*(_cell(row.get(c)) for c in self._own), *map(values.get, self._figures)]
                export.write_rows(self._text, [cells])
                continue
            line = _json({**row, **dict(zip(_names(values, row), values.values(), strict=True))})
            # UTF-8 can't encode half a surrogate pair; its escape is valid JSON.
            self._file.write(f"{line}\n".encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        """Write the end. The file stays open for its owner."""
        if self._format == "csv":
            self._text.detach()
        elif self._format == "parquet":
            self._writer.close()

    def _open_parquet(self) -> None:
        pa = parquet_library()
        import pyarrow.parquet as pq

        kinds = [*self._own.items(), *zip(self.columns, self._figures.values(), strict=True)]
        self._schema = pa.schema([(name, _arrow_type(pa, kind)) for name, kind in kinds])
        self._writer = pq.ParquetWriter(self._file, self._schema, compression="zstd")

    def _add_parquet(self, batch: RowBatch, name: str) -> None:
        pa = parquet_library()
        row_arrays = [self._own_array(pa, batch.columns, column, kind) for column, kind in self._own.items()]
        figures = [_values(score, name) for score in batch.scores]
        types = zip(self._figures, self._schema.types[len(row_arrays) :], strict=True)
        figure_arrays = [pa.array([values.get(column) for values in figures], kind) for column, kind in types]
        self._writer.write_table(pa.Table.from_arrays([*row_arrays, *figure_arrays], schema=self._schema))

    def _own_array(self, pa: Any, rows: Any, column: str, kind: Any) -> Any:
        """One of the rows' own columns, in the table's type; null where a row lacks it."""
        arrow_type = _arrow_type(pa, kind)
        if isinstance(rows, list):
            values = [row.get(column) for row in rows]
        else:
            n = rows.schema.get_field_index(column)
            if n >= 0 and rows.schema.field(n).type == arrow_type:
                return rows.column(n)
            values = [None] * len(rows) if n < 0 else column_values(rows.column(n))
        if kind == JSON:
            values = [None if value is None else _json(value) for value in values]
        if arrow_type == pa.string():
            values = [_escape_surrogates(value) for value in values]
        elif arrow_type == pa.float64():
            values = [None if value is None else float(value) for value in values]
        return pa.array(values, arrow_type)


@renamed(own="row_kinds")
@contextmanager
def open_table(target: str, row_kinds: Kinds, regions: Iterable[str] = ()) -> Iterator[RowTable]:
    """A table at a path, which gets its new content once all of it is written. Raises ExportError."""
    format = output_format(target)
    with files.replacing(target) as file, closing(RowTable(file, format, row_kinds, regions)) as table:
        yield table


def _names(figures: Iterable[str], row: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of a table's figures, beside the columns of a row."""
    return tuple(f"{PREFIX}{name}" if row.keys() & COLUMNS.keys() else name for name in figures)


def _arrow_type(pa: Any, kind: Any) -> Any:
    if not isinstance(kind, str):
        return kind
    return pa.string() if kind == JSON else getattr(pa, {"bool": "bool_"}.get(kind, kind))()


def _dicts(batch: Any) -> list[dict[str, Any]]:
    names = batch.schema.names
    rows = zip(*(column_values(column) for column in batch.columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _values(score: RowScore, name: str) -> dict[str, Any]:
    """A row's figures by their columns; None for a missing value, or one beyond float64."""
    return {
        "file": _escape_surrogates(name),
        "row": score.row,
        "characters": score.characters,
        "unknown": score.unknown,
        "nll": score.nll if score.fault is None else None,
        "perplexity": _finite_or_none(score.perplexity),
        "words": score.words,
        "word_perplexity": _finite_or_none(score.word_perplexity),
        "given_characters": score.given_characters,
        "error": None if score.fault is None else str(score.fault),
        **{f"nll_{region}": nats for region, nats in score.regions.items()},
    }


def _finite_or_none(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _escape_surrogates(value: Any) -> Any:
    """A text with half surrogates escaped, which no file could hold."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else _json(value)


if not TYPE_CHECKING:  # not for mypy, which would take every name for one of the module's
    __getattr__ = renamed_names(
        __name__,
        MOST_COLUMNS="MAX_OWN_COLUMNS",
        format_of="output_format",
        writing="open_table",
    )

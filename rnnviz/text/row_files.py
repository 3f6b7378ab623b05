"""Files of many texts, one a row: JSON Lines, CSV and Parquet.

    .jsonl .ndjson    an object a line     } as they are, or packed: .gz, .zst
    .csv .tsv         a record a line      }
    .parquet

They are read in batches of bounded size, however many rows there are. A row that holds no text costs itself
alone; a file that is damaged or cut off gives what comes before.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, cast

from rnnviz.errors import ConfigError, TextError
from rnnviz.text.checked import check_path
from rnnviz.text.decoding import Source, opened_source, size_of
from rnnviz.text.files import packing
from rnnviz.text.row_formats import (
    FIELDS,
    LONGEST,
    SAMPLE,
    Csv,
    Fault,
    JsonLines,
    Parquet,
    Row,
    candidates,
    json_type,
    listed,
    too_long,
)
from rnnviz.text.row_formats import values as column_values
from rnnviz.text.vocabulary import code_points

Format = Literal["jsonl", "csv", "parquet"]

ENDINGS: dict[str, Format] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet",
}  # fmt: skip

ROWS, CHARACTERS = 1024, 1 << 20
"""Rows and characters of a batch, at most; a longer row is a batch of its own."""


def format_of(name: str) -> Format | None:
    """The format of a file of rows with this name; None for others.

    >>> format_of("corpus.jsonl.zst"), format_of("book.txt")
    ('jsonl', None)
    """
    bare = name.lower()
    kind = packing(bare)
    ending = os.path.splitext(bare.removesuffix(kind))[1]
    found = ENDINGS.get(ending)
    return None if kind and found == "parquet" else found


def is_packed_rows(source: Source, name: str | None = None) -> bool:
    """Whether it is a file of rows that can't be read as one text: by its name, Parquet or packed."""
    called = _called(source, name)
    return format_of(called) == "parquet" or (format_of(called) is not None and bool(packing(called)))


def _called(source: Source, name: str | None) -> str:
    if name is not None:
        return name
    called = getattr(source, "name", None) if hasattr(source, "read") else check_path(source)
    return called if isinstance(called, str) else "these rows"


@dataclass(frozen=True)
class Rows:
    """Consecutive rows of a file, the first of them number `start`, counted from 0.

    texts, given  of each row; empty where it has a fault
    faults        why a row can't be scored, or None
    own           the rows' own columns: a dict each, or pyarrow's RecordBatch; None unless asked for
    """

    start: int
    texts: list[str]
    given: list[str]
    faults: list[Fault | None]
    own: Any = None


class RowFile:
    """A file of rows. Make one with `open_rows`, or choose its column afterwards.

    columns          the names of its columns, as far as the first rows show; of JSON Lines at most FIELDS
    column, given    those of the texts and of their contexts; `given` may be None
    found            whether `column` was found rather than named
    """

    def __init__(self, source: Source, name: str, format: Format, encoding: str | None) -> None:
        self.name, self.format = name, format
        with opened_source(source, name) as file:
            self.bytes_total = size_of(file, name)
        if format == "parquet" and encoding is not None:
            raise ConfigError(
                "a Parquet file has no encoding to name; received {encoding!r}", encoding=encoding
            )
        self.reader: Parquet | Csv | JsonLines
        if format == "parquet":
            self.reader = Parquet(source, name)
        else:
            self.reader = (Csv if format == "csv" else JsonLines)(source, name, encoding)
        self._first = self._sample()
        if isinstance(self.reader, JsonLines):
            self.columns = tuple(islice(dict.fromkeys(key for row in self._first for key in row), FIELDS))
        else:
            self.columns = self.reader.columns
        self.column, self.found = "", False
        self.given: str | None = None

    def choose(self, column: str | None, given: str | None) -> None:
        """Read the texts from `column`, the only one with texts if None, and their contexts from `given`.

        Raises ConfigError for a column that isn't there, and where several hold texts, or none.
        """
        for named in filter(None, (column, given)):
            if named not in self.columns and self.format != "jsonl":  # where any later line may have it
                raise ConfigError(
                    "{name} has no column {column!r}; it has {columns}",
                    name=self.name,
                    column=named,
                    columns=listed(self.columns),
                )
        self.column = column if column is not None else self._only(given)
        self.given, self.found = given, column is None

    def _only(self, given: str | None) -> str:
        """The one column beside `given` that may hold the texts."""
        others = [each for each in self.columns if each != given]
        found = candidates(others, self._first)
        if len(found) == 1:
            return found[0]
        if not found:
            raise ConfigError(
                "{name} has no column of texts; it has {columns}. Score it as one text, or name another file",
                name=self.name,
                columns=listed(others),
            )
        raise ConfigError(
            "{name} has more than one column of texts: {columns}; say which with --column "
            "(column=… in Python)",
            name=self.name,
            columns=listed(found),
        )

    @property
    def candidates(self) -> list[str]:
        """The columns that may hold the texts."""
        return candidates(self.columns, self._first)

    @property
    def bytes_read(self) -> int:
        """Of the file as it lies on disk."""
        return self.reader.bytes_read

    def batches(self, *, own: bool = False) -> Iterator[Rows]:
        """The rows from the beginning; `own` keeps all their columns.

        Raises TextError where the file turns out to be damaged, after the rows before.
        """
        start = 0
        for values, faults in self._tables(own):
            for rows in self._cut(start, values, faults, own):
                yield rows
                start += len(rows.texts)

    def _tables(self, own: bool) -> Iterator[tuple[Any, list[Fault | None]]]:
        """Up to ROWS rows at a time: a RecordBatch or dicts, and what is known to be wrong with them."""
        if isinstance(self.reader, Parquet):
            wanted = [self.column] if self.given in (None, self.column) else [self.column, str(self.given)]
            for batch in self.reader.batches(wanted, whole=own):
                yield batch, [None] * len(batch)
            return
        rows: list[Row] = []
        faults: list[Fault | None] = []
        size = 0
        try:
            for row in self.reader:
                rows.append({} if isinstance(row, Fault) else row)
                faults.append(row if isinstance(row, Fault) else None)
                size += _size_of(row)
                if len(rows) == ROWS or size >= CHARACTERS:
                    yield rows, faults
                    rows, faults, size = [], [], 0
        except TextError:
            yield rows, faults
            raise
        yield rows, faults

    def _cut(self, start: int, values: Any, faults: list[Fault | None], own: bool) -> Iterator[Rows]:
        """A table as Rows of at most CHARACTERS characters."""
        texts = self._column(values, self.column, faults)
        given = [""] * len(texts) if self.given is None else self._column(values, self.given, faults)
        size = begin = 0
        for end in range(1, len(texts) + 1):
            if faults[end - 1] is not None:
                texts[end - 1] = given[end - 1] = ""
            size += len(texts[end - 1]) + len(given[end - 1])
            if size >= CHARACTERS or end == len(texts):
                kept = values[begin:end] if own else None
                yield Rows(start + begin, texts[begin:end], given[begin:end], faults[begin:end], kept)
                begin, size = end, 0

    def _column(self, values: Any, column: str, faults: list[Fault | None]) -> list[str]:
        """The texts of a column; adds the fault of each row that has none."""
        if isinstance(self.reader, Parquet):
            cells = column_values(values.column(column))
        else:
            cells = [row.get(column, _MISSING) for row in values]
        for n, cell in enumerate(cells):
            if faults[n] is None:
                faults[n] = _fault(cell, column)
            if faults[n] is not None:
                cells[n] = ""
        return cast("list[str]", cells)

    # which column holds the texts

    def _sample(self) -> list[Row]:
        if isinstance(self.reader, Parquet):
            names = self.reader.texts
            batch = next(self.reader.batches(names, whole=False), None) if names else None
            if batch is None:
                return []
            columns = [column_values(batch.column(name))[:SAMPLE] for name in names]
            return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        rows: list[Row] = []
        try:
            for row in islice(self.reader, SAMPLE):
                if not isinstance(row, Fault):
                    rows.append(row)
        except TextError:
            if not rows:
                raise
        return rows


def open_rows(
    source: Source,
    *,
    column: str | None = None,
    given: str | None = None,
    encoding: str | None = None,
    name: str | None = None,
    format: Format | None = None,
) -> RowFile:
    """A file of rows, by its path or as a seekable binary file, of the `format` that its name says.

    `column` holds the texts; it is found if only one column does. `given` holds what comes before each.
    Raises TextError for a file that can't be read, ConfigError for a column that isn't there, or where more
    than one may be meant.

    >>> import io
    >>> file = open_rows(io.BytesIO(b'{"id": 7, "text": "one"}'), name="rows.jsonl")
    >>> file.column, [rows.texts for rows in file.batches()]
    ('text', [['one']])
    """
    name = _called(source, name)
    format = format or format_of(name)
    if format is None:
        raise ConfigError(
            "{name} is no file of rows by its ending; those end in {endings}, or .gz and .zst after "
            "the first four",
            name=name,
            endings=", ".join(ENDINGS),
        )
    file = RowFile(source, name, format, encoding)
    file.choose(column, given)
    return file


_MISSING = object()


def _fault(cell: object, column: str) -> Fault | None:
    if isinstance(cell, str):
        if len(cell) > LONGEST:
            return too_long()
        try:
            code_points(cell)
        except TextError as error:
            return Fault("surrogate", error)
        return None
    if cell is _MISSING:
        return Fault("missing", TextError("it has no {column}", column=column))
    if isinstance(cell, bytes):
        return Fault("broken", TextError("its {column} is not UTF-8", column=column))
    if cell is None:
        return Fault("null", TextError("its {column} is null", column=column))
    return Fault(
        "type", TextError("its {column} is {received}, no text", column=column, received=json_type(cell))
    )


def _size_of(row: Row | Fault) -> int:
    return 0 if isinstance(row, Fault) else sum(len(v) for v in row.values() if isinstance(v, str))

"""Files of many texts, one a row: JSON Lines, CSV and Parquet.

    .jsonl .ndjson    an object a line     } as they are, or packed: .gz, .zst
    .csv .tsv         a record a line      }
    .parquet

Files are read in tables of bounded size, whatever their number of rows. A row without a text is left out
alone; a file that is damaged or cut off gives the rows before the damage.
"""

import csv
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, BinaryIO, ClassVar, Literal, NamedTuple

from rnnviz.checks import check_path
from rnnviz.errors import ConfigError, TextError, install
from rnnviz.text.characters import Blanks, joined
from rnnviz.text.decoding import (
    CHUNK_BYTES,
    Source,
    canonical,
    decoded,
    encoding_of_mark,
    from_pipe,
    open_text,
    opened_source,
    size_of,
)
from rnnviz.text.files import packing, unpacked
from rnnviz.text.vocabulary import code_points

Format = Literal["jsonl", "csv", "parquet"]

ENDINGS: dict[str, Format] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet",
}  # fmt: skip

BATCH_ROWS, BATCH_CHARS = 1024, 1 << 20
"""Rows and characters handed on together, at most; a longer row comes alone."""

MAX_ROW_CHARS = 1 << 24
"""Characters of a row's text, and of a line of the file, at most."""

MAX_COLUMNS = 1000
"""Columns of a CSV file at most, and columns of JSON Lines among which that of the texts is found."""

SAMPLE_ROWS = 1000
"""Rows that the choice of a column looks at."""

Row = dict[str, Any]


class Fault(NamedTuple):
    """The reason why a row can't be scored; such rows are counted by `kind`."""

    kind: str
    error: TextError


def format_of(name: str) -> Format | None:
    """The format of a file of rows with this name; None for others.

    >>> format_of("corpus.jsonl.zst"), format_of("book.txt")
    ('jsonl', None)
    """
    bare = name.lower()
    kind = packing(bare)
    ending = os.path.splitext(bare.removesuffix(kind))[1]
    format = ENDINGS.get(ending)
    return None if kind and format == "parquet" else format


def is_packed_rows(source: Source, name: str | None = None) -> bool:
    """Whether a file's name says Parquet, or packed rows: neither can be read as one text."""
    called = _called(source, name)
    return format_of(called) == "parquet" or (format_of(called) is not None and bool(packing(called)))


def _called(source: Source, name: str | None) -> str:
    if name is not None:
        return name
    called = getattr(source, "name", None) if hasattr(source, "read") else check_path(source)
    return called if isinstance(called, str) else "these rows"


@dataclass(frozen=True)
class Rows:
    """Consecutive rows of a file; the first is row number `start`, counted from 0.

    parts      each row's context and the regions of its text, which together are the text; one region where
               nothing parts it, empty where the row has a fault
    faults     each row's Fault, or None
    full_rows  all columns: a list of dicts, or pyarrow's RecordBatch; None unless asked for
    """

    start: int
    parts: list[list[str]]
    faults: list[Fault | None]
    full_rows: Any = None

    @property
    def texts(self) -> list[str]:
        """Each row's text."""
        return ["".join(regions) for _context, *regions in self.parts]


class RowFile:
    """A file of rows. Make one with `open_rows`.

    columns              the names of the columns, as far as the first rows show; at most MAX_COLUMNS
                         of JSON Lines
    region_columns       the columns of the texts' regions; one, where a column holds whole texts
    context_column       the column of their contexts, or None
    separator            what parts the regions in a column of texts, or None
    found                whether the column was found rather than named
    encoding, certainty  as of a text; None for Parquet
    bytes_read           bytes read of the file as it is stored, out of `bytes_total`

    A subclass for each format reads `tables` of rows, and the `cells` of a table.
    """

    format: ClassVar[Format]

    def __init__(self, source: Source, name: str, encoding: str | None) -> None:
        self.source, self.name, self.bytes_read = from_pipe(source, name), name, 0
        self.encoding: str | None = canonical(encoding or "utf-8")
        self.certainty: str | None = "verified" if encoding is None else "declared"
        self.columns: tuple[str, ...] = ()
        self.region_columns: Sequence[str] = ()
        self.context_column: str | None = None
        self.separator: str | None = None
        with opened_source(self.source, name) as file:
            self.bytes_total = size_of(file, name)
        self._open(encoding)
        self._first: Any = next(self.tables(max_chars=MAX_ROW_CHARS), [])

    def _open(self, encoding: str | None) -> None:
        """Read the part before the rows: a CSV file's head, a Parquet file's schema."""

    def tables(
        self, columns: Sequence[str] = (), *, whole: bool = False, max_chars: int = BATCH_CHARS
    ) -> Iterator[Any]:
        """Tables of consecutive rows, from the beginning.

        columns  at least these columns are read; if empty, at least all that may hold texts
        whole    read all columns
        most     about this many characters in a table, where rows vary in length

        Raises TextError where the file is damaged, after the rows before the damage.
        """
        raise NotImplementedError

    def cells(self, table: Any, column: str) -> list[Any]:
        """The cells of a table's rows in a column: a value each, or a Fault, or MISSING."""
        raise NotImplementedError

    def full_rows(self, table: Any) -> Any:
        """A table in the form of `Rows.full_rows`."""
        return table

    def text_columns(self, columns: Iterable[str]) -> list[str]:
        """Those of `columns` whose strings, in the first rows, mostly look like a text; without any, all
        with strings.
        """
        prose = {}
        for column in columns:
            cells = self.cells(self._first, column)[:SAMPLE_ROWS]
            strings = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
            if strings:
                prose[column] = 2 * sum(map(_is_prose, strings)) > len(strings)
        return [column for column in prose if prose[column]] or list(prose)

    def choose(
        self,
        column: str | Sequence[str] | None,
        context: str | None,
        *,
        separator: str | None = None,
        join: str | None = None,
        blanks: Blanks = "next",
    ) -> None:
        """Read the texts from `column`, and their contexts from `context`; `open_rows` has the arguments.

        Raises ConfigError for an absent column, for a separator of several columns or without a character,
        and if `column` is None and several hold texts, or none.
        """
        names = [column] if isinstance(column, str) else list(map(str, column or ()))
        columns: Sequence[str] = self.columns
        if len(names) > 1 or any("*" in name and name not in columns for name in names):
            columns = self.all_columns()
            names = [column for name in names for column in _numbered(name, columns)]
        for named in filter(None, (*names, context)):
            # Any line of JSON may have a column, unless all were asked.
            if named not in columns and (self.format != "jsonl" or columns is not self.columns):
                raise ConfigError(
                    "{name} has no column {column!r}; it has {columns}",
                    name=self.name,
                    column=named,
                    columns=_listed(columns),
                )
        self.region_columns = names or [self._only_text_column(context)]
        if separator is not None and (not separator or len(names) > 1):
            raise ConfigError(
                "a separator is at least one character, and parts the texts of one column; received "
                "{separator!r} and {columns}",
                separator=separator,
                columns=_listed(self.region_columns),
            )
        self.context_column, self.found = context, not names
        self.separator, self._join, self._blanks = separator, join, blanks

    @property
    def column(self) -> str:
        """The names of `region_columns`."""
        return ", ".join(self.region_columns)

    def all_columns(self) -> Sequence[str]:
        """The names of all rows' columns, whatever their number."""
        return self.columns

    def region_names(self, count: int | None = None) -> Sequence[str]:
        """The names of a row's regions, `count` of them: those of its columns, or region_1, region_2, … of a
        text that a separator parts. None for texts in one piece.

        Without a `count` those of all rows; reads a file with a separator to its end.
        """
        if self.separator is None:
            return self.region_columns if len(self.region_columns) > 1 else ()
        if count is None:
            count = 0
            with suppress(TextError):  # reported when the file is scored
                for rows in self.batches():
                    count = max(count, *(len(parts) - 1 for parts in rows.parts))
        return [f"region_{n}" for n in range(1, count + 1)]

    def _only_text_column(self, context: str | None) -> str:
        """The one column beside `context` that may hold the texts."""
        columns = [column for column in self.columns if column != context]
        candidates = self.text_columns(columns)
        if len(candidates) == 1:
            return candidates[0]
        if not candidates:
            raise ConfigError(
                "{name} has no column of texts; it has {columns}. Score it as one text, or name another file",
                name=self.name,
                columns=_listed(columns),
            )
        raise ConfigError(
            "{name} has more than one column of texts: {columns}; say which with --column (column=… in "
            "Python), or all that have regions",
            name=self.name,
            columns=_listed(candidates),
        )

    def batches(self, *, full: bool = False) -> Iterator[Rows]:
        """The rows from the beginning, at most BATCH_CHARS characters together; `full` keeps all columns.

        Raises TextError where the file is damaged, after the rows before the damage.
        """
        start = 0
        contexts = [] if self.context_column is None else [self.context_column]
        optional = len(self.region_columns) > 1
        for table in self.tables(list(dict.fromkeys([*self.region_columns, *contexts])), whole=full):
            texts = [_texts(self.cells(table, name), name, optional) for name in self.region_columns]
            before = [_texts(self.cells(table, name), name) for name in contexts] or [[""] * len(texts[0])]
            rows = list(map(self._parts, *before, *texts))
            begin = size = 0
            for end, (parts, _fault) in enumerate(rows, start=1):
                size += sum(map(len, parts))
                if size >= BATCH_CHARS or end == len(rows):
                    all_columns = self.full_rows(table[begin:end]) if full else None
                    parts_of_batch, faults = map(list, zip(*rows[begin:end], strict=True))
                    yield Rows(start + begin, parts_of_batch, faults, all_columns)
                    # A batch ends by characters, not by rows: one long row must not wait for a thousand
                    # others.
                    begin, size = end, 0
            start += len(rows)

    def _parts(self, context: str | Fault, *texts: str | Fault) -> tuple[list[str], Fault | None]:
        """A row's context and the regions of its text, and its fault."""
        cells = list[str]()
        for cell in (context, *texts):
            if isinstance(cell, Fault):
                return ["", ""], cell
            cells.append(cell)
        regions = cells[1:] if self.separator is None else cells[1].split(self.separator)
        if len(regions) > MAX_COLUMNS:
            error = TextError(
                "it has {n:,} regions, and at most {most:,} are read", n=len(regions), most=MAX_COLUMNS
            )
            return ["", ""], Fault("long", error)
        return [cells[0], *joined(regions, self._join, self._blanks)], None


def _numbered(name: str, columns: Iterable[str]) -> list[str]:
    """The columns that a name with a * stands for, a number in its place, in the order of these numbers; the
    name itself for a column's and where there is none.

    >>> _numbered("region_*", ["region_10", "region_9", "region_", "item"])
    ['region_9', 'region_10']
    """
    pattern = re.compile(re.escape(name).replace(r"\*", r"(\d+)", 1))
    numbers = {
        column: int(match[1]) for column in columns if "*" in name and (match := pattern.fullmatch(column))
    }
    return sorted(numbers, key=numbers.__getitem__) if numbers and name not in columns else [name]


def _is_prose(value: str) -> bool:
    """Whether a string looks like a text, not a name or a number: a blank inside, or non-ASCII characters."""
    return not value.isascii() or len(value.split(None, 2)) > 1


def _listed(columns: Sequence[str]) -> str:
    """The names of columns, for a sentence."""
    names = ", ".join(repr(c if len(c) <= 40 else c[:40] + "…") for c in columns[:10])
    return f"{names} …" if len(columns) > 10 else names or "none"


MISSING = object()


def _texts(cells: Sequence[Any], column: str, optional: bool = False) -> list[str | Fault]:
    """The cells of a column as texts; where they are `optional`, one that is null or missing is empty."""
    return ["" if optional and (cell is None or cell is MISSING) else _text(cell, column) for cell in cells]


def _text(cell: Any, column: str) -> str | Fault:
    """A cell that is a text to score; else its Fault."""
    if isinstance(cell, str):
        if len(cell) > MAX_ROW_CHARS:
            return _too_long()
        try:
            code_points(cell)
        except TextError as error:
            return Fault("surrogate", error)
        return cell
    if isinstance(cell, Fault):
        return cell
    if cell is MISSING:
        return Fault("missing", TextError("it has no {column}", column=column))
    if isinstance(cell, bytes):
        return Fault("broken", TextError("its {column} is not UTF-8", column=column))
    if cell is None:
        return Fault("null", TextError("its {column} is null", column=column))
    received = _json_type(cell)
    return Fault(
        "type", TextError("its {column} is {received}, not a text", column=column, received=received)
    )


def _json_type(value: object) -> str:
    """JSON's name for the type of a value, with its article."""
    names = {type(None): "null", bool: "true or false", int: "a number", float: "a number"}
    names |= {str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)


def _too_long() -> Fault:
    """The fault of a row whose text or line is longer than MAX_ROW_CHARS."""
    return Fault(
        "long",
        TextError("it is longer than {most:,} characters; score it as a file of its own", most=MAX_ROW_CHARS),
    )


# Rows of JSON Lines and CSV files, one at a time: a bad row is left out alone.


class _Lines(RowFile):
    """Rows of a text, line by line."""

    def _open(self, encoding: str | None) -> None:
        with opened_source(self.source, self.name) as file:
            head = unpacked(file, self.name).read(4)
        # PowerShell writes UTF-16, with a mark; a JSON object begins with { in any encoding.
        encoding_found = encoding_of_mark(head) or {b"{\0": "utf-16-le", b"\0{": "utf-16-be"}.get(head[:2])
        if encoding is None and encoding_found is not None:
            self.encoding, self.certainty = encoding_found, "declared"

    def rows(self) -> Iterator[Row | Fault]:
        """The rows one after another, from the beginning."""
        raise NotImplementedError

    def tables(
        self, columns: Sequence[str] = (), *, whole: bool = False, max_chars: int = BATCH_CHARS
    ) -> Iterator[list[Row | Fault]]:
        table: list[Row | Fault] = []
        size = 0
        try:
            for row in self.rows():
                table.append(row)
                # Only strings count: they are what makes a row large.
                cells = [] if isinstance(row, Fault) else row.values()
                size += sum(len(cell) for cell in cells if isinstance(cell, str))
                if len(table) == BATCH_ROWS or size >= max_chars:
                    yield table
                    table, size = [], 0
        except TextError:
            if table:
                yield table
            raise
        if table:
            yield table

    def cells(self, table: list[Row | Fault], column: str) -> list[Any]:
        return [row if isinstance(row, Fault) else row.get(column, MISSING) for row in table]

    def full_rows(self, table: list[Row | Fault]) -> list[Row]:
        return [{} if isinstance(row, Fault) else row for row in table]

    def lines(self, errors: str) -> Iterator[str]:
        """The file's lines, each with its end. A line longer than MAX_ROW_CHARS is cut: its beginning comes
        as soon as it is read, and the rest is skipped. A CR alone is an end where the first line ends so.
        """
        with opened_source(self.source, self.name) as file:
            waiting, long, ends = "", False, None
            for text in decoded(
                unpacked(file, self.name), self.name, self.encoding or "", CHUNK_BYTES, errors
            ):
                self.bytes_read = file.tell()
                # A chunk may end between CR and LF; the CR waits for the next chunk.
                if waiting.endswith("\r"):  # its LF may follow
                    waiting, text = waiting[:-1], "\r" + text
                if ends is None and (first := _LINE_END.search(text)):
                    ends = _LINE_END if first[0] == "\r" else _LF
                start = 0
                for end in ends.finditer(text) if ends else ():
                    if not long:
                        yield waiting + text[start : end.end()]
                    waiting, long, start = "", False, end.end()
                waiting = text[-1:] if long else waiting + text[start:]
                if len(waiting) > MAX_ROW_CHARS:
                    yield waiting
                    # What was handed on is already too long to be a row: the rest of the line is not kept at
                    # all.
                    waiting, long = "", True
            if waiting and not long:
                yield waiting


_LINE_END, _LF = re.compile(r"\r\n|\n|\r(?!\Z)"), re.compile(r"\n")


class JsonLines(_Lines):
    """A JSON object a line, in UTF-8 unless `encoding` says otherwise. Empty lines are no rows."""

    format = "jsonl"

    def __init__(self, source: Source, name: str, encoding: str | None) -> None:
        super().__init__(source, name, encoding)
        first = self.full_rows(self._first)
        self.columns = tuple(islice(dict.fromkeys(chain.from_iterable(first)), MAX_COLUMNS))

    def all_columns(self) -> Sequence[str]:
        columns = dict[str, None]()
        with suppress(TextError):  # reported when the file is scored
            for row in self.rows():
                columns |= {} if isinstance(row, Fault) else dict.fromkeys(row)
        return tuple(columns)

    def rows(self) -> Iterator[Row | Fault]:
        # Bytes outside the encoding become half surrogates, by which `_row` knows them.
        for number, line in enumerate(self.lines("surrogateescape"), start=1):
            if line.strip(" \t\r\n\v\f"):
                yield self._row(line, number)

    def _row(self, line: str, number: int) -> Row | Fault:
        if len(line) > MAX_ROW_CHARS:
            return _too_long()
        try:
            # Half surrogates, which stand for bytes outside the encoding, can't be encoded again.
            line.encode()
            value = json.loads(line)
        except UnicodeEncodeError:
            encoding = str(self.encoding).upper()
            error = TextError("line {line:,} is not {encoding}", line=number, encoding=encoding)
        except (ValueError, RecursionError) as wrong:  # numbers of thousands of digits, too
            reason = "it is nested too deep" if isinstance(wrong, RecursionError) else str(wrong)
            error = TextError("line {line:,} is not JSON: {reason}", line=number, reason=reason)
        else:
            if isinstance(value, dict):
                return value
            error = TextError(
                "line {line:,} is {received}, where an object with named fields is expected",
                line=number,
                received=_json_type(value),
            )
        return Fault("broken", error)


class Csv(_Lines):
    """A head with the columns' names, then a record a row. The separator is , ; tab or |, as the first rows
    have it, or what Excel's first line says: sep=;
    """

    format = "csv"

    def _open(self, encoding: str | None) -> None:
        super()._open(encoding)
        if not packing(self.name):
            stream = open_text(self.source, encoding=encoding, name=self.name)
            self.encoding, self.certainty = stream.encoding, stream.certainty
        csv.field_size_limit(
            max(csv.field_size_limit(), MAX_ROW_CHARS)
        )  # a setting of the process: raised alone
        first, size = [], 0
        with suppress(TextError):  # damage is said where the rows before it are read
            for line in islice(self.lines("strict"), SAMPLE_ROWS):
                first.append(line)
                if (size := size + len(line)) > BATCH_CHARS:
                    break
        declared = re.fullmatch(r'"?sep=(.)"?[\r\n]*', first[0], re.IGNORECASE) if first else None
        self._before = 1 if declared else 0
        self._separator = (
            declared[1] if declared else "\t" if ".tsv" in self.name.lower() else _separator(first)
        )
        head = next(self._records(), [])
        if isinstance(head, Fault):
            raise TextError("{name} has no head of columns: {reason}", name=self.name, **head.error.values)
        self.columns = tuple(_distinct(head, self.name))

    def rows(self) -> Iterator[Row | Fault]:
        for record in islice(self._records(), 1, None):
            if isinstance(record, Fault):
                yield record
            elif len(record) == len(self.columns):
                yield dict(zip(self.columns, record, strict=True))
            else:
                yield Fault(
                    "broken",
                    TextError(
                        "it has {fields:,} fields, and the head of the file {columns:,}",
                        fields=len(record),
                        columns=len(self.columns),
                    ),
                )

    def _records(self) -> Iterator[list[str] | Fault]:
        """The head, then the records; an empty line is none."""
        lines = islice(self.lines("strict"), self._before, None)
        reader = csv.reader(map(self._bounded, lines), delimiter=self._separator)
        while True:
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Fault("broken", TextError("it is not CSV: {reason}", reason=error))
                continue
            if record:
                yield record

    def _bounded(self, line: str) -> str:
        if len(line) > MAX_ROW_CHARS:
            raise TextError(
                "{name} has a line longer than {most:,} characters; it is not a CSV file of texts",
                name=self.name,
                most=MAX_ROW_CHARS,
            )
        return line


def _separator(lines: Sequence[str]) -> str:
    """The separator by which most rows have as many fields as the head, and few fields begin with a blank."""

    def fit(separator: str) -> tuple[bool, float, int, int]:
        records: list[list[str]] = []
        with suppress(csv.Error):
            records += filter(None, csv.reader(lines, delimiter=separator))
        columns = len(records[0]) if records else 0
        alike = sum(len(record) == columns for record in records) / max(1, len(records))
        blanks = sum(field.startswith(" ") for record in records for field in record)
        return columns > 1 and alike > 1 / 2, alike, -blanks, columns

    # Of separators that fit equally well, fewer fields with a blank in front: a comma in prose has one after
    # it.
    return max(",;\t|", key=fit)


def _distinct(head: list[str], name: str) -> list[str]:
    """The columns' names, without blanks around; a second of the same name gets a number."""
    if len(head) > MAX_COLUMNS:
        raise TextError(
            "{name} has {columns:,} columns, and at most {most:,} are read; it is not a CSV file of texts",
            name=name,
            columns=len(head),
            most=MAX_COLUMNS,
        )
    names: dict[str, None] = {}
    for column in (c.strip() for c in head):
        number, unique = 1, column
        while unique in names:
            number += 1
            unique = f"{column} ({number})"
        names[unique] = None
    return list(names)


# Rows of Parquet files, a batch at a time.


BATCH_BYTES = 1 << 26
"""Bytes of a batch, about at most, by the sizes of the file's row groups."""

MAX_TEXT_BYTES = 1 << 28
"""Bytes of text that one batch may unpack to: a few kilobytes can stand for terabytes of the same text."""


def parquet_library() -> Any:
    """The module pyarrow. Raises ConfigError where it is missing."""
    try:
        import pyarrow
    except ImportError:
        raise ConfigError(
            "a Parquet file needs pyarrow: {command}, or write a .csv file", command=install("app")
        ) from None
    return pyarrow


def values(column: Any) -> list[Any]:
    """A column's values in Python.

    Texts that are not UTF-8, which Parquet allows, come as bytes. Values that Python lacks, such as a day
    after the year 9999, come as texts.
    """
    try:
        cells: list[Any] = column.to_pylist()
        return cells
    except (ValueError, OverflowError):
        return [_value(cell) for cell in column]


def _value(cell: Any) -> Any:
    pa = parquet_library()
    for kind in (cell.type, pa.binary(), pa.string()):
        try:
            return cell.cast(kind).as_py()
        except (pa.ArrowException, ValueError, OverflowError):
            pass
    return None


class Parquet(RowFile):
    """A Parquet file: tables are pyarrow's RecordBatches, and `schema` is pyarrow's."""

    format = "parquet"

    def _open(self, encoding: str | None) -> None:
        if encoding is not None:
            raise ConfigError(
                "a Parquet file has no encoding to name; received {encoding!r}", encoding=encoding
            )
        self.encoding = self.certainty = None
        with opened_source(self.source, self.name) as file:
            opened = self._parquet(file, ())
        self.schema, about = opened.schema_arrow, opened.metadata
        sizes = [about.row_group(n).total_byte_size for n in range(about.num_row_groups)]
        self.rows = max(1, about.num_rows)
        # Rows of a batch by the file's own sizes, unpacked: a group of long texts is read a few rows at a
        # time.
        self._at_once = int(max(1, min(BATCH_ROWS, BATCH_BYTES * self.rows / max(1, sum(sizes)))))
        self.columns = tuple(self.schema.names)

    def tables(
        self, columns: Sequence[str] = (), *, whole: bool = False, max_chars: int = BATCH_CHARS
    ) -> Iterator[Any]:
        columns = columns or [field.name for field in self.schema if _is_text(field.type)]
        done = 0
        with opened_source(self.source, self.name) as file:
            opened = self._parquet(file, columns)
            steps = opened.iter_batches(batch_size=self._at_once, columns=None if whole else list(columns))
            while True:
                with self._undamaged():
                    batch = next(steps, None)
                    if batch is None:
                        return
                    batch = self._plain(batch, columns)
                done += len(batch)
                self.bytes_read = self.bytes_total * done // self.rows
                yield batch

    def cells(self, table: Any, column: str) -> list[Any]:
        return values(table.column(column)) if table and column in table.schema.names else []

    def _parquet(self, file: BinaryIO, columns: Sequence[str]) -> Any:
        parquet_library()
        import pyarrow.parquet as pq

        with self._undamaged():
            # Texts stay dictionary-encoded until `_plain` knows their lengths: one text may stand for many.
            return pq.ParquetFile(file, read_dictionary=list(columns), pre_buffer=False)

    def _plain(self, batch: Any, columns: Sequence[str]) -> Any:
        """A batch with the dictionaries of `columns` decoded. Raises TextError above MAX_TEXT_BYTES."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for column in columns:
            n = batch.schema.get_field_index(column)
            coded = batch.column(n)
            # A column that is no dictionary has its true size in memory already.
            if not pa.types.is_dictionary(coded.type):
                continue
            lengths = pc.take(pc.binary_length(coded.dictionary), coded.indices)
            if (pc.sum(lengths.cast(pa.int64())).as_py() or 0) > MAX_TEXT_BYTES:
                raise TextError(
                    "{name} unpacks to more than {size} MB of text in {rows:,} rows; write it in another "
                    "form if that is meant",
                    name=self.name,
                    size=MAX_TEXT_BYTES >> 20,
                    rows=len(batch),
                )
            batch = batch.set_column(n, self.schema.field(column), coded.cast(self.schema.field(column).type))
        return batch

    @contextmanager
    def _undamaged(self) -> Iterator[None]:
        """Turn an error of pyarrow's inside the block into a TextError: the file is damaged."""
        try:
            yield
        except TextError:
            raise
        except (parquet_library().ArrowException, OSError, ValueError, MemoryError) as error:
            reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            raise TextError(
                "{name} is not a Parquet file, or it is damaged or cut off ({reason}); fetch or write it "
                "again",
                name=self.name,
                reason=reason,
            ) from None


def _is_text(kind: Any) -> bool:
    """Whether a pyarrow type holds texts, dictionary-encoded or not."""
    types = parquet_library().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


_READERS: dict[Format, type[RowFile]] = {"jsonl": JsonLines, "csv": Csv, "parquet": Parquet}


def open_rows(
    source: Source,
    *,
    column: str | Sequence[str] | None = None,
    context: str | None = None,
    separator: str | None = None,
    join: str | None = None,
    blanks: Blanks = "next",
    encoding: str | None = None,
    name: str | None = None,
    format: Format | None = None,
) -> RowFile:
    """A file of rows, by its path or as a seekable binary file.

    column    the column of the texts; several hold the regions of one text each, in order, where one that is
              null or missing is empty. A * stands for numbers: "region_*" for region_1, region_2, …
              None: found if only one column holds texts
    context   the column of the contexts, each read before its text and not counted
    separator  what parts the regions in the texts of one column; it isn't read
    join, blanks  what is read between regions, and for which it counts: `rnnviz.text.characters.joined`
    encoding  the file's encoding; None: found from the file
    name      stands for the file in messages
    format    by default as the name's ending says

    Raises TextError for a file that can't be read, ConfigError for an absent column, or if several may be
    meant.

    >>> import io
    >>> file = open_rows(io.BytesIO(b'{"id": 7, "text": "one"}'), name="rows.jsonl")
    >>> file.column, [rows.texts for rows in file.batches()]
    ('text', [['one']])
    """
    name = _called(source, name)
    format = format or format_of(name)
    if format is None:
        raise ConfigError(
            "{name} is not a file of rows by its ending; those end in {endings}, or .gz and .zst after the "
            "first four",
            name=name,
            endings=", ".join(ENDINGS),
        )
    file = _READERS[format](source, name, encoding)
    file.choose(column, context, separator=separator, join=join, blanks=blanks)
    return file

"""Rows of CSV, JSON Lines and Parquet files, and which of their columns holds the texts."""

import codecs
import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple

from rnnviz.errors import ConfigError, TextError, install
from rnnviz.text.decoding import CHUNK, Source, canonical, decoded, open_text, opened_source, size_of
from rnnviz.text.files import packing, unpacked

SAMPLE = 1000
"""Rows that the choice of a column looks at."""


def candidates(columns: Sequence[str], sample: Sequence[Mapping[str, Any]]) -> list[str]:
    """Those of `columns` that may hold texts, by the first rows of a file.

    That is the only one with strings; else those whose strings mostly look like a text rather than a name or
    a number, or all with strings if none does.

    >>> candidates(["id", "said"], [{"id": "a1", "said": "It is late."}])
    ['said']
    """
    strings: Counter[str] = Counter()
    prose: Counter[str] = Counter()
    for row in sample:
        for column in columns:
            if isinstance(value := row.get(column), str) and value.strip():
                strings[column] += 1
                prose[column] += _is_prose(value)
    found = [c for c in columns if strings[c]]
    if len(found) > 1:
        found = [c for c in found if 2 * prose[c] > strings[c]] or found
    return found


def _is_prose(value: str) -> bool:
    """Whether it may be a text rather than a name or a number: with a blank inside, or beyond ASCII."""
    return not value.isascii() or len(value.split(None, 2)) > 1


def listed(columns: Sequence[str]) -> str:
    """The names of columns, for a sentence."""
    shown = ", ".join(repr(c if len(c) <= 40 else c[:40] + "…") for c in columns[:10])
    return f"{shown} …" if len(columns) > 10 else shown or "none"


# Rows of JSON Lines and CSV files, one at a time: a bad one costs itself alone.


LONGEST = 1 << 24
"""Characters of a row's text at most, and bytes of its line."""

FIELDS = 1000
"""Columns of a CSV file at most, and those of JSON Lines that are offered."""

Row = dict[str, Any]


class Fault(NamedTuple):
    """Why a row can't be scored: `kind` is what such rows are counted under."""

    kind: str
    error: TextError


class Lines:
    """The rows of one file, from its beginning at each iteration; `bytes_read` of the file as it lies."""

    def __init__(self, source: Source, name: str, encoding: str | None) -> None:
        self.source, self.name, self.bytes_read = source, name, 0
        self.encoding = canonical(encoding or "utf-8")
        self.certainty: str | None = "verified" if encoding is None else "declared"


class JsonLines(Lines):
    """A JSON object a line, in UTF-8 unless `encoding` says otherwise. Empty lines are no rows."""

    def __init__(self, source: Source, name: str, encoding: str | None) -> None:
        super().__init__(source, name, encoding)
        if "\n".encode(self.encoding) != b"\n":
            raise ConfigError(
                "JSON Lines are read in UTF-8 or an encoding that writes a line end as one byte; received "
                "{encoding!r}: save {name} as UTF-8",
                encoding=encoding,
                name=name,
            )

    def __iter__(self) -> Iterator[Row | Fault]:
        with opened_source(self.source, self.name) as file:
            for number, line in enumerate(_byte_lines(unpacked(file, self.name)), start=1):
                self.bytes_read = file.tell()
                if isinstance(line, Fault):
                    yield line
                elif not line.isspace():
                    yield self._row(line.removeprefix(codecs.BOM_UTF8) if number == 1 else line, number)

    def _row(self, line: bytes, number: int) -> Row | Fault:
        try:
            value = json.loads(line.decode(self.encoding))
        except UnicodeDecodeError as error:
            return Fault(
                "broken",
                TextError("line {line:,} is not {encoding}", line=number, encoding=error.encoding.upper()),
            )
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits, too
            reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
            return Fault(
                "broken", TextError("line {line:,} is no JSON: {reason}", line=number, reason=reason)
            )
        if not isinstance(value, dict):
            return Fault(
                "broken",
                TextError(
                    "line {line:,} is {received}, where an object with named fields is expected",
                    line=number,
                    received=json_type(value),
                ),
            )
        return value


def json_type(value: object) -> str:
    """What JSON calls the type of a value, with its article."""
    names = {type(None): "null", bool: "true or false", int: "a number", float: "a number"}
    names |= {str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)


def _byte_lines(file: BinaryIO) -> Iterator[bytes | Fault]:
    """The lines of a file; of one too long for a row only that it is."""
    while line := file.readline(LONGEST):
        if len(line) == LONGEST and not line.endswith(b"\n"):
            while (rest := file.readline(CHUNK)) and not rest.endswith(b"\n"):
                pass
            yield too_long()
        else:
            yield line


def too_long() -> Fault:
    """The fault of a row whose text or line is longer than LONGEST."""
    return Fault(
        "long",
        TextError("it is longer than {most:,} characters; score it as a file of its own", most=LONGEST),
    )


class Csv(Lines):
    """A head with the columns' names, then a row a record; the head tells whether , ; tab or | parts them."""

    def __init__(self, source: Source, name: str, encoding: str | None) -> None:
        super().__init__(source, name, encoding)
        if not packing(name):
            stream = open_text(source, encoding=encoding, name=name)
            self.encoding, self.certainty = stream.encoding, stream.certainty
        head = next(self._records(), [])
        if isinstance(head, Fault):
            raise TextError("{name} has no head of columns: {reason}", name=name, **head.error.values)
        self.columns = tuple(_distinct(head, name))

    def __iter__(self) -> Iterator[Row | Fault]:
        for record in islice(self._records(), 1, None):
            if isinstance(record, Fault):
                yield record
            elif len(record) != len(self.columns):
                yield Fault(
                    "broken",
                    TextError(
                        "it has {fields:,} fields, and the head of the file {columns:,}",
                        fields=len(record),
                        columns=len(self.columns),
                    ),
                )
            else:
                yield dict(zip(self.columns, record, strict=True))

    def _records(self) -> Iterator[list[str] | Fault]:
        """The head, then the records; an empty line is none."""
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
        lines = self._lines()
        first = next(lines, "")
        reader = csv.reader(chain([first], lines), delimiter=_delimiter(first, self.name))
        while True:
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Fault("broken", TextError("it is no CSV: {reason}", reason=error))
                continue
            if record:
                yield record

    def _lines(self) -> Iterator[str]:
        waiting = ""
        for chunk in self._chunks():
            pieces = (waiting + chunk).split("\n")
            yield from (f"{piece}\n" for piece in pieces[:-1])
            waiting = pieces[-1]
            if len(waiting) > LONGEST:
                raise TextError(
                    "{name} has a line longer than {most:,} characters; it is no CSV file of texts",
                    name=self.name,
                    most=LONGEST,
                )
        if waiting:
            yield waiting

    def _chunks(self) -> Iterator[str]:
        with opened_source(self.source, self.name) as file:
            for text in decoded(unpacked(file, self.name), self.name, self.encoding, CHUNK):
                self.bytes_read = file.tell()
                yield text


def _delimiter(head: str, name: str) -> str:
    """What parts the fields of the first line, outside quotes."""
    if ".tsv" in name.lower():
        return "\t"
    outside = "".join(head.split('"')[::2])
    return max(",;\t|", key=outside.count)


def _distinct(head: list[str], name: str) -> list[str]:
    """The columns' names, without blanks around; a second of the same name gets a number."""
    if len(head) > FIELDS:
        raise TextError(
            "{name} has {columns:,} columns, and at most {most:,} are read; it is no CSV file of texts",
            name=name,
            columns=len(head),
            most=FIELDS,
        )
    found: dict[str, None] = {}
    for column in (c.strip() for c in head):
        number, unique = 1, column
        while unique in found:
            number += 1
            unique = f"{column} ({number})"
        found[unique] = None
    return list(found)


# Rows of Parquet files, a batch at a time.


ROWS = 1024
"""Rows of a batch at most."""

BYTES = 1 << 26
"""Bytes of a batch about at most, by what the file says of its row groups."""

MOST = 1 << 28
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
    """A column's values; the bytes of texts that are not UTF-8, which Parquet doesn't rule out, and as texts
    what Python has no value for, such as a day after the year 9999.
    """
    try:
        found: list[Any] = column.to_pylist()
        return found
    except (ValueError, OverflowError):
        return [_value(cell) for cell in column]


def _value(cell: Any) -> Any:
    pa = parquet_library()
    try:
        return cell.as_py()
    except (ValueError, OverflowError):
        if hasattr(cell, "as_buffer"):
            return cell.as_buffer().to_pybytes()
    try:
        return cell.cast(pa.string()).as_py()
    except (pa.ArrowException, ValueError):
        return None


class Parquet:
    """The batches of one file. `schema` is pyarrow's, `texts` the names of its columns of texts."""

    encoding: str | None = None
    certainty: str | None = None

    def __init__(self, source: Source, name: str) -> None:
        self.source, self.name, self.bytes_read = source, name, 0
        self._pa = parquet_library()
        with opened_source(source, name) as file:
            self._bytes = size_of(file, name)
            opened = self._open(file, ())
            self.schema = opened.schema_arrow
            about = opened.metadata
        self.rows = about.num_rows
        self._row_bytes = sum(about.row_group(n).total_byte_size for n in range(about.num_row_groups)) / max(
            1, self.rows
        )
        self.texts = tuple(field.name for field in self.schema if self._is_text(field.type))
        self.columns = tuple(self.schema.names)

    def batches(self, columns: Sequence[str], *, whole: bool) -> Iterator[Any]:
        """RecordBatches of `columns`, or of all columns; these `columns` as texts that are no longer coded.

        Raises TextError where the file is damaged, or unpacks to more than MOST bytes a batch.
        """
        size = int(max(1, min(ROWS, BYTES / max(1.0, self._row_bytes))))
        done = 0
        with opened_source(self.source, self.name) as file:
            opened = self._open(file, columns)
            steps = opened.iter_batches(batch_size=size, columns=None if whole else list(columns))
            while True:
                try:
                    batch = next(steps, None)
                    if batch is None:
                        return
                    batch = self._plain(batch, columns)
                except TextError:
                    raise
                except (self._pa.ArrowException, OSError, ValueError, MemoryError) as error:
                    raise self._damaged(error) from None
                done += len(batch)
                self.bytes_read = int(self._bytes * done / max(1, self.rows))
                yield batch

    def _open(self, file: Any, columns: Sequence[str]) -> Any:
        import pyarrow.parquet as pq

        try:
            # Texts stay coded until it is known how long they are.
            return pq.ParquetFile(file, read_dictionary=list(columns), pre_buffer=False)
        except (self._pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(error) from None

    def _plain(self, batch: Any, columns: Sequence[str]) -> Any:
        import pyarrow.compute as pc

        for column in columns:
            n = batch.schema.get_field_index(column)
            coded = batch.column(n)
            if not self._pa.types.is_dictionary(coded.type):
                continue
            lengths = pc.take(pc.binary_length(coded.dictionary), coded.indices)
            if (pc.sum(lengths.cast(self._pa.int64())).as_py() or 0) > MOST:
                raise TextError(
                    "{name} unpacks to more than {size} MB of text in {rows:,} rows; write it in another "
                    "form if that is meant",
                    name=self.name,
                    size=MOST >> 20,
                    rows=len(batch),
                )
            batch = batch.set_column(n, self.schema.field(column), coded.cast(self.schema.field(column).type))
        return batch

    def _damaged(self, error: Exception) -> TextError:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        return TextError(
            "{name} is no Parquet file, or it is damaged or cut off ({reason}); fetch or write it again",
            name=self.name,
            reason=reason,
        )

    def _is_text(self, kind: Any) -> bool:
        types = self._pa.types
        if types.is_dictionary(kind):
            kind = kind.value_type
        return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))

"""Rows of JSON Lines and CSV files, one at a time: a bad one costs itself alone."""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from rnnviz.errors import ConfigError, DecodingError, TextError
from rnnviz.text.decoding import CHUNK, Source, canonical, open_text, opened_source
from rnnviz.text.packed import packing, unpacked

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
        self.encoding: str | None = encoding or "utf-8"
        self.certainty: str | None = "verified" if encoding is None else "declared"

    def __iter__(self) -> Iterator[Row | Fault]:
        raise NotImplementedError


class JsonLines(Lines):
    """A JSON object a line, in UTF-8 unless `encoding` says otherwise. Empty lines are no rows."""

    def __init__(self, source: Source, name: str, encoding: str | None) -> None:
        super().__init__(source, name, encoding and canonical(encoding))
        if "\n".encode(self.encoding or "utf-8") != b"\n":
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
            value = json.loads(line.decode(self.encoding or "utf-8"))
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
        self.columns = tuple(self._head())

    def _head(self) -> list[str]:
        for head, _ in self._records():
            return head
        return []

    def __iter__(self) -> Iterator[Row | Fault]:
        for head, record in self._records():
            if record is None:
                continue
            if isinstance(record, Fault):
                yield record
            elif len(record) != len(head):
                yield Fault(
                    "broken",
                    TextError(
                        "it has {fields:,} fields, and the head of the file {columns:,}",
                        fields=len(record),
                        columns=len(head),
                    ),
                )
            else:
                yield dict(zip(head, record, strict=True))

    def _records(self) -> Iterator[tuple[list[str], list[str] | Fault | None]]:
        """The head, alone first, then with each record."""
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
        lines = self._lines()
        first = next(lines, "")
        reader = csv.reader(_with_first(first, lines), delimiter=_delimiter(first, self.name))
        head: list[str] | None = None
        while True:
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                fault = Fault("broken", TextError("it is no CSV: {reason}", reason=error))
                if head is None:
                    raise TextError(
                        "{name} has no head of columns: {reason}", name=self.name, reason=error
                    ) from None
                yield head, fault
                continue
            if head is None:
                head = _distinct(record, self.name)
                yield head, None
            elif record:  # an empty line is no row
                yield head, record

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
        if not packing(self.name):
            stream = open_text(self.source, encoding=self.encoding, name=self.name)
            for text in stream:
                self.bytes_read = stream.bytes_read
                yield text
            return
        decoder = codecs.getincrementaldecoder(self.encoding or "utf-8")()
        with opened_source(self.source, self.name) as file:
            content, first = unpacked(file, self.name), True
            try:
                while data := content.read(CHUNK):
                    self.bytes_read = file.tell()
                    text = decoder.decode(data)
                    yield text.removeprefix("\ufeff") if first else text
                    first = False
                yield decoder.decode(b"", True)
            except UnicodeDecodeError as error:
                raise DecodingError(
                    "{name} is not {encoding} ({reason}); name its encoding, or save it as UTF-8",
                    name=self.name,
                    encoding=self.encoding,
                    reason=error.reason,
                ) from None


def _with_first(first: str, rest: Iterator[str]) -> Iterator[str]:
    if first:
        yield first
    yield from rest


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

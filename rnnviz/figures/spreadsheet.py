"""Tables as CSV, safe to open in a spreadsheet: it would compute a file's name that begins like a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any, TextIO

FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""What a formula begins with, for one spreadsheet or another; in full width in East Asian ones."""


def cell(value: object) -> object:
    """`value` with an apostrophe in front if it is text that a spreadsheet would compute. One character alone
    is no formula, and stays as it was read.

    >>> cell("=1+1"), cell("="), cell(-1.5), cell("a=1")
    ("'=1+1", '=', -1.5, 'a=1')
    """
    return f"'{value}" if isinstance(value, str) and len(value) > 1 and value.startswith(FORMULA) else value


def write(out: TextIO | IO[str], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as CSV, a row at a time."""
    add(out, [columns])
    add(out, rows)


def add(out: TextIO | IO[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows of a table."""
    csv.writer(out, lineterminator="\n").writerows(map(cell, row) for row in rows)


def of(rows: Sequence[Mapping[str, Any]]) -> str:
    """The CSV of at least one row, headed by its names.

    >>> of([{"file": "@x", "perplexity": 4.5}])
    "file,perplexity\\n'@x,4.5\\n"
    """
    out = io.StringIO()
    write(out, list(rows[0]), (list(row.values()) for row in rows))
    return out.getvalue()

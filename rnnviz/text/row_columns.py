"""Which column of a file of rows holds the texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rnnviz.errors import ConfigError

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


def only_text(name: str, columns: Sequence[str], sample: Sequence[Mapping[str, Any]]) -> str:
    """The one of `columns` that may hold the texts of the file called `name`. Raises ConfigError if there is
    none, or more than one.
    """
    found = candidates(columns, sample)
    if len(found) == 1:
        return found[0]
    if not found:
        raise ConfigError(
            "{name} has no column of texts; it has {columns}. Score it as one text, or name another file",
            name=name,
            columns=_listed(columns),
        )
    raise ConfigError(
        "{name} has more than one column of texts: {columns}; say which with --column (column=… in Python)",
        name=name,
        columns=_listed(found),
    )


def no_column(name: str, column: str, columns: Sequence[str]) -> ConfigError:
    """What to raise where the file called `name` hasn't got the column asked for."""
    return ConfigError(
        "{name} has no column {column!r}; it has {columns}",
        name=name,
        column=column,
        columns=_listed(columns),
    )


def _is_prose(value: str) -> bool:
    """Whether it may be a text rather than a name or a number: with a blank inside, or beyond ASCII."""
    return not value.isascii() or len(value.split(None, 2)) > 1


def _listed(columns: Sequence[str]) -> str:
    shown = ", ".join(repr(c if len(c) <= 40 else c[:40] + "…") for c in columns[:10])
    return f"{shown} …" if len(columns) > 10 else shown or "none"

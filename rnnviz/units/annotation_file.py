"""Annotations of one's own: labelled spans of a text, from a CSV or JSON file.

    start,stop,label            [{"start": 0, "stop": 12, "label": "title"},
    0,12,title                   {"start": 40, "stop": 43, "label": "name"}]
    40,43,name

Characters are counted from 0, in the text with LF line ends, and `stop` is the first one after the span.
Spans may overlap; each label is a track of its own.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from rnnviz.errors import ConfigError
from rnnviz.text.decoding import Source, open_text
from rnnviz.units.targets import Target

NAMES = ("start", "stop", "label")

LABELS = 32
"""Different labels at most."""

LONGEST = 60
"""Characters of a label at most."""


def read_annotations(source: Source, length: int) -> list[Target]:
    """The tracks of a file, in the order in which their labels first occur, each (length,) bool.

    `source` is a path or an open file, `length` that of the text in characters. Raises TextError for an
    unreadable file, ConfigError for one of another form, spans outside the text and too many or too long
    labels, all with the row: the first span is number 1.

    >>> import io
    >>> found = read_annotations(io.BytesIO(b"start,stop,label\\n0,2,verb\\n3,5,noun\\n5,6,verb\\n"), 8)
    >>> [(track.name, track.spans()) for track in found]
    [('verb', [(0, 2), (5, 6)]), ('noun', [(3, 5)])]
    """
    text = "".join(open_text(source)).removeprefix("\ufeff")
    tracks: dict[str, Target] = {}
    for number, row in enumerate(_rows(text), 1):
        start, stop, label = _checked(row, number, length)
        if label not in tracks:
            if len(tracks) == LABELS:
                raise ConfigError(
                    "annotation {number:,} has a label more than the {most} that there may be: {label!r}",
                    number=number,
                    most=LABELS,
                    label=label,
                )
            tracks[label] = Target(label, np.zeros(length, np.bool_))
        tracks[label].values[start:stop] = True
    if not tracks:
        raise ConfigError("the annotations have no span; write a row for each: start, stop, label")
    return list(tracks.values())


def _rows(text: str) -> Iterator[dict[str, Any]]:
    """Each span as its file has it. Raises ConfigError."""
    if text.lstrip().startswith(("[", "{")):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ConfigError("the annotations are no JSON: {reason}", reason=error) from None
        if not isinstance(found, list):
            raise ConfigError("annotations in JSON are a list of objects with start, stop and label")
        for number, row in enumerate(found, 1):
            if not isinstance(row, dict):
                raise ConfigError(
                    "annotation {number:,} is no object with start, stop and label", number=number
                )
            yield row
        return
    rows = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
    try:
        missing = [name for name in NAMES if name not in (rows.fieldnames or ())]
        if missing:
            raise ConfigError(
                "the first line of annotations names the columns start, stop and label; it has no {missing}",
                missing=", ".join(missing),
            )
        yield from rows
    except csv.Error as error:
        raise ConfigError("the annotations are no CSV: {reason}", reason=error) from None


def _checked(row: dict[str, Any], number: int, length: int) -> tuple[int, int, str]:
    """Start, stop and label. Raises ConfigError."""
    start, stop = (_whole(row.get(name), name, number) for name in NAMES[:2])
    if not 0 <= start < stop <= length:
        raise ConfigError(
            "annotation {number:,} goes from {start:,} to {stop:,}; a span is not empty and lies within the "
            "text of {length:,} characters",
            number=number,
            start=start,
            stop=stop,
            length=length,
        )
    label = row.get("label")
    if not isinstance(label, str) or not 1 <= len(label.strip()) <= LONGEST:
        raise ConfigError(
            "annotation {number:,} needs a label of 1 to {longest} characters", number=number, longest=LONGEST
        )
    return start, stop, label.strip()


def _whole(value: Any, name: str, number: int) -> int:
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 20:
        return int(value)
    if type(value) is int:
        return value
    raise ConfigError(
        "annotation {number:,} has no whole number as its {name}; received {value!r}",
        number=number,
        name=name,
        value=value if value is None or len(str(value)) < 40 else str(value)[:39] + "…",
    )

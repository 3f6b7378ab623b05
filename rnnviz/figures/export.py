"""Export a scored text: as a table of its characters, or a self-contained page.

The table has one row a character:

    position    1 for the first character
    character   as it was read, after normalising
    code_point  the same as a number
    nll         -log P in nats, an unknown character's whole cost included: exp of its mean is the perplexity
    rank        1 if the most probable symbol came; an unknown character ranks as <unk>
    entropy     in nats, of the prediction before the character came
    known       whether the character is in the model's vocabulary
    index       0 for the first character, as positions count everywhere else in rnnviz

Everything streams, in constant memory. A file that isn't completed keeps its previous content.
"""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError, ExportError
from rnnviz.text.row_parquet import parquet_library as parquet_library
from rnnviz.text.vocabulary import code_points

if TYPE_CHECKING:
    from rnnviz.reading.scoring import Piece, Report
    from rnnviz.reports.column_files import ColumnFiles
    from rnnviz.reports.record import Record

Format = Literal["csv", "parquet"]
Target = str | os.PathLike[str] | BinaryIO

FORMATS: tuple[Format, ...] = ("csv", "parquet")
COLUMNS = ("position", "character", "code_point", "nll", "rank", "entropy", "known", "index")
ROWS = 1 << 16  # characters written at a time: one row group of a Parquet file


class _Rows(NamedTuple):
    """A stretch of the table: n characters after the first `start`; arrays (n,)."""

    start: int
    points: npt.NDArray[np.uint32]
    nll: npt.NDArray[np.floating[Any]]
    rank: npt.NDArray[np.int32] | None
    entropy: npt.NDArray[np.float32] | None
    known: npt.NDArray[np.bool_]


def per_character(source: Iterable[Piece] | Record, target: Target, format: Format | None = None) -> int:
    """Write the table of a scored text to a path or a binary file; returns the number of rows.

    `source` is a Record, or `scoring.pieces`; without `details` ranks and entropies stay empty. `format` is
    "csv" or "parquet", by default the path's ending, or CSV. Raises ConfigError for an unknown format or
    missing pyarrow, ExportError if writing fails, and what scoring raises.
    """
    write = _WRITERS[_format(target, format)]
    with replacing(target) as file:
        return write(_rows(source), file)


def html(
    record: Record, report: Report, target: Target, *, translate: Callable[[str], str] = str, **options: Any
) -> None:
    """Write the page of `rnnviz.figures.page`, with its `options`. Raises ExportError if that fails."""
    from rnnviz.figures.page import page

    with replacing(target) as file:
        for part in page(record, report, translate=translate, **options):
            # A file's name may hold bytes that are no text: half surrogates here.
            file.write(part.encode("utf-8", "backslashreplace"))


LONGEST_NAME = 240  # bytes; most systems take 255, and what is being written has a longer one


def check(target: str | os.PathLike[str], formats: tuple[str, ...] = FORMATS) -> None:
    """Raise early what writing to this path would raise after minutes of scoring."""
    path = Path(target)
    if formats == FORMATS and _format(path, None) == "parquet":
        parquet_library()
    if (
        os.path.isdir(path)
        or not os.path.isdir(path.absolute().parent)
        or len(os.fsencode(path.name)) > LONGEST_NAME
    ):
        raise ExportError(
            "{path} can't be written: there is no folder for it, or its name is too long; make one or name "
            "another file",
            path=path,
        )


def _format(target: Target, format: str | None) -> Format:
    if format is None:
        if not isinstance(target, str | os.PathLike):
            return "csv"
        format = Path(target).suffix.lower().removeprefix(".")
    if format not in FORMATS:
        raise ConfigError(
            "a table of characters is csv or parquet; received {format!r}", format=format or str(target)
        )
    return format


def _rows(source: Iterable[Piece] | Record) -> Iterator[_Rows]:
    from rnnviz.reports.column_files import ColumnFiles

    yield from _rows_of_record(source) if isinstance(source, ColumnFiles) else _joined(source)


def _rows_of_record(record: ColumnFiles) -> Iterator[_Rows]:
    for start in range(0, len(record), ROWS):
        stop = min(start + ROWS, len(record))
        yield _Rows(
            start,
            record.read("codes", start, stop),
            record.read("nll", start, stop),
            record.ranks(start, stop),
            record.read("entropy", start, stop),
            record.known(start, stop),
        )


def _joined(pieces: Iterable[Piece]) -> Iterator[_Rows]:
    waiting: list[Piece] = []
    for piece in pieces:
        waiting.append(piece)
        if sum(len(p.nll) for p in waiting) >= ROWS:
            yield _join(waiting)
            waiting = []
    if waiting:
        yield _join(waiting)


def _join(pieces: list[Piece]) -> _Rows:
    ranks = [p.rank for p in pieces if p.rank is not None]
    entropies = [p.entropy for p in pieces if p.entropy is not None]
    return _Rows(
        pieces[0].start,
        code_points("".join(p.text for p in pieces)),
        np.concatenate([p.nll for p in pieces]),
        np.concatenate(ranks) if len(ranks) == len(pieces) else None,
        np.concatenate(entropies) if len(entropies) == len(pieces) else None,
        np.concatenate([p.known for p in pieces]),
    )


def _write_csv(stretches: Iterator[_Rows], file: BinaryIO) -> int:
    out = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    try:
        # Of all cells the characters alone are text, and one character is no formula for a spreadsheet.
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        count = 0
        for rows in stretches:
            n = len(rows.points)
            writer.writerows(
                zip(
                    range(rows.start + 1, rows.start + n + 1),
                    map(chr, rows.points.tolist()),
                    rows.points.tolist(),
                    digits(rows.nll),
                    [""] * n if rows.rank is None else rows.rank.tolist(),
                    [""] * n if rows.entropy is None else digits(rows.entropy),
                    rows.known.tolist(),
                    range(rows.start, rows.start + n),
                    strict=True,
                )
            )
            count += n
        return count
    finally:
        out.detach()  # the file is its owner's to close


def digits(values: npt.NDArray[np.floating[Any]]) -> list[str]:
    """The shortest digits that give each value back at its own precision."""
    return [str(value) for value in values.astype("U32")]


def _write_parquet(stretches: Iterator[_Rows], file: BinaryIO) -> int:
    pa = parquet_library()
    import pyarrow.parquet as pq

    first = next(stretches, None)
    nll = pa.float64() if first is None or first.nll.dtype == np.float64 else pa.float32()
    kinds = (pa.int64(), pa.string(), pa.int32(), nll, pa.int32(), pa.float32(), pa.bool_(), pa.int64())
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
    count = 0
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for rows in () if first is None else chain([first], stretches):
            n = len(rows.points)
            values: tuple[Any, ...] = (
                np.arange(rows.start + 1, rows.start + n + 1),
                [chr(point) for point in rows.points.tolist()],
                rows.points.astype(np.int32),
                rows.nll,
                rows.rank,
                rows.entropy,
                rows.known,
                np.arange(rows.start, rows.start + n),
            )
            arrays = [
                pa.nulls(n, kind) if value is None else pa.array(value, kind)
                for value, kind in zip(values, kinds, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=max(n, 1))
            count += n
    return count


_WRITERS: dict[Format, Callable[[Iterator[_Rows], BinaryIO], int]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
}


@contextmanager
def replacing(target: Target) -> Iterator[BinaryIO]:
    """The file to write to. A path gets its new content once all of it is written, else keeps its old."""
    if not isinstance(target, str | os.PathLike):
        yield target
        return
    path = Path(target)
    temporary: str | None = None
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as device:  # /dev/stdout, or a pipe: nothing to replace
                yield device
            return
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = file.name
            yield file  # type: ignore[misc]  # a BinaryIO in all but name
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
        temporary = None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ExportError(
            "{path} can't be written: {strerror}; free some space or choose another folder",
            path=path,
            strerror=error.strerror or error,
        ) from None
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)

"""Rows of Parquet files, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rnnviz.errors import ConfigError, TextError, install
from rnnviz.text.decoding import Source, opened_source, size_of

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

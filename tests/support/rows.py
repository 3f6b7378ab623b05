"""Rows of a table as files of every kind, and their scores."""

import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rnnviz.scoring.perplexity import LanguageModel
from rnnviz.scoring.rows import RowScore, score_rows
from rnnviz.scoring.score import RowsScore
from rnnviz.text import row_files
from rnnviz.text.row_files import RowFile, open_rows


def row_file(rows: Sequence[Any], **options: Any) -> row_files.RowFile:
    data = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    return open_rows(io.BytesIO(data.encode()), name="rows.jsonl", column="text", **options)


def score_file_rows(
    model: LanguageModel, file: row_files.RowFile, **options: Any
) -> tuple[list[RowScore], RowsScore]:
    scores: list[RowScore] = []
    score = score_rows(model, file, on_batch=lambda batch: scores.extend(batch.scores), **options)
    return scores, score


ROWS = [{"id": n, "text": f"row {n} — ü", "label": "ab"[n % 2]} for n in range(5)]


def json_lines(rows: Iterable[Any]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


def comma(rows: Iterable[dict[str, Any]], delimiter: str = ",") -> bytes:
    rows = list(rows)
    return "\r\n".join(delimiter.join(map(str, r)) for r in [rows[0], *(r.values() for r in rows)]).encode()


def parquet(rows: list[dict[str, Any]], **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out, **options)
    return out.getvalue()


def zstandard(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


def opened_rows(data: bytes, name: str, **options: Any) -> RowFile:
    return open_rows(io.BytesIO(data), name=name, **options)

"""Record: a scored text of any length, with its columns on disk.

`rnnviz.scoring.column_files` describes the files, which only their owner can read. A cancelled or failed
record leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from rnnviz.arrays import Array, Doubles
from rnnviz.errors import TextError
from rnnviz.networks.progress import Progress
from rnnviz.scoring import breakdown
from rnnviz.scoring.breakdown import surprising_passages
from rnnviz.scoring.column_files import COLUMNS, SUM_BLOCK_CHARS, ColumnFiles, filename
from rnnviz.scoring.language_model import LanguageModel
from rnnviz.scoring.perplexity import Piece, score
from rnnviz.scoring.score import Score
from rnnviz.scoring.totals import Sum
from rnnviz.text.decoding import Source
from rnnviz.text.files import private
from rnnviz.text.vocabulary import code_points


class Record(ColumnFiles):
    """Every character's cost, in the files of `folder`, and the text's Score; `record` makes one."""

    def __init__(self, folder: str | os.PathLike[str], score: Score) -> None:
        super().__init__(folder)
        self.score = score

    curve = breakdown.curve
    surprising_passages = surprising_passages
    lines = breakdown.lines
    unknown_counts = breakdown.unknown_counts


def record(
    model: LanguageModel,
    path: Source | None,
    folder: str | os.PathLike[str],
    *,
    text: str | None = None,
    encoding: str | None = None,
    name: str | None = None,
    precise: bool = False,
    piece_chars: int | None = None,
    max_characters: int | None = None,
    must_stop: Callable[[], bool] = lambda: False,
    progress: Progress | None = None,
) -> Record:
    """Score a text into a new `folder`. Arguments and errors are as in `score`. Raises TextError for a folder
    that can't be made or written.
    """
    target = Path(folder)
    with _writing(target):
        # For its owner alone: a text may be confidential.
        target.mkdir(mode=0o700, parents=True)  # fails for an existing folder, which isn't ours to fill
    try:
        with _writing(target), contextlib.ExitStack() as stack:
            files = {c: stack.enter_context(private(target / filename(c))) for c in COLUMNS}
            writer = _Writer(files)
            result = score(
                model,
                path,
                text=text,
                encoding=encoding,
                name=name,
                on_piece=writer.add,
                precise=precise,
                piece_chars=piece_chars,
                max_characters=max_characters,
                must_stop=must_stop,
                progress=progress,
            )
            writer.finish()
        return Record(target, result)
    except BaseException:  # Cancelled, too
        shutil.rmtree(target, ignore_errors=True)
        raise


class _Writer:
    """Writes pieces, and the sums of every block of 1,024 costs."""

    def __init__(self, files: Mapping[str, BinaryIO]) -> None:
        self._files = files
        self._total, self._rest = Sum(), np.empty(0)
        self._write("sums", np.zeros(1))

    def add(self, piece: Piece) -> None:
        assert piece.rank is not None
        assert piece.entropy is not None
        self._write("codes", code_points(piece.text))
        nll = piece.nll.astype(COLUMNS["nll"])
        self._write("nll", nll)
        # The sign says whether a character is known, which needs no column of its own.
        self._write("rank", np.where(piece.is_known, piece.rank, -piece.rank))
        self._write("entropy", piece.entropy)
        # Sums of the costs as they are stored: a stretch's sum is then that of its rows, to the last digit.
        costs = np.concatenate([self._rest, nll.astype(np.float64)])
        # Costs after the last whole block wait for the next piece.
        whole = len(costs) // SUM_BLOCK_CHARS * SUM_BLOCK_CHARS
        self._add_sums(costs[:whole].reshape(-1, SUM_BLOCK_CHARS))
        self._rest = costs[whole:]

    def finish(self) -> None:
        """Write the whole text's sum, which seldom ends with a block."""
        if len(self._rest):
            self._add_sums(self._rest[None])

    def _add_sums(self, rows: Doubles) -> None:
        for value in rows.sum(axis=1).tolist():
            self._total.add(value)
            self._write("sums", np.array([self._total.value]))

    def _write(self, column: str, values: Array) -> None:
        self._files[column].write(values.astype(COLUMNS[column]).tobytes())


@contextlib.contextmanager
def _writing(target: Path) -> Iterator[None]:
    # Reading the text raises TextErrors, so an OSError comes from writing the record.
    try:
        yield
    except OSError as error:
        raise TextError(
            "the record {target} can't be written ({strerror}); make room there, or choose another folder",
            target=target,
            strerror=error.strerror or error,
        ) from None

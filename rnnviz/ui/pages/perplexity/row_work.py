"""The page's jobs on files of rows."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from rnnviz.figures.row_table import FORMATS, RowTable, kinds
from rnnviz.networks.progress import mapped
from rnnviz.reading.rows import Scored, score_rows
from rnnviz.reports.score import RowsScore
from rnnviz.text.row_files import format_of, open_rows
from rnnviz.ui import model_cache
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Check, Step, Steps
from rnnviz.ui.pages.perplexity.work import step_of

if TYPE_CHECKING:
    from rnnviz.networks.checkpoint import ModelInfo
    from rnnviz.text.decoding import Source
    from rnnviz.ui.pages.perplexity.text import Text

SHOWN = 1000  # rows that the page lists
BEGINNING = 120  # characters of each


@dataclass(frozen=True)
class Listed:
    """One row of the page's table; a row that was left out has an `error` and no perplexity."""

    row: int
    perplexity: float | None
    characters: int
    unknown: int
    beginning: str
    error: str


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RowsScored(RowsScore):
    """A file's figures, its first rows, and the `folder` with all of them in each of FORMATS."""

    listed: tuple[Listed, ...]
    folder: Path

    @property
    def complete(self) -> bool:
        """Whether the tables are still there; they may have had to make room for others."""
        return self.folder.is_dir()

    def written(self, format: str) -> bytes:
        """All rows, each with its figures."""
        return (self.folder / f"scored.{format}").read_bytes()


def key_of(info: ModelInfo, text: Text, column: str, given: str | None) -> Key:
    """The key of a file's results by the model of this file."""
    return text.key("rows", model_cache.digest(info), column, given)


def scoring(info: ModelInfo, text: Text, column: str, given: str | None, check: Check) -> Steps[RowsScored]:
    """Score the rows of a file under a model; the result is stored."""
    kept, key = store.shared(), key_of(info, text, column, given)
    found: RowsScored | None = kept.get(key)
    if found is not None:
        return found
    yield Step(0.0)
    folder = kept.folder()
    folder.mkdir(mode=0o700)
    try:
        file = open_rows(
            cast("Source", text.source(check)["path"]),
            column=column,
            given=given,
            encoding=text.encoding,
            name=text.name,
            format=format_of(text.name),
        )
        listed: list[Listed] = []
        with ExitStack() as stack:
            own = kinds([file])
            tables = []
            for format in FORMATS:
                out = stack.enter_context(_private(folder / f"scored.{format}"))
                tables.append(RowTable(out, format, own))
                stack.callback(tables[-1].close)

            def take(scored: Scored) -> None:
                for table in tables:
                    table.add(scored, text.name)
                listed.extend(_listed(scored)[: SHOWN - len(listed)])

            steps = score_rows(model_cache.scorer(info), file, each=take, own=True)
            report = yield from mapped(steps, step_of)
    except BaseException:  # cancelled, say
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return kept.put(key, RowsScored(report, listed=tuple(listed), folder=folder), folder)


def _private(path: Path) -> BinaryIO:
    """A new file to write, which its owner alone can read: it tells the texts."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _listed(scored: Scored) -> list[Listed]:
    return [
        Listed(
            one.row,
            one.perplexity,
            one.characters,
            one.unknown,
            text[:BEGINNING],
            "" if one.fault is None else str(one.fault),
        )
        for one, text in zip(scored.scores, scored.texts, strict=True)
    ]

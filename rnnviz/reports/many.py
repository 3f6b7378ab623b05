"""Many files scored, texts one by one and files of rows row by row: what is wrong with one takes nothing from
the others.
"""

from __future__ import annotations

import math
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, TypeVar

from rnnviz.errors import ConfigError, RnnvizError
from rnnviz.networks.progress import run
from rnnviz.reading.rows import RowScore, Scored, score_rows
from rnnviz.reading.scoring import LanguageModel, Progress, Report, perplexity
from rnnviz.reports import baselines
from rnnviz.reports.interval import Interval, Sums, interval
from rnnviz.reports.record import Record, record
from rnnviz.reports.score import Compared, RowsScore, Score, best, uniform
from rnnviz.text.row_files import RowFile, format_of, open_rows

Item = TypeVar("Item")
Bar = Callable[[str], AbstractContextManager[Callable[[Progress], None] | None]]
"""What shows how far the work of this title is."""


class Other(NamedTuple):
    """A model to compare with: its `kind` is model or n-gram, `about` says what it is."""

    kind: str
    about: str
    model: LanguageModel


def _no_bar(title: str) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True)
class Scoring:
    """With what files are scored, and how they are read.

    others         models to compare with
    compare        with these, a uniform guess, letter frequencies and compressors too
    encoding       of all files; None: found for each
    column, given  of files of rows, as `rnnviz.text.row_files.open_rows` takes them
    read_as        what the files are, whatever their names: "text", or a format of rows
    precise        compute in float64
    learned        whether the model learns from a text as it reads it
    at_once        texts that are read together, by a cluster
    source         where a file's bytes are: its path, unless it is something else
    bar            shows progress

    >>> import rnnviz
    >>> scoring = Scoring(rnnviz.load("timemachine-gru"))
    >>> [(file, type(found).__name__) for file, found in scoring.each(["not there.txt"])]
    [('not there.txt', 'TextError')]
    """

    model: LanguageModel
    others: Sequence[Other] = ()
    compare: bool = False
    encoding: str | None = None
    column: str | None = None
    given: str | None = None
    read_as: Literal["text", "jsonl", "csv", "parquet"] | None = None
    precise: bool = False
    learned: bool = False
    at_once: int = 1
    source: Callable[[str], str | BinaryIO] = str
    bar: Bar = _no_bar

    def each(
        self,
        files: Iterable[str],
        add: Callable[[Scored, str], None] | None = None,
        keep: Mapping[str, Callable[[Record], None]] | None = None,
    ) -> Iterator[tuple[str, Score | RnnvizError]]:
        """The figures of each file in order, or what is wrong with it. `add` takes the scored rows of each; a
        text is one. `keep` takes what every character of a text cost, for the files that it names.
        """
        kept = keep or {}

        def one(file: str) -> Score | RnnvizError:
            try:
                if self.format(file) is None:
                    return self._text(file, kept.get(file))
                if file in kept:
                    raise ConfigError(
                        "{file} holds a text a row; --per-character and --html are of one text: leave "
                        "them out, or add --as text",
                        file=file,
                    )
                return self._rows(self.rows(file), add)
            except RnnvizError as error:
                return error

        # Many texts are read at once by a cluster alone; a file of rows keeps it busy by itself.
        for are_rows, group in groupby(files, lambda file: self.format(file) is not None):
            for file, found in _in_order(one, group, 1 if are_rows else self.at_once):
                if add is not None and isinstance(found, Score) and not isinstance(found, RowsScore):
                    add(_as_row(found.report), file)
                yield file, found

    def format(self, file: str) -> Literal["jsonl", "csv", "parquet"] | None:
        """The format of a file of rows; None for a text."""
        if self.read_as is None:
            return format_of(file)
        return None if self.read_as == "text" else self.read_as

    def rows(self, file: str) -> RowFile:
        """A file of rows, opened."""
        return open_rows(
            self.source(file),
            column=self.column,
            given=self.given,
            encoding=self.encoding,
            name=file,
            format=self.format(file),
        )

    def _rows(self, file: RowFile, add: Callable[[Scored, str], None] | None) -> Score:
        each = None if add is None else lambda scored: add(scored, file.name)
        with self.bar(file.name) as progress:
            steps = score_rows(self.model, file, precise=self.precise, each=each, own=add is not None)
            report = run(steps, progress)
        compared = []
        if self.compare:
            compared = [_compared(report, "model", "the model")]
            for kind, about, other in self.others:
                with self.bar(f"{file.name}: {other.name}") as progress:
                    its = run(score_rows(other, file, precise=self.precise), progress)
                compared.append(_compared(its, kind, about))
        return RowsScore(
            report,
            guess=uniform(self.model.vocabulary, report),
            compared=best(compared),
            learned=self.learned,
        )

    def _text(self, file: str, keep: Callable[[Record], None] | None) -> Score:
        source = self.source(file)
        if self.given is not None:
            raise ConfigError(
                "--given names a column, and {file} is one text without columns; leave it out", file=file
            )
        if not self.compare and keep is None:
            sums = Sums()
            report = self._score(self.model, source, file, file, self.precise, costs=sums.add)
            return self._scored(report, interval(sums))
        with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
            place = Path(folder) / "record"
            with self.bar(file) as progress:
                steps = record(
                    self.model, source, place, encoding=self.encoding, name=file, precise=self.precise
                )
                scored = run(steps, progress)
            if keep is not None:
                keep(scored)
            compared = self._compare(scored, source) if self.compare else []
            return self._scored(scored.report, interval(scored), compared)

    def _scored(self, report: Report, lies: Interval, compared: Sequence[Compared] = ()) -> Score:
        guess = uniform(self.model.vocabulary, report)
        return Score(report, lies, guess, compared, learned=self.learned, normaliser=self.model.normaliser)

    def _score(
        self,
        model: LanguageModel,
        source: str | BinaryIO,
        name: str,
        title: str,
        precise: bool,
        costs: Callable[..., None] | None = None,
    ) -> Report:
        with self.bar(title) as progress:
            return perplexity(
                model,
                source,
                encoding=self.encoding,
                progress=progress,
                name=name,
                precise=precise,
                costs=costs,
            )

    def _compare(self, scored: Record, source: str | BinaryIO) -> list[Compared]:
        report = scored.report
        rows = [_compared(report, "model", "the model")]
        for kind, about, other in self.others:
            title = f"{report.file}: {other.name}"
            its = self._score(other, source, report.file, title, report.precise)
            rows.append(_compared(its, kind, about))
        with self.bar(f"{report.file}: gzip, xz") as show:

            def step(done: int) -> None:
                if show is not None:
                    show(Progress(done, 0, math.nan, done, report.characters, 0.0))

            rows += run(baselines.measuring(scored, self.model.vocabulary), step)
        return best(rows)


def _in_order(
    do: Callable[[Item], Score | RnnvizError], items: Iterable[Item], at_once: int
) -> Iterator[tuple[Item, Score | RnnvizError]]:
    """Each item and what `do` makes of it, in order, `at_once` of them under way together."""
    if at_once == 1:
        yield from ((item, do(item)) for item in items)
        return
    with ThreadPoolExecutor(at_once) as pool:
        waiting: deque[tuple[Item, Future[Score | RnnvizError]]] = deque()
        try:
            for item in items:
                waiting.append((item, pool.submit(do, item)))
                if len(waiting) >= at_once:
                    first, future = waiting.popleft()
                    yield first, future.result()
            for first, future in waiting:
                yield first, future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _compared(report: Report, kind: str, about: str) -> Compared:
    return Compared(report.model, kind, about, report.perplexity, report.bits_per_character)


def _as_row(report: Report) -> Scored:
    """A text as the only row of its file."""
    nats = report.bits_per_character * report.characters * math.log(2)
    score = RowScore(0, report.characters, report.unknown, nats, report.words, report.given_characters)
    return Scored([score], [""], [{}])

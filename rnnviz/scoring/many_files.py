"""Many files scored, texts one by one, files of rows row by row. A fault in one leaves the others alone."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TypeVar

from rnnviz.errors import ConfigError, RnnvizError
from rnnviz.networks.progress import Progress
from rnnviz.scoring import baselines
from rnnviz.scoring.interval import Sums, interval
from rnnviz.scoring.language_model import LanguageModel
from rnnviz.scoring.perplexity import score
from rnnviz.scoring.record import Record, record
from rnnviz.scoring.rows import RowScore, Scored, score_rows
from rnnviz.scoring.score import Compared, RowsScore, Score, best
from rnnviz.text.decoding import SourceText
from rnnviz.text.row_files import RowFile, format_of, open_rows

R = TypeVar("R")
Bar = Callable[[str], AbstractContextManager[Progress | None]]
"""Shows the progress of the work with a title: a context that gives the callback, or None."""


class Other(NamedTuple):
    """A model to compare with: `kind` is model or n-gram, `about` describes the model."""

    kind: str
    about: str
    model: LanguageModel


def _no_bar(title: str) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True)
class Scoring:
    """A model that scores files, and the settings of reading and comparing.

    others         models to compare with
    compare        compare with `others`, a uniform guess, letter frequencies and compressors
    encoding       the encoding of all files; None: found for each
    column, given  columns of files of rows, as `rnnviz.text.row_files.open_rows` takes them
    read_as        the kind of all files, whatever their names: "text", or a format of rows
    precise        compute in float64
    at_once        texts that a cluster reads together
    source         gives a file's path, or an open file, by its name
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
    at_once: int = 1
    source: Callable[[str], str | BinaryIO] = str
    bar: Bar = _no_bar

    def each(
        self,
        files: Iterable[str],
        add: Callable[[Scored, str], None] | None = None,
        keep: Mapping[str, Callable[[Record], None]] | None = None,
    ) -> Iterator[tuple[str, Score | RnnvizError]]:
        """Each file in order with its Score, or with its error.

        add   called with the scored rows and the name of each file; a text is one row
        keep  by file, called with the Record of that text: the cost of every character
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
        with ThreadPoolExecutor(self.at_once) as pool:
            for are_rows, group in groupby(files, lambda file: self.format(file) is not None):
                names = list(group)
                alone = are_rows or self.at_once == 1
                for file, found in zip(names, (map if alone else pool.map)(one, names), strict=True):
                    if add is not None and isinstance(found, Score) and not isinstance(found, RowsScore):
                        add(_as_row(found), file)
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
            context=self.given,
            encoding=self.encoding,
            name=file,
            format=self.format(file),
        )

    def _rows(self, file: RowFile, add: Callable[[Scored, str], None] | None) -> Score:
        on_batch = None if add is None else lambda scored: add(scored, file.name)
        work = partial(
            score_rows,
            self.model,
            file,
            precise=self.precise,
            on_batch=on_batch,
            keep_columns=add is not None,
        )
        found = self._run(file.name, work)
        if not self.compare:
            return found
        rivals = [
            (other, partial(score_rows, other.model, file, precise=self.precise)) for other in self.others
        ]
        return replace(found, compared=best(self._rivals(found, rivals)))

    def _text(self, file: str, keep: Callable[[Record], None] | None) -> Score:
        source = self.source(file)
        if self.given is not None:
            raise ConfigError(
                "--given names a column, and {file} is one text without columns; leave it out", file=file
            )
        if not self.compare and keep is None:
            sums = Sums()
            work = partial(
                score,
                self.model,
                source,
                encoding=self.encoding,
                name=file,
                precise=self.precise,
                costs=sums.add,
            )
            return replace(self._run(file, work), interval=interval(sums))
        with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
            place = Path(folder) / "record"
            make_record = partial(
                record, self.model, source, place, encoding=self.encoding, name=file, precise=self.precise
            )
            with closing(self._run(file, make_record)) as scored:  # Windows removes no file that is open
                if keep is not None:
                    keep(scored)
                compared = self._compare(scored, source) if self.compare else []
                return replace(scored.score, interval=interval(scored), compared=compared)

    def _compare(self, scored: Record, source: str | BinaryIO) -> list[Compared]:
        own = scored.score
        how: Any = {"encoding": own.encoding, "name": own.file, "precise": own.precise}
        rivals = [(other, partial(score, other.model, source, **how)) for other in self.others]
        rows = self._rivals(own, rivals)
        text = SourceText(source, None, own.encoding, own.file, own.normaliser)
        measure = partial(baselines.measure, own, text, self.model.vocabulary)
        return best([*rows, *self._run(f"{own.file}: gzip, xz", measure)])

    def _rivals(self, own: Score, rivals: Iterable[tuple[Other, Callable[..., Score]]]) -> list[Compared]:
        """The file's cost under the model, and under each of the `rivals`."""
        rows = [own.row("model", "the model")]
        for other, work in rivals:
            its = self._run(f"{own.file}: {other.model.name}", work)
            rows.append(its.row(other.kind, other.about))
        return rows

    def _run(self, title: str, work: Callable[..., R]) -> R:
        with self.bar(title) as progress:
            return work(progress=progress)


def _as_row(text: Score) -> Scored:
    """A text as the only row of its file."""
    figures = text.characters, text.unknown, text.nll, text.words, text.given_characters
    return Scored([RowScore(0, *figures)], [""], [{}])

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
from rnnviz.networks import contamination
from rnnviz.networks.progress import Progress
from rnnviz.scoring import baselines
from rnnviz.scoring.interval import CostSums, interval
from rnnviz.scoring.language_model import LanguageModel
from rnnviz.scoring.perplexity import score
from rnnviz.scoring.record import Record, record
from rnnviz.scoring.rows import RowBatch, RowScore, score_rows
from rnnviz.scoring.score import CostRow, RowsScore, Score, mark_best
from rnnviz.text.characters import Blanks
from rnnviz.text.decoding import SourceText
from rnnviz.text.row_files import RowFile, format_of, open_rows

SKETCH_CHARS = 1 << 16  # characters compared with a model's training text at a time

Result = TypeVar("Result")
Bar = Callable[[str], AbstractContextManager[Progress | None]]
"""Shows the progress of the work with a title: a context that gives the callback, or None."""


class ComparisonModel(NamedTuple):
    """A model to compare with: `kind` is model or n-gram, `about` describes the model."""

    kind: str
    about: str
    model: LanguageModel


def _no_bar(title: str) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True)
class Scoring:
    """A model that scores files, and the settings of reading and comparing.

    comparison_models  models to compare with
    compare            compare with these, a uniform guess, letter frequencies and compressors
    encoding           the encoding of all files; None: found for each
    column, given      columns of files of rows: of the texts or their regions, and of the contexts read
                       before them
    separator, join, blanks  how texts are cut into regions: `rnnviz.text.row_files.open_rows`
    read_as            the kind of all files, whatever their names: "text", or a format of rows
    precise            compute in float64
    at_once            texts that a cluster reads together
    source             gives a file's path, or an open file, by its name
    bar                shows progress

    >>> import rnnviz
    >>> scoring = Scoring(rnnviz.load("timemachine-gru"))
    >>> [(file, type(result).__name__) for file, result in scoring.score_files(["not there.txt"])]
    [('not there.txt', 'TextError')]
    """

    model: LanguageModel
    comparison_models: Sequence[ComparisonModel] = ()
    compare: bool = False
    encoding: str | None = None
    column: str | Sequence[str] | None = None
    given: str | None = None
    separator: str | None = None
    join: str | None = None
    blanks: Blanks = "next"
    read_as: Literal["text", "jsonl", "csv", "parquet"] | None = None
    precise: bool = False
    at_once: int = 1
    source: Callable[[str], str | BinaryIO] = str
    bar: Bar = _no_bar

    def score_files(
        self,
        files: Iterable[str],
        on_rows: Callable[[RowBatch, str], None] | None = None,
        on_record: Mapping[str, Callable[[Record], None]] | None = None,
    ) -> Iterator[tuple[str, Score | RnnvizError]]:
        """Each file in order with its Score, or with its error.

        on_rows    called with the scored rows and the name of each file; a text is one row
        on_record  by file, called with the Record of that text: the cost of every character
        """
        writers = on_record or {}

        def score_file(file: str) -> Score | RnnvizError:
            try:
                if self.format(file) is None:
                    return self._score_text(file, writers.get(file))
                if file in writers:
                    raise ConfigError(
                        "{file} has one text per row; --per-character, --per-word and --html are for one "
                        "text: leave them out, or add --as text. --separator ' ' --output FILE gives each "
                        "word's nats",
                        file=file,
                    )
                return self._score_rows(self.rows(file), on_rows)
            except RnnvizError as error:
                return error

        # Many texts are read at once by a cluster alone; a file of rows keeps it busy by itself.
        with ThreadPoolExecutor(self.at_once) as pool:
            for are_rows, group in groupby(files, lambda file: self.format(file) is not None):
                names = list(group)
                alone = are_rows or self.at_once == 1
                for file, result in zip(names, (map if alone else pool.map)(score_file, names), strict=True):
                    if (
                        on_rows is not None
                        and isinstance(result, Score)
                        and not isinstance(result, RowsScore)
                    ):
                        on_rows(_as_row(result), file)
                    yield file, result

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
            separator=self.separator,
            join=self.join,
            blanks=self.blanks,
            encoding=self.encoding,
            name=file,
            format=self.format(file),
        )

    def _score_rows(self, file: RowFile, on_rows: Callable[[RowBatch, str], None] | None) -> Score:
        on_batch = None if on_rows is None else lambda batch: on_rows(batch, file.name)
        work = partial(
            score_rows,
            self.model,
            file,
            precise=self.precise,
            on_batch=on_batch,
            keep_columns=on_rows is not None,
        )
        score = self._run(file.name, work)
        if not self.compare:
            return score
        rivals = [
            (rival, partial(score_rows, rival.model, file, precise=self.precise))
            for rival in self.comparison_models
        ]
        return replace(score, compared=mark_best(self._compared_rows(score, rivals)))

    def _score_text(self, file: str, on_record: Callable[[Record], None] | None) -> Score:
        source = self.source(file)
        if self.given is not None or self.separator is not None:
            raise ConfigError(
                "--given and --separator are for texts in columns, and {file} is one text without columns; "
                "leave them out",
                file=file,
            )
        if not self.compare and on_record is None:
            # Nobody asks for single characters: running sums are enough for the interval, without a record.
            sums = CostSums()
            work = partial(
                score,
                self.model,
                source,
                encoding=self.encoding,
                name=file,
                precise=self.precise,
                on_costs=sums.add,
            )
            file_score = self._run(file, work)
            return replace(file_score, interval=interval(sums), overlap=self._overlap(file_score, source))
        with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
            # `record` makes its folder itself: it refuses one that exists.
            place = Path(folder) / "record"
            make_record = partial(
                record, self.model, source, place, encoding=self.encoding, name=file, precise=self.precise
            )
            with closing(self._run(file, make_record)) as text_record:  # Windows removes no file that is open
                if on_record is not None:
                    on_record(text_record)
                file_score = text_record.score
                return replace(
                    file_score,
                    interval=interval(text_record),
                    compared=self._compare_text(file_score, source) if self.compare else [],
                    overlap=self._overlap(file_score, source),
                )

    def _overlap(self, file_score: Score, source: str | BinaryIO) -> contamination.Contamination | None:
        """The share of a scored text that the model was trained on; None where its file has no sketch."""
        sketch = getattr(self.model, "sketch", None)  # a `LanguageModel` of a reader's own needn't have one
        if sketch is None:
            return None
        # The text is read a second time: twenty million characters a second, far faster than any network.
        return contamination.share(_read_again(file_score, source).pieces(SKETCH_CHARS), sketch)

    def _compare_text(self, file_score: Score, source: str | BinaryIO) -> list[CostRow]:
        options: Any = {
            "encoding": file_score.encoding,
            "name": file_score.file,
            "precise": file_score.precise,
        }
        rivals = [(rival, partial(score, rival.model, source, **options)) for rival in self.comparison_models]
        rows = self._compared_rows(file_score, rivals)
        text = _read_again(file_score, source)
        measure = partial(baselines.measure, file_score, text, self.model.vocabulary)
        return mark_best([*rows, *self._run(f"{file_score.file}: gzip, xz", measure)])

    def _compared_rows(
        self, file_score: Score, rivals: Iterable[tuple[ComparisonModel, Callable[..., Score]]]
    ) -> list[CostRow]:
        """The file's cost under the model, and under each of the `rivals`."""
        # First the model that scored the file: `Score.table` marks the first row as that.
        rows = [file_score.row("model", "the model")]
        for rival, work in rivals:
            rival_score = self._run(f"{file_score.file}: {rival.model.name}", work)
            rows.append(rival_score.row(rival.kind, rival.about))
        return rows

    def _run(self, title: str, work: Callable[..., Result]) -> Result:
        with self.bar(title) as progress:
            return work(progress=progress)


def _read_again(file_score: Score, source: str | BinaryIO) -> SourceText:
    return SourceText(source, None, file_score.encoding, file_score.file, file_score.normaliser)


def _as_row(text: Score) -> RowBatch:
    """A text as the only row of its file."""
    figures = text.characters, text.unknown, text.nll, text.words, text.given_characters
    return RowBatch([RowScore(0, *figures)], [{}])

"""How `python -m rnnviz perplexity` scores: texts one by one, files of rows row by row."""

from __future__ import annotations

import argparse
import contextlib
import math
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar

from rnnviz.cli.output import complain, load, opened, progress_bar, scoring_bar
from rnnviz.cli.perplexity_words import Compared
from rnnviz.errors import ConfigError, ModelNotFoundError, RnnvizError

if TYPE_CHECKING:
    from rnnviz.figures.row_table import RowTable
    from rnnviz.reading.rows import RowsReport, Scored
    from rnnviz.reading.scoring import LanguageModel, Report
    from rnnviz.reports.interval import Interval
    from rnnviz.reports.record import Record
    from rnnviz.text.row_files import RowFile

Item = TypeVar("Item")

Other = tuple[str, str, "LanguageModel"]  # kind, what it is, the model


class Outputs(NamedTuple):
    """Where a file's table of characters and its page are written."""

    table: str | None
    page: str | None


@dataclass(frozen=True)
class Found:
    """A file's figures: a text has an interval, a file of rows the report of its `rows`."""

    report: Report
    interval: Interval | None = None
    rows: RowsReport | None = None
    compared: list[Compared] = field(default_factory=list)


class Scoring:
    """The models that files are scored with, and the table that their rows are written to."""

    def __init__(self, args: argparse.Namespace, stack: contextlib.ExitStack) -> None:
        self._args, self._stack = args, stack
        model = _asked_for(args)
        self._model: LanguageModel = model
        self._others = _others(args, model)
        self._at_once = 1
        if args.scheduler is not None:
            from rnnviz.reading.cluster import cluster

            machines = stack.enter_context(cluster(args.scheduler))
            self._at_once = 2 * machines.threads
            args.quiet = True  # of many bars at once none could be read
            self._model = machines.model(model, device=args.device)
            self._others = [
                (kind, about, machines.model(other, device=args.device))
                for kind, about, other in self._others
            ]
        self._sources: dict[str, str | BinaryIO] = {}
        self._table: RowTable | None = None

    def each(self, files: Sequence[tuple[str, Outputs]]) -> Iterator[tuple[str, Found | RnnvizError]]:
        """Score the files, in order; what is wrong with one takes nothing from the others."""
        if self._args.output is not None:
            self._table = self._stack.enter_context(self._writing([file for file, _ in files]))
        # Many texts are read at once by a cluster alone; a file of rows keeps it busy by itself.
        for are_rows, group in groupby(files, lambda one: self._format(one[0]) is not None):
            for (file, _), found in _in_order(self._one, group, 1 if are_rows else self._at_once):
                if self._table is not None and isinstance(found, Found) and found.rows is None:
                    self._table.add(_as_row(found.report), file)
                yield file, found

    def _one(self, one: tuple[str, Outputs]) -> Found | RnnvizError:
        file, outputs = one
        try:
            if self._format(file) is None:
                return self._text(file, outputs)
            if outputs.table or outputs.page:
                raise ConfigError(
                    "{file} holds a text a row; --per-character and --html are of one text: leave them out, "
                    "or add --as text",
                    file=file,
                )
            return self._rows(self._open_rows(file))
        except RnnvizError as error:
            return error

    def _source(self, file: str) -> str | BinaryIO:
        if file not in self._sources:
            self._sources[file] = self._stack.enter_context(opened(file))
        return self._sources[file]

    # rows

    def _format(self, file: str) -> str | None:
        from rnnviz.text.row_files import format_of

        read_as: str | None = self._args.read_as
        return format_of(file) if read_as is None else None if read_as == "text" else read_as

    def _open_rows(self, file: str) -> RowFile:
        from rnnviz.text.row_files import open_rows

        args = self._args
        return open_rows(
            self._source(file),
            column=args.column,
            given=args.given,
            encoding=args.encoding,
            name=file,
            format=self._format(file),  # type: ignore[arg-type]  # argparse let no other pass
        )

    @contextlib.contextmanager
    def _writing(self, files: Sequence[str]) -> Iterator[RowTable]:
        from rnnviz.figures import row_table

        own: row_table.Kinds = {}
        if row_table.format_of(self._args.output) != "jsonl":
            opened_files = []
            for file in files:
                with contextlib.suppress(RnnvizError):  # said when it is to be scored
                    if self._format(file) is not None:
                        opened_files.append(self._open_rows(file))
            own = row_table.kinds(opened_files)
        with row_table.writing(self._args.output, own) as table:
            yield table

    def _rows(self, file: RowFile) -> Found:
        from rnnviz.networks.progress import run
        from rnnviz.reading.rows import score_rows

        table, precise = self._table, self._args.precise
        each = None if table is None else lambda scored: table.add(scored, file.name)
        with scoring_bar(file.name, self._args) as progress:
            steps = score_rows(self._model, file, precise=precise, each=each, own=table is not None)
            report = run(steps, progress)
        compared = []
        if self._args.compare:
            compared = [_compared(report, "model", "the model")]
            for kind, about, other in self._others:
                with scoring_bar(f"{file.name}: {other.name}", self._args) as progress:
                    its = run(score_rows(other, file, precise=precise), progress)
                compared.append(_compared(its, kind, about))
        return Found(report, rows=report, compared=_best(compared))

    # texts

    def _text(self, file: str, outputs: Outputs) -> Found:
        from rnnviz.reading.scoring import perplexity
        from rnnviz.reports.interval import Sums, interval

        args, source = self._args, self._source(file)
        if args.given is not None:
            raise ConfigError(
                "--given names a column, and {file} is one text without columns; leave it out", file=file
            )
        if args.compare or outputs.table or outputs.page:
            return self._recorded(source, file, outputs)
        sums = Sums()
        with scoring_bar(file, args) as progress:
            report = perplexity(
                self._model,
                source,
                encoding=args.encoding,
                progress=progress,
                name=file,
                precise=args.precise,
                costs=sums.add,
            )
        return Found(report, interval(sums))

    def _recorded(self, source: str | BinaryIO, file: str, outputs: Outputs) -> Found:
        from rnnviz.figures import export
        from rnnviz.networks.progress import run
        from rnnviz.reports.interval import interval
        from rnnviz.reports.record import record

        args = self._args
        with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
            place = Path(folder) / "record"
            with scoring_bar(file, args) as progress:
                steps = record(
                    self._model, source, place, encoding=args.encoding, name=file, precise=args.precise
                )
                scored = run(steps, progress)
            if outputs.table is not None:
                export.per_character(scored, outputs.table)
            if outputs.page is not None:
                export.html(scored, scored.report, outputs.page)
            compared = self._compare(scored, source) if args.compare else []
            return Found(scored.report, interval(scored), compared=compared)

    def _compare(self, scored: Record, source: str | BinaryIO) -> list[Compared]:
        from rnnviz.networks.progress import run
        from rnnviz.reading.scoring import perplexity
        from rnnviz.reports import baselines

        report = scored.report
        rows = [_compared(report, "model", "the model")]
        for kind, about, other in self._others:
            with scoring_bar(f"{report.file}: {other.name}", self._args) as progress:
                its = perplexity(
                    other,
                    source,
                    encoding=self._args.encoding,
                    progress=progress,
                    name=report.file,
                    precise=report.precise,
                )
            rows.append(_compared(its, kind, about))
        with progress_bar(f"{report.file}: gzip, xz", self._args) as show:

            def step(done: int) -> None:
                if show is not None:
                    show(done / report.characters, f"{done:,} characters")

            found = run(baselines.measuring(scored, self._model.vocabulary), step)
        without_model = {
            "uniform": f"a uniform guess among {self._model.vocabulary.size:,}",
            "unigram": "the file's own frequencies, for free",
        }
        for one in found:
            kind = one.name if one.name in without_model else "compressor"
            said = without_model.get(one.name, "a compressor at its best")
            rows.append(Compared(one.name, kind, said, one.perplexity, one.bits_per_character))
        return _best(rows)


def _in_order(
    do: Callable[[Item], Found | RnnvizError], items: Iterable[Item], at_once: int
) -> Iterator[tuple[Item, Found | RnnvizError]]:
    """Each item and what `do` makes of it, in order, `at_once` of them under way together."""
    if at_once == 1:
        yield from ((item, do(item)) for item in items)
        return
    with ThreadPoolExecutor(at_once) as pool:
        waiting: deque[tuple[Item, Future[Found | RnnvizError]]] = deque()
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


def _best(rows: list[Compared]) -> list[Compared]:
    """The rows, the best marked. The unigram was told the file's own frequencies: it can't be that."""
    codes = [n for n, row in enumerate(rows) if row.kind != "unigram"]
    best = min(codes, key=lambda n: rows[n].bits_per_character, default=None)
    return [replace(row, best=n == best) for n, row in enumerate(rows)]


def _asked_for(args: argparse.Namespace) -> LanguageModel:
    """The model of --model, and what is to be done with it."""
    from rnnviz.reading.mixing import mix

    model: LanguageModel = load(args)
    if args.dynamic:
        from rnnviz.reading.dynamic import dynamic

        model = dynamic(model)
    return model if args.mix is None else mix(model, load(args, args.mix))


def _others(args: argparse.Namespace, model: LanguageModel) -> list[Other]:
    """The models to compare with and what they are, with the model's own n-gram if it is installed."""
    if not args.compare:
        return []
    others = {
        name: load(args, name) for name in args.compare if name != args.model or args.mix or args.dynamic
    }
    found: list[Other] = [("model", "another model", other) for other in others.values()]
    ngram = getattr(model, "card", {}).get("ngram")
    if isinstance(ngram, str) and ngram not in {model.name, *(other.name for other in others.values())}:
        try:
            found.append(("n-gram", "counts of what the model read", load(args, ngram)))
        except ModelNotFoundError:
            complain(f"{args.model} was compared with {ngram} when it was trained; that model is not here")
    return found


def _as_row(report: Report) -> Scored:
    """A text as the only row of its file."""
    from rnnviz.reading.rows import RowScore, Scored

    nats = report.bits_per_character * report.characters * math.log(2)
    score = RowScore(0, report.characters, report.unknown, nats, report.words, report.given_characters)
    return Scored([score], [""], [{}])

"""Rows: the perplexity of each row of a file, and of all rows together.

    exp( -(1/n) Σ log P )     over the n characters of all rows, each row read from a text's beginning

Short rows are read side by side (`rnnviz.networks.batched_scoring`), which moves no figure by more than 1e-4
of itself. Memory does not grow with the number of rows. `rnnviz.scoring.perplexity` has the definition.

A row is read in parts: its context, which isn't counted, then the regions of its text, whose costs add up to
the text's. A text in one piece is one region.

Shape letters: k rows, p parts of all of them, n symbols.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice, tee
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles, Ids
from rnnviz.checks import checked, received
from rnnviz.errors import CheckpointError, ConfigError, EmptyTextError, RnnvizError, TextError
from rnnviz.networks.progress import Progress, Reporter
from rnnviz.scoring.interval import PerplexityInterval
from rnnviz.scoring.language_model import LanguageModel, advance_in_pieces, scorer_of
from rnnviz.scoring.score import RowsScore
from rnnviz.scoring.totals import Totals, WordCount, perplexity_from_sum
from rnnviz.text.characters import Blanks, Normaliser, normalise, without_shared_line_end
from rnnviz.text.decoding import Source, warn_of_guess
from rnnviz.text.row_files import Fault, RowFile, Rows, open_rows
from rnnviz.text.vocabulary import END, UNKNOWN_ID, Vocabulary

MAX_FAULT_EXAMPLES = 5  # rows left out that a score names


class EncodedRows(NamedTuple):
    """A batch of rows to score, encoded, in the form that travels to workers.

    ids      (n,) int32, the symbols of one row after another
    lengths  (p,) the symbols of each part
    first    (k,) the part with which each row begins: its context, read first and not counted
    """

    ids: npt.NDArray[np.int32]
    lengths: Ids
    first: Ids


class RowScorer:
    """Scores batches of rows one after another with a model in this process."""

    def __init__(self, model: LanguageModel, precise: bool) -> None:
        self._model, self._precise = model, precise
        scorer = scorer_of(model, precise=precise)
        # A network's scorer reads many short texts side by side; others have no such method.
        self._score_texts = None if precise else getattr(scorer, "score_texts", None)

    def __call__(self, encoded: EncodedRows) -> Doubles:
        """-Σ log P in nats of each part's known and its unknown symbols, how many are unknown, and -Σ log P
        and the number of its ends, (p, 5).
        """
        # All rows came as one array: the lengths cut it.
        ids, lengths = encoded.ids.astype(np.int64), np.add.reduceat(encoded.lengths, encoded.first)
        rows = np.split(ids, np.cumsum(lengths)[:-1])
        if self._score_texts is not None:
            log_probs = self._score_texts(rows)
        else:
            make_scorer = partial(scorer_of, self._model, precise=self._precise)
            log_probs = [advance_in_pieces(make_scorer(), row) for row in rows]
        nll, unknown, end = -np.concatenate(log_probs), ids == UNKNOWN_ID, ids == self._model.vocabulary.end
        part = np.repeat(np.arange(len(encoded.lengths)), encoded.lengths)
        # Not nll * unknown: an infinite cost times 0 is NaN.
        terms = [np.where(~unknown, nll, 0), np.where(unknown, nll, 0), unknown, np.where(end, nll, 0), end]
        # bincount adds up in float64, and a part without symbols, which reduceat has no sum for, is 0.
        return np.stack([np.bincount(part, term, len(encoded.lengths)) for term in terms], axis=1)


@dataclass(frozen=True)
class RowScore:
    """The cost of one row: `nll` is -log P of the whole row in nats. Rows count from 0.

    A row with a `fault` has no figures: its `nll` is NaN. `regions` are the nats of each region by its name,
    where the text has regions; they add up to `nll`.
    """

    row: int
    characters: int = 0
    unknown: int = 0
    nll: float = math.nan
    words: int | None = None
    given_characters: int = 0
    fault: TextError | None = None
    regions: Mapping[str, float] = field(default_factory=dict)

    @property
    def perplexity(self) -> float | None:
        """exp(nll / characters); None for a row without characters."""
        return perplexity_from_sum(self.nll, self.characters) if self.characters else None

    @property
    def word_perplexity(self) -> float | None:
        """exp(nll / words); None without words, and in languages that don't part words by spaces."""
        return perplexity_from_sum(self.nll, self.words) if self.words else None


@dataclass(frozen=True)
class RowBatch:
    """A batch of rows: their scores, and their columns in the file."""

    scores: list[RowScore]
    columns: Any


@checked
def perplexity_of_rows(
    model: LanguageModel,
    file: Source,
    *,
    column: str | Sequence[str] | None = None,
    context: str | None = None,
    separator: str | None = None,
    join: str | None = None,
    blanks: Blanks = "next",
    on_row: Callable[[RowScore], None] | None = None,
    encoding: str | None = None,
    progress: Progress | None = None,
    name: str | None = None,
    precise: bool = False,
    ended: bool | None = None,
) -> RowsScore:
    """The perplexity of the rows of a file (.jsonl, .csv, .parquet, also .jsonl.gz and so on) under `model`.

    Each row is a text that is read from its beginning; the score is of all rows together.

    file      a path, or a seekable binary file, whose `name` then tells its format
    column    the column of the texts; None: the only one with texts. Several, or "region_*" for region_1,
              region_2, …, hold the regions of each text; an empty one costs nothing
    context   the column of their contexts, which are read first and not counted
    separator  what parts the regions in a column of texts, such as "|"; it isn't read
    join      what is read between two regions. None: a blank, where neither has white space there, as between
              two words: none before punctuation such as . , ; : ! ? and beside a Chinese character.
              "": they are read as they stand
    blanks    the region for which white space between two counts: the "next" one or the "previous" one
    on_row    called with the figures of each row, in order: `row`, `characters`, `nll` in nats, `perplexity`,
              `regions`, the nats of each, which add up to `nll`; or a `fault`
    ended     whether each row's end counts, once, for the last region; None: where the model knows where
              texts end
    encoding, progress, name and precise are those of `rnnviz.perplexity`

    Raises TextError for a file that can't be read; EmptyTextError for no characters; ConfigError for a column
    that isn't there, and with `precise` for a model of your own without a `precise_scorer`.

    >>> import io
    >>> import rnnviz
    >>> model = rnnviz.load("timemachine-gru")
    >>> file, rows = io.BytesIO(b'{"said": "It is late."}\\n{"said": "Good night."}'), []
    >>> score = rnnviz.perplexity_of_rows(model, file, name="rows.jsonl", on_row=rows.append)
    >>> score.characters, [round(row.perplexity, 1) for row in rows]
    (22, [9.5, 7.3])
    >>> file, rows = io.BytesIO(b"item,text\\n1,It is late|good night."), []
    >>> score = rnnviz.perplexity_of_rows(model, file, name="a.csv", separator="|", on_row=rows.append)
    >>> {name: round(nats, 1) for name, nats in rows[0].regions.items()}
    {'region_1': 21.8, 'region_2': 20.7}
    """
    opened = open_rows(
        file,
        column=column,
        context=context,
        separator=separator,
        join=join,
        blanks=blanks,
        encoding=encoding,
        name=name,
    )
    on_batch = on_row and partial(_call_with_rows, on_row)
    rows = score_rows(model, opened, precise=precise, on_batch=on_batch, ended=ended, progress=progress)
    warn_of_guess(rows.file, rows.encoding, rows.certainty)
    if rows.damage is not None:
        raise rows.damage
    return rows


def _call_with_rows(on_row: Callable[[RowScore], None], batch: RowBatch) -> None:
    for row in batch.scores:
        on_row(row)


def score_rows(
    model: LanguageModel,
    file: RowFile,
    *,
    precise: bool = False,
    on_batch: Callable[[RowBatch], None] | None = None,
    keep_columns: bool = False,
    ended: bool | None = None,
    progress: Progress | None = None,
) -> RowsScore:
    """Score a file of rows.

    `on_batch` is called with every batch of rows, in order; `keep_columns` keeps the columns of the file with
    them. Raises TextError if no row can be scored, and the errors of scoring.

    >>> import io
    >>> import rnnviz
    >>> from rnnviz.text.row_files import open_rows
    >>> rows = io.BytesIO(b'{"said": "It is late."}\\n{"said": null}\\n{"said": "Good night."}')
    >>> scores = []
    >>> file = open_rows(rows, name="rows.jsonl")
    >>> model = rnnviz.load("timemachine-gru")
    >>> score = score_rows(model, file, on_batch=lambda batch: scores.extend(batch.scores))
    >>> score.rows_scored, [row.perplexity and round(row.perplexity, 1) for row in scores]
    (2, [9.5, None, 7.3])
    """
    if not isinstance(file, RowFile):
        raise ConfigError("rows are what open_rows gives; received {received}", received=received(file))
    scorer_of(model, precise=precise)  # refuses a model that can't score
    scoring, report = _RowScoring(model, file, ended), Reporter(progress)
    # A cluster's model takes batches ahead of the costs that it returns: `tee` keeps the rows that wait.
    batches, ahead = tee(scoring.batches(keep_columns))
    encoded_batches = (encoded for _rows, encoded in ahead)
    if hasattr(model, "costs_of_rows"):
        costs = model.costs_of_rows(encoded_batches, precise)
    else:
        costs = map(RowScorer(model, precise), encoded_batches)
    for (rows, encoded), row_costs in zip(batches, costs, strict=True):
        batch = scoring.add_costs(rows, encoded, row_costs)
        if on_batch is not None:
            on_batch(batch)
        scoring.totals.report_to(report)
    if scoring.totals.characters:
        report.end(scoring.totals.characters, scoring.totals.perplexity)
    return scoring.score(precise)


class _RowScoring:
    """The rows of a file on their way to a model, and the sums of the costs that come back."""

    def __init__(self, model: LanguageModel, file: RowFile, ended: bool | None) -> None:
        self._model, self._file = model, file
        self._ended = model.vocabulary.ends if ended is None else ended
        if self._ended:
            model.vocabulary.ended("")  # refuses a model without ends before anything is read
        self._normaliser = Normaliser(model.normaliser)
        self._damage: RnnvizError | None = None
        self.totals, self._left_out = Totals(file), Counter[str]()
        self._rows = self._most_regions = 0
        self._examples: list[tuple[int, TextError]] = []

    def batches(self, keep_columns: bool) -> Iterator[tuple[Rows, EncodedRows]]:
        """The file's rows in order, their texts normalised; a damaged file ends early."""
        try:
            for rows in self._file.batches(full=keep_columns):
                yield self._prepare(rows)
        except TextError as error:
            # The rows before the damage are scored; `score` reports or raises it.
            self._damage = error

    def _prepare(self, rows: Rows) -> tuple[Rows, EncodedRows]:
        vocabulary: Vocabulary = self._model.vocabulary
        all_parts = list(map(self._read, rows.parts))
        for n, (text, parts) in enumerate(zip(rows.texts, all_parts, strict=True)):
            # Regions that are empty may follow the last characters, and an end belongs to these.
            last = max((place for place, part in enumerate(parts) if part), default=0)
            if self._ended and END in "".join(parts[1:]):
                rows.faults[n] = Fault("broken", TextError("it has U+0003 inside, which marks a text's end"))
                all_parts[n] = ["", ""]
            elif last:
                self.totals.bytes += len(text.encode())
                parts[last] = vocabulary.ended(parts[last]) if self._ended else parts[last]
            elif rows.faults[n] is None:
                rows.faults[n] = Fault("empty", EmptyTextError("it has no characters"))
                all_parts[n] = ["", ""]
        # All parts are encoded in one call, as one array travels to a worker.
        ids = vocabulary.encode("".join(chain.from_iterable(all_parts))).astype(np.int32)
        counts = _lengths(all_parts)
        encoded = EncodedRows(ids, _lengths([*chain.from_iterable(all_parts)]), np.cumsum(counts) - counts)
        return replace(rows, parts=all_parts), encoded

    def _read(self, parts: Sequence[str]) -> list[str]:
        """A row's parts, normalised."""
        read, before = [normalise(parts[0], self._model.normaliser)], parts[0]
        for part in parts[1:]:
            # A line end counts once as changed: CR+LF has been made CR, which the normaliser counts.
            text = without_shared_line_end(before, part).replace("\r\n", "\r")
            read.append(self._normaliser.read(text))
            before = part or before
        return read

    def add_costs(self, rows: Rows, encoded: EncodedRows, part_costs: Doubles) -> RowBatch:
        """The scores of k rows, from the costs (p, 5) of their parts."""
        # The contexts' costs are left out. A copy: what comes from a cluster can't be written to.
        costs = part_costs.copy()
        costs[encoded.first] = 0
        nats = costs[:, 0] + costs[:, 1] + costs[:, 2] * self._model.vocabulary.unknown_cost
        costs = np.add.reduceat(costs, encoded.first)
        finite = np.isfinite(costs).all(axis=1)
        if not finite.all():
            raise CheckpointError(
                "the model {name!r} gave no probability for a character in row {row:,} of {file}: its "
                "weights are damaged, or its training diverged; use another model",
                name=self._model.name,
                row=rows.start + int(finite.argmin()),
                file=self._file.name,
            )
        scores, nats_of_parts = [], iter(nats.tolist())
        sums = zip(rows.parts, rows.faults, costs.tolist(), strict=True)
        for number, (parts, fault, row_costs) in enumerate(sums, rows.start):
            _context, *region_nats = islice(nats_of_parts, len(parts))
            if fault is None:
                scores.append(self._count_row(number, parts, region_nats, row_costs))
                continue
            self._left_out[fault.kind] += 1
            if len(self._examples) < MAX_FAULT_EXAMPLES:
                self._examples.append((number, fault.error))
            scores.append(RowScore(number, fault=fault.error))
        self._rows += len(scores)
        return RowBatch(scores, rows.full_rows)

    def _count_row(
        self, number: int, parts: Sequence[str], region_nats: Sequence[float], costs: Sequence[float]
    ) -> RowScore:
        text, nats = "".join(parts[1:]), math.fsum(region_nats)
        self._most_regions = max(self._most_regions, len(region_nats))
        nats_known, _, unknown, nats_ends, ends = costs
        words = WordCount()
        words.add(text.replace(END, "\n"))
        self.totals.words.end()
        self.totals.add_sums(text, int(unknown), nats, nats_known)
        self.totals.add_ends(int(ends), nats_ends)
        self.totals.context_characters += len(parts[0])
        # No names, no regions: of a text in one piece there is nothing to add.
        regions = dict(zip(self._file.region_names(len(region_nats)), region_nats, strict=False))
        return RowScore(number, len(text), int(unknown), nats, words.count, len(parts[0]), regions=regions)

    def score(self, precise: bool) -> RowsScore:
        if not self.totals.characters:
            # Where nothing could be read, the damage is the reason.
            raise self._damage or self._no_score_error()
        return RowsScore(
            file=self._file.name,
            model=self._model.name,
            encoding=self._file.encoding,
            certainty=self._file.certainty,
            normalised=self._normaliser.line_ends + self._normaliser.replaced,
            precise=precise,
            rows=self._rows,
            rows_scored=self._rows - self._left_out.total(),
            rows_left_out=dict(self._left_out),
            column=self._file.column,
            given=self._file.context_column,
            column_found=self._file.found,
            separator_missing=self._file.separator if self._most_regions == 1 else None,
            damage=self._damage,
            examples=tuple(self._examples),
            interval=PerplexityInterval(None, None, self.totals.characters, "rows"),
            normaliser=self._model.normaliser,
            replaced=self._normaliser.replaced,
            **self.totals.figures(self._model.vocabulary),
        )

    def _no_score_error(self) -> TextError:
        if not self._rows:
            return EmptyTextError("{name} has no rows, so it has no perplexity", name=self._file.name)
        row, error = self._examples[0]
        return EmptyTextError(
            "{name} has no row that can be scored; in the first of {rows:,}, row {row:,}: {error}",
            name=self._file.name,
            rows=self._rows,
            row=row,
            error=error,
        )


def _lengths(items: Sequence[Sequence[str]]) -> Ids:
    return np.fromiter(map(len, items), np.int64, len(items))

"""`python -m rnnviz perplexity`: score files, compare models on them, and write the results.

The numbers are exactly those of rnnviz.scoring.many_files; a file that can't be scored doesn't stop the
others.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import rnnviz
from rnnviz.cli.bind import Help, Removed, UsageError
from rnnviz.cli.output import (
    OUTPUT_LEVELS,
    STANDARD_INPUT,
    ModelOnDevice,
    OutputOptions,
    ProgressOptions,
    complain,
    load,
    open_input,
    print_findings,
    print_tables,
    progress_bar,
    terminal_text,
    warn_guessed_encoding,
)
from rnnviz.errors import ModelNotFoundError, RnnvizError, TextError
from rnnviz.text.files import check_output, gathered

if TYPE_CHECKING:
    from rnnviz.figures.row_table import RowTable
    from rnnviz.networks.numpy_model import Model
    from rnnviz.networks.progress import Progress, Share
    from rnnviz.scoring.many_files import ComparisonModel, Scoring
    from rnnviz.scoring.record import Record
    from rnnviz.scoring.score import Score
    from rnnviz.text.characters import Blanks

FILE_PLACEHOLDER = "{file}"  # stands for the scored file's name in an output's name


def parse_names(value: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    if not names:
        raise argparse.ArgumentTypeError("names of models, separated by commas")
    return names


@dataclass(frozen=True)
class ReadOptions:
    """How files are read; field names are those of `rnnviz.scoring.many_files.Scoring`."""

    encoding: Annotated[str | None, "the files' encoding (default: found for each file)"] = None
    precise: Annotated[
        bool,
        "compute in float64, in sequence: many times slower, for texts on which the network magnifies "
        "rounding",
    ] = False
    column: Annotated[
        list[str] | None,
        Help(
            "of files of rows: the column of the texts (default: the only one with texts). Given again, or "
            "as 'region_*' for region_1, region_2, …: the regions of each text",
            metavar="NAME",
        ),
    ] = None
    given: Annotated[
        str | None,
        Help("the column of what comes before each text: it is read first and not counted", metavar="NAME"),
    ] = None
    separator: Annotated[
        str | None,
        Help("what parts the regions in a column of texts, such as '|'; it isn't read", metavar="TEXT"),
    ] = None
    join: Annotated[
        str | None,
        Help(
            "what is read between two regions: '' for nothing (default: the white space that one of them "
            "has there, else a blank, but none before punctuation such as . , ; : ! ? and beside a Chinese "
            "character)",
            metavar="TEXT",
        ),
    ] = None
    blanks: Annotated[
        Literal["next", "previous"],
        Help("the word (--per-word), or the region, for which white space counts (default: next)"),
    ] = "next"
    read_as: Annotated[
        Literal["text", "jsonl", "csv", "parquet"] | None,
        Help(
            "what the files are, whatever their names: text (each is one text), jsonl, csv, parquet", "--as"
        ),
    ] = None


@dataclass(frozen=True)
class OutputFiles:
    """Files to write besides the printed results."""

    per_character: Annotated[
        str | None,
        Help(
            "write a row for each character: position, which counts from 1, character, code_point, nll and "
            "entropy in nats, rank, known, and index, the position counted from 0. The ending, .csv or "
            f".parquet, is the format; {FILE_PLACEHOLDER} stands for the file's name",
            metavar="OUT",
        ),
    ] = None
    per_word: Annotated[
        str | None,
        Help(
            "write a row for each word: word, start and end, counted from 0, nats and bits; .csv or "
            f".parquet, {FILE_PLACEHOLDER} too. A Chinese character is a word",
            metavar="OUT",
        ),
    ] = None
    html: Annotated[
        str | None,
        Help(
            f"write a page with the figures, the curve and the coloured text; {FILE_PLACEHOLDER} too",
            metavar="OUT",
        ),
    ] = None
    output: Annotated[
        str | None,
        Help(
            "write every row of files of rows with its perplexity beside it, and the nats of its regions, as "
            ".parquet, .jsonl or .csv; a text file is one row",
            "-o",
            metavar="OUT",
        ),
    ] = None


def perplexity(
    files: Annotated[
        list[str],
        Help(
            "text files, files of rows, folders, or patterns with *; - reads standard input",
            metavar="FILE",
            positional=True,
        ),
    ],
    model_arg: ModelOnDevice,
    read_options: ReadOptions,
    output_files: OutputFiles,
    options: OutputOptions,
    *,
    compare: Annotated[
        tuple[str, ...],
        Help(
            "score the files with these models too, and show what a uniform guess, letter frequencies, the "
            "model's n-gram, gzip and xz make of them (of rows: the models alone)",
            metavar="A,B,…",
            convert=parse_names,
        ),
    ] = (),
    scheduler: Annotated[
        str | None,
        Help(
            "share the work among the machines of a Dask cluster, such as tcp://host:8786 (default: this "
            "process)",
            metavar="ADDRESS",
        ),
    ] = None,
    removed: Annotated[
        str | None,
        Help(
            "the repository's examples/6_mix_and_adapt.py mixes two models, and lets a network go on "
            "learning, in a few lines of Python",
            "--mix",
            "--dynamic",
            action=Removed,
        ),
    ] = None,
) -> int:
    """Score text files.

    files of rows:
      .jsonl and .csv, as they are or packed (.gz, .zst), and .parquet hold a text a row. Each row is read
      from a text's beginning; the figures of the file are those of all characters of all rows. A row that
      can't be scored is left out and counted.

      rnnviz perplexity corpus/ 'more/*.jsonl.gz' --model timemachine-gru --output scored.parquet
      rnnviz perplexity pairs.jsonl --column answer --given question --model timemachine-gru
      rnnviz perplexity items.csv --column 'region_*' --model holmes-lstm --output regions.csv

    words:
      a word's perplexity is exp(total cost / words): all that the characters cost, white space too, shared
      out among the words, which are runs of characters between white space.
    """
    names, failed = _find_files(files)
    writers = _plan_outputs(output_files, names, read_options.blanks)
    scores: list[Score] = []
    with contextlib.ExitStack() as stack:
        scoring = _load_scoring(stack, model_arg, read_options, options, compare, scheduler)
        table = (
            stack.enter_context(_open_row_table(scoring, output_files.output, names))
            if output_files.output
            else None
        )
        for file, result in scoring.score_files(names, table.add if table else None, writers):
            if isinstance(result, RnnvizError):
                complain(f"{file}: {result}" if file not in str(result) else str(result))
                failed = True
                continue
            failed |= getattr(result, "damage", None) is not None
            _print_score(result, options, alone=len(names) == 1)
            scores.append(result)
    if len(scores) > 1 and not options.json:
        from rnnviz.scoring.score import averages, describe_averages

        print(terminal_text(describe_averages(averages(scores))))
        if compare:
            print_tables(scores)
    return 1 if failed else 0


def _find_files(names: Sequence[str]) -> tuple[list[str], bool]:
    """All matching files, and whether a name matches none."""
    files: list[str] = []
    failed = False
    for name in names:
        try:
            files += [name] if name == STANDARD_INPUT else gathered(name)
        except TextError as error:
            complain(str(error))
            failed = True
    return files, failed


def _load_scoring(
    stack: contextlib.ExitStack,
    model_arg: ModelOnDevice,
    read_options: ReadOptions,
    options: OutputOptions,
    compare: Sequence[str],
    scheduler: str | None,
) -> Scoring:
    """The models that score the files, and their settings."""
    from rnnviz.scoring.many_files import Scoring

    model = load(model_arg)
    rivals = _load_comparison_models(model_arg, model, compare) if compare else []
    scoring = Scoring(
        model,
        rivals,
        bool(compare),
        source=cache(open_input),  # standard input is read once
        bar=partial(_scoring_bar, options=options),
        **vars(read_options),
    )
    if scheduler is None:
        return scoring
    machines = stack.enter_context(rnnviz.cluster(scheduler))
    return replace(
        scoring,
        model=machines.model(model, device=model_arg.device),
        comparison_models=[
            other._replace(model=machines.model(other.model, device=model_arg.device)) for other in rivals
        ],
        at_once=2 * machines.threads,
        bar=partial(_scoring_bar, options=ProgressOptions(quiet=True)),  # many bars at once are unreadable
    )


def _scoring_bar(file: str, options: ProgressOptions) -> contextlib.AbstractContextManager[Progress | None]:
    return progress_bar(os.path.basename(file), options, _progress_note)


def _progress_note(share: Share) -> str:
    perplexity = "" if share.perplexity is None else f", perplexity {share.perplexity:.3f}"
    return f"{share.characters:,} characters{perplexity}"


def _load_comparison_models(
    model_arg: ModelOnDevice, model: Model, compare: Sequence[str]
) -> list[ComparisonModel]:
    """The models to compare with, labelled, and the model's own n-gram if installed."""
    from rnnviz.scoring.many_files import ComparisonModel

    models = {name: load(model_arg, name) for name in compare if name != model_arg.model}
    rivals = [ComparisonModel("model", "another model", other) for other in models.values()]
    ngram = model.card.get("ngram")
    if isinstance(ngram, str) and ngram not in {model.name, *(other.name for other in models.values())}:
        try:
            rivals.append(ComparisonModel("n-gram", "counts of what the model read", load(model_arg, ngram)))
        except ModelNotFoundError:
            complain(
                f"{model_arg.model} was compared with {ngram} when it was trained; that model is not here"
            )
    return rivals


def _print_score(score: Score, options: OutputOptions, *, alone: bool) -> None:
    """Print a file's figures as soon as they are known; `alone`: with the sentences."""
    from rnnviz.scoring.score import RowsScore

    warn_guessed_encoding(score.file, score.encoding, score.certainty)
    if isinstance(score, RowsScore):
        for row, error in score.examples:
            complain(f"{score.file}, row {row:,}: {error}")
        if score.damage is not None:
            complain(f"{score.damage}; the {score.rows:,} rows before that were read")
    levels = OUTPUT_LEVELS if alone else ("aside",)
    print_findings([score], options, score.heading(), levels=levels, table=alone and bool(score.compared))
    sys.stdout.flush()


# what to write


def _plan_outputs(
    output_files: OutputFiles, files: Sequence[str], blanks: Blanks
) -> dict[str, Callable[[Record], None]]:
    """The writer of each file's table and page. Raises early where writing is impossible."""
    from rnnviz.figures import export, row_table

    outputs: list[list[str | None]] = []
    table_options = output_files.per_character, output_files.per_word
    for option, kind in (*((table, None) for table in table_options), (output_files.html, ".html")):
        paths = [option and option.replace(FILE_PLACEHOLDER, _stem(file)) for file in files]
        for path in filter(None, paths):
            check_output(path, kind or f".{export.table_format(path)}", *files)
        outputs.append(paths)
    if output_files.output is not None:
        check_output(output_files.output, f".{row_table.output_format(output_files.output)}", *files)
    output_paths = [path for paths in (*outputs, [output_files.output]) for path in paths if path]
    if repeated := [path for path, n in Counter(map(os.path.abspath, output_paths)).items() if n > 1]:
        raise UsageError(
            f"several results would be written to {os.path.relpath(repeated[0])}; name each otherwise: "
            f"{FILE_PLACEHOLDER} in a name stands for the text's, and texts of the same name go one at a time"
        )
    write = partial(_write_outputs, blanks)
    return {file: partial(write, *paths) for file, *paths in zip(files, *outputs, strict=True) if any(paths)}


def _write_outputs(
    blanks: Blanks, characters: str | None, words: str | None, page: str | None, record: Record
) -> None:
    from rnnviz.figures import export

    if characters is not None:
        export.per_character(record, characters)
    if words is not None:
        export.per_word(record, words, blanks=blanks)
    if page is not None:
        export.html(record, page)


def _open_row_table(
    scoring: Scoring, output: str, files: Sequence[str]
) -> contextlib.AbstractContextManager[RowTable]:
    """The table for scored rows."""
    from rnnviz.figures import row_table

    columns: row_table.Kinds = {}
    regions: list[str] = []
    if row_table.output_format(output) != "jsonl":
        rows = []
        for file in files:
            with contextlib.suppress(RnnvizError):  # reported when it is scored
                if scoring.format(file) is not None:
                    rows.append(scoring.rows(file))
        columns = row_table.kinds(rows)
        regions = [name for file in rows for name in file.region_names()]
    return row_table.open_table(output, columns, regions)


def _stem(file: str) -> str:
    return "stdin" if file == STANDARD_INPUT else Path(file).stem

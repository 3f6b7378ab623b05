"""`python -m rnnviz perplexity`: score files, compare models on them, and write the results. The numbers are
exactly those of rnnviz.reading.scoring; a file that can't be scored doesn't stop the others.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rnnviz.cli.output import (
    STANDARD_INPUT,
    add_model,
    add_quiet,
    as_json,
    command,
    complain,
    complain_of_guess,
)
from rnnviz.cli.perplexity_scoring import Found, Outputs, Scoring
from rnnviz.cli.perplexity_words import (
    LEARNED,
    Compared,
    complain_of_rows,
    in_words,
    print_averages,
    print_matrix,
    print_rows,
    range_json,
    rows_in_words,
)
from rnnviz.errors import RnnvizError, TextError

if TYPE_CHECKING:
    from rnnviz.reading.scoring import Report

PLACE = "{file}"  # in an output's name: where the scored file's name goes

_EXAMPLES = """\
files of rows:
  .jsonl and .csv, as they are or packed (.gz, .zst), and .parquet hold a text a row. Each row is read from a
  text's beginning; the figures of the file are those of all characters of all rows. A row that can't be
  scored is left out and counted.

  rnnviz perplexity corpus/ 'more/*.jsonl.gz' --model timemachine-gru --output scored.parquet
  rnnviz perplexity pairs.jsonl --column answer --given question --model timemachine-gru

learning from the text:
  --mix and --dynamic are exact and causal: a character is predicted from what came before it alone. Rows are
  texts of their own, each begins anew. --compare shows the model without them beside it.

  rnnviz perplexity a.txt --model timemachine-gru --mix timemachine-6gram --compare timemachine-gru
  rnnviz perplexity a.txt --model timemachine-gru --dynamic --mix timemachine-6gram

words:
  a word's perplexity is exp(total cost / words): all that the characters cost, white space too, shared out
  among the words, which are runs of characters between white space.
"""


def add_parser(commands: Any) -> None:
    """Add the `perplexity` command."""
    parser = command(commands, "perplexity", main, "Score text files", _EXAMPLES)
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="text files, files of rows, folders, or patterns with *; - reads standard input",
    )
    add_model(parser)
    parser.add_argument("--encoding", help="the files' encoding (default: found for each file)")
    parser.add_argument(
        "--mix",
        metavar="NAME",
        help="mix the model with this one, an n-gram say; how much each counts is learned from the text as "
        "it is read, so figures aren't comparable with those of a model alone",
    )
    parser.add_argument(
        "--dynamic",
        action="store_true",
        help="let the network go on learning from the text as it reads it (dynamic evaluation), many times "
        "slower; figures aren't comparable then either",
    )
    parser.add_argument(
        "--precise",
        action="store_true",
        help="compute in float64, in sequence: many times slower, for texts on which the network magnifies "
        "rounding",
    )
    add_quiet(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object a file, one file a line")
    parser.add_argument(
        "--compare",
        type=_names,
        default=(),
        metavar="A,B,…",
        help="score the files with these models too, and show what a uniform guess, letter frequencies, "
        "the model's n-gram, gzip and xz make of them (of rows: the models alone)",
    )
    parser.add_argument(
        "--per-character",
        metavar="OUT",
        help="write a row for each character: position, which counts from 1, character, code_point, nll and "
        "entropy in nats, rank, known, and index, the position counted from 0. The ending, .csv or .parquet, "
        f"is the format; {PLACE} stands for the file's name",
    )
    parser.add_argument(
        "--html",
        metavar="OUT",
        help=f"write a page with the figures, the curve and the coloured text; {PLACE} too",
    )
    _add_rows(parser)
    parser.set_defaults(misspelt=parser.error)


def _add_rows(parser: argparse.ArgumentParser) -> None:
    rows = parser.add_argument_group("files of rows")
    rows.add_argument(
        "--column", metavar="NAME", help="the column of the texts (default: the only one with texts)"
    )
    rows.add_argument(
        "--given",
        metavar="NAME",
        help="the column of what comes before each text: it is read first and not counted",
    )
    rows.add_argument(
        "--output",
        metavar="OUT",
        help="write every row with its perplexity beside it, as .parquet, .jsonl or .csv; a text file is one "
        "row",
    )
    rows.add_argument(
        "--as",
        dest="read_as",
        choices=("text", "jsonl", "csv", "parquet"),
        help="what the files are, whatever their names; text: each is one text",
    )
    rows.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="share the work among the machines of a Dask cluster, such as tcp://host:8786 (default: this "
        "process)",
    )


def _names(value: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    if not names:
        raise argparse.ArgumentTypeError("names of models, separated by commas")
    return names


def main(args: argparse.Namespace) -> int:
    """Run `perplexity`; returns the exit status, 1 where a file could not be scored."""
    learns = "--dynamic" if args.dynamic else "--mix" if args.mix is not None else ""
    if learns and args.scheduler is not None:
        args.misspelt(f"{learns} learns from a text in its order: leave out --scheduler")
    files, failed = _files(args)
    outputs = _outputs(args, files)
    compared: dict[str, list[Compared]] = {}
    reports: list[Report] = []
    with contextlib.ExitStack() as stack:
        for file, found in Scoring(args, stack).each(list(zip(files, outputs, strict=True))):
            if isinstance(found, RnnvizError):
                complain(f"{file}: {found}" if file not in str(found) else str(found))
                failed = True
                continue
            failed |= found.rows is not None and found.rows.damage is not None
            _print(args, found)
            reports.append(found.report)
            if found.compared:
                compared[file] = found.compared
    if len(reports) > 1 and not args.json:
        print_averages(reports)
    if len(compared) > 1 and not args.json:
        print_matrix(compared)
    return 1 if failed else 0


def _files(args: argparse.Namespace) -> tuple[list[str], bool]:
    """The files that are named, and whether something is named that isn't there."""
    from rnnviz.text.files import gathered

    files: list[str] = []
    failed = False
    for named in args.files:
        try:
            files += [named] if named == STANDARD_INPUT else gathered(named)
        except TextError as error:
            complain(str(error))
            failed = True
    return files, failed


def _print(args: argparse.Namespace, found: Found) -> None:
    complain_of_guess(found.report.file, found.report.encoding, found.report.certainty)
    if found.rows is not None:
        complain_of_rows(found.rows)
    if args.json:
        values = {**found.report.to_json(), **range_json(found.interval)}
        compared = {"compared": [asdict(one) for one in found.compared]} if found.compared else {}
        print(as_json({**values, **compared}), flush=True)
        return
    if found.interval is not None:
        print(in_words(found.report, found.interval), flush=True)
    elif found.rows is not None:
        print(rows_in_words(found.rows), flush=True)
    if args.mix is not None or args.dynamic:
        print(LEARNED.format(found.report.model), flush=True)
    if found.compared:
        print_rows(found.compared)


# what to write


def _outputs(args: argparse.Namespace, files: Sequence[str]) -> list[Outputs]:
    """Where to write each file's table and page; fails early if that is impossible."""
    from rnnviz.figures import row_table
    from rnnviz.figures.export import check

    read = {_identity(file) for file in files if file != STANDARD_INPUT}

    def keep_texts(path: str) -> None:
        if (written := _identity(path)) is not None and written in read:
            args.misspelt(f"{path} is a text to be scored, and would be written over; give another name")

    outputs: list[list[str | None]] = []
    for option, formats in ((args.per_character, None), (args.html, ("html",))):
        paths = [option and option.replace(PLACE, _stem(file)) for file in files]
        twice = [path for path, n in Counter(paths).items() if path and n > 1]
        if twice:
            args.misspelt(
                f"{len(files)} files would be written to {twice[0]}; put {PLACE} into its name, as in "
                f"{PLACE}-{Path(option).name}, and give files of the same name one at a time"
            )
        for path in filter(None, paths):
            check(path) if formats is None else check(path, formats)
            keep_texts(path)
        outputs.append(paths)
    if args.output is not None:
        check(args.output, (row_table.format_of(args.output),))
        keep_texts(args.output)
    return [Outputs(*paths) for paths in zip(*outputs, strict=True)]


def _identity(path: str) -> tuple[int, int] | None:
    """The same for every name of a file; None where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _stem(file: str) -> str:
    return "stdin" if file == STANDARD_INPUT else Path(file).stem

"""`python -m rnnviz perplexity`: score files, compare models on them, and write the results. The numbers are
exactly those of rnnviz.reading.scoring; a file that can't be scored doesn't stop the others.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from rnnviz.cli.output import (
    STANDARD_INPUT,
    add_model,
    add_quiet,
    as_json,
    command,
    complain,
    load,
    opened,
    print_table,
    progress_bar,
    scoring_bar,
)
from rnnviz.errors import ModelNotFoundError, RnnvizError

if TYPE_CHECKING:
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.networks.torch_model import CharModel
    from rnnviz.reading.scoring import LanguageModel, Report
    from rnnviz.reports.interval import Interval
    from rnnviz.reports.record import Record

PLACE = "{file}"  # in an output's name: where the scored file's name goes

Other = tuple[str, str, "LanguageModel"]  # kind, what it is, the model


@dataclass(frozen=True)
class Row:
    """What a file costs under something. `kind` is model, n-gram, uniform, unigram or compressor; `about`
    describes it. Costs are the whole text's, unknown characters' included; the `best` row has the fewest
    bits, except the unigram, which is no code.
    """

    name: str
    kind: str
    about: str
    perplexity: float
    bits_per_character: float
    best: bool = False


def add_parser(commands: Any) -> None:
    """Add the `perplexity` command."""
    parser = command(commands, "perplexity", main, "Score text files")
    parser.add_argument("files", nargs="+", metavar="FILE", help="text files; - reads standard input")
    add_model(parser)
    parser.add_argument("--encoding", help="the files' encoding (default: found for each file)")
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
        help="score the files with these models too, and show what guessing blindly, counting characters, "
        "the model's n-gram, gzip and xz make of them",
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
    parser.set_defaults(misspelt=parser.error)


def _names(value: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    if not names:
        raise argparse.ArgumentTypeError("names of models, separated by commas")
    return names


def main(args: argparse.Namespace) -> int:
    """Run `perplexity`; returns the exit status, 1 where a file could not be scored."""
    outputs = _outputs(args)
    model = load(args)
    others = _others(args, model)
    failed = False
    compared: dict[str, list[Row]] = {}
    for file, (table, page) in zip(args.files, outputs, strict=True):
        try:
            with opened(file) as source:
                report, rows, lies = _score(args, model, others, source, file, table, page)
        except RnnvizError as error:
            complain(f"{file}: {error}" if file not in str(error) else str(error))
            failed = True
            continue
        if args.json:
            values = {**report.to_json(), **_range(lies)}
            print(
                as_json({**values, "compared": [asdict(row) for row in rows]} if rows else values), flush=True
            )
        else:
            print(_as_words(report, lies), flush=True)
            if rows:
                _print_rows(rows)
                compared[file] = rows
    if len(compared) > 1:
        _print_matrix(compared)
    return 1 if failed else 0


# what to write


def _outputs(args: argparse.Namespace) -> list[tuple[str | None, str | None]]:
    """Where to write each file's table and page; fails early if that is impossible."""
    from rnnviz.figures.export import check

    read = {_identity(file) for file in args.files if file != STANDARD_INPUT}
    outputs: list[list[str | None]] = []
    for option, formats in ((args.per_character, None), (args.html, ("html",))):
        paths = [option and option.replace(PLACE, _stem(file)) for file in args.files]
        twice = [path for path, n in Counter(paths).items() if path and n > 1]
        if twice:
            args.misspelt(
                f"{len(args.files)} files would be written to {twice[0]}; put {PLACE} into its name, as in "
                f"{PLACE}-{Path(option).name}, and give files of the same name one at a time"
            )
        for path in filter(None, paths):
            check(path) if formats is None else check(path, formats)
            if (written := _identity(path)) is not None and written in read:
                args.misspelt(f"{path} is a text to be scored, and would be written over; give another name")
        outputs.append(paths)
    return list(zip(*outputs, strict=True))


def _identity(path: str) -> tuple[int, int] | None:
    """The same for every name of a file; None where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _stem(file: str) -> str:
    return "stdin" if file == STANDARD_INPUT else Path(file).stem


def _score(
    args: argparse.Namespace,
    model: LanguageModel,
    others: Sequence[Other],
    source: str | BinaryIO,
    file: str,
    table: str | None,
    page: str | None,
) -> tuple[Report, list[Row], Interval]:
    from rnnviz.reading.scoring import perplexity
    from rnnviz.reports.interval import Sums, interval

    if not (args.compare or table or page):
        sums = Sums()
        with scoring_bar(file, args) as progress:
            report = perplexity(
                model,
                source,
                encoding=args.encoding,
                progress=progress,
                name=file,
                precise=args.precise,
                costs=sums.add,
            )
            return report, [], interval(sums)
    from rnnviz.figures import export
    from rnnviz.networks.progress import run
    from rnnviz.reports.record import record

    with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
        with scoring_bar(file, args) as progress:
            steps = record(
                model,
                source,
                Path(folder) / "record",
                encoding=args.encoding,
                name=file,
                precise=args.precise,
            )
            scored = run(steps, progress)
        if table is not None:
            export.per_character(scored, table)
        if page is not None:
            export.html(scored, scored.report, page)
        rows = _compared(args, scored, model, others, source) if args.compare else []
        return scored.report, rows, interval(scored)


# what to compare with


def _others(args: argparse.Namespace, model: CharModel | NgramModel) -> list[Other]:
    """The models to compare with and what they are, with the model's own n-gram if it is installed."""
    if not args.compare:
        return []
    others = {name: load(args, name) for name in args.compare if name != args.model}
    found: list[Other] = [("model", "another model", other) for other in others.values()]
    ngram = model.card.get("ngram")
    if isinstance(ngram, str) and ngram not in {model.name, *(other.name for other in others.values())}:
        try:
            found.append(("n-gram", "counts of what the model read", load(args, ngram)))
        except ModelNotFoundError:
            complain(f"{args.model} was compared with {ngram} when it was trained; that model is not here")
    return found


def _compared(
    args: argparse.Namespace,
    scored: Record,
    model: LanguageModel,
    others: Sequence[Other],
    source: str | BinaryIO,
) -> list[Row]:
    from rnnviz.networks.progress import run
    from rnnviz.reading.scoring import perplexity
    from rnnviz.reports import baselines

    report = scored.report
    rows = [Row(report.model, "model", "the model", report.perplexity, report.bits_per_character)]
    for kind, about, other in others:
        with scoring_bar(f"{report.file}: {other.name}", args) as progress:
            its = perplexity(
                other,
                source,
                encoding=args.encoding,
                progress=progress,
                name=report.file,
                precise=report.precise,
            )
        rows.append(Row(its.model, kind, about, its.perplexity, its.bits_per_character))
    with progress_bar(f"{report.file}: gzip, xz", args) as show:

        def step(done: int) -> None:
            if show is not None:
                show(done / report.characters, f"{done:,} characters")

        found = run(baselines.measuring(scored, model.vocabulary), step)
    without_model = {
        "uniform": f"a blind guess among {model.vocabulary.size:,}",
        "unigram": "the file's own frequencies, for free",
    }
    for one in found:
        kind = one.name if one.name in without_model else "compressor"
        said = without_model.get(one.name, "a compressor at its best")
        rows.append(Row(one.name, kind, said, one.perplexity, one.bits_per_character))
    # The unigram was told the file's own frequencies: only what could code the file can be the best.
    codes = [n for n, row in enumerate(rows) if row.kind != "unigram"]
    best = min(codes, key=lambda n: rows[n].bits_per_character)
    rows[best] = replace(rows[best], best=True)
    return rows


# in words


def _range(lies: Interval) -> dict[str, Any]:
    from rnnviz.reports.interval import METHOD

    return {
        "interval": None if lies.low is None else [lies.low, lies.high],
        "interval_method": METHOD,
        "interval_why_not": lies.reason or None,
    }


_WHY_NOT = {
    "drifts": "no range for the characters that follow: the first half comes to {first:.4g}, the second to "
    "{second:.4g}, further apart than the passages within them",
    "uneven": "no range for the characters that follow: the passages of this text differ too much",
}


def _range_in_words(lies: Interval) -> str:
    if lies.low is not None:
        return (
            f"\n  the next {lies.characters:,} characters of the same text: "
            f"{lies.low:.4g} to {lies.high:.4g}, to hold 95 times in 100"
        )
    if lies.halves is None:  # too short
        return ""
    first, second = lies.halves
    return "\n  " + _WHY_NOT[lies.reason].format(first=first, second=second)


def _as_words(report: Report, lies: Interval) -> str:
    unknown = f"{report.unknown:,} unknown"
    if report.unknown and report.perplexity_known is not None:
        unknown += f" (without them {report.perplexity_known:.4g})"
    return (
        f"{report.file}: perplexity {report.perplexity:.4g}, "
        f"{report.bits_per_character:.4g} bits a character, {report.bits_per_byte:.4g} bits a byte\n"
        f"  {report.characters:,} characters, {unknown}; {report.encoding}, {report.certainty}; "
        f"{report.seconds:.2f} s{', in float64' if report.precise else ''}{_range_in_words(lies)}"
        + (f"\n  {_UNSETTLED.format(report.unsettled)}" if report.unsettled else "")
    )


_UNSETTLED = (
    "on {:,} of these the network magnified rounding instead of forgetting it: their costs, and the "
    "last digits above, depend on the order of computing; --precise computes in float64"
)


def _print_rows(rows: Sequence[Row]) -> None:
    print_table(
        ("", "under", "what it is", "perplexity", "bits a character"),
        [
            ("*" if r.best else "", r.name, r.about, f"{r.perplexity:.4g}", f"{r.bits_per_character:.4g}")
            for r in rows
        ],
        numbers=(3, 4),
        indent="  ",
    )


def _print_matrix(compared: dict[str, list[Row]]) -> None:
    print("\nperplexity")
    files = list(compared)
    names = [row.name for row in compared[files[0]]]
    cells = [
        (name, *(f"{'*' if (row := compared[file][n]).best else ''}{row.perplexity:.4g}" for file in files))
        for n, name in enumerate(names)
    ]
    print_table(("under", *files), cells, numbers=range(1, len(files) + 1))

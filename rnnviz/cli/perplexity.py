"""`python -m rnnviz perplexity`: score files, compare models on them, and write what was found.

The numbers are those of rnnviz.reading.scoring, to the last digit, whatever else is
asked for; a file that can't be scored doesn't stop the others.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from rnnviz.cli.output import (
    STANDARD_INPUT,
    add_model,
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
    from rnnviz.reading.scoring import LanguageModel, Progress, Report
    from rnnviz.reports.record import Record

PLACE = "{file}"  # in an output's name: where the scored file's name goes


Other = tuple[str, str, "LanguageModel"]  # kind, what it is, the model


@dataclass(frozen=True)
class Row:
    """What a file costs under something.

    `kind` is model, n-gram, uniform, unigram or compressor; `about` says what it is.
    `perplexity` and `bits_per_character` are those of the whole text, unknown
    characters' cost included; the `best` row has the fewest bits, the unigram, which is no code, aside.
    """

    name: str
    kind: str
    about: str
    perplexity: float
    bits_per_character: float
    best: bool = False


class _Outputs(NamedTuple):
    """Where to write what, for one file."""

    per_character: str | None
    html: str | None


def add_parser(commands: Any) -> None:
    """Add the `perplexity` command."""
    parser = command(commands, "perplexity", _perplexity, "Score text files")
    parser.add_argument("files", nargs="+", metavar="FILE", help="text files; - reads standard input")
    add_model(parser)
    parser.add_argument("--encoding", help="the files' encoding (default: found for each file)")
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
        help="write a row for each character: position, character, code_point, nll and entropy in nats, "
        f"rank, known. The ending, .csv or .parquet, is the format; {PLACE} stands for the file's name",
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


def _perplexity(args: argparse.Namespace) -> int:
    outputs = _outputs(args)
    model = load(args)
    others = _others(args, model)
    failed = False
    compared: dict[str, list[Row]] = {}
    for file, output in zip(args.files, outputs, strict=True):
        try:
            with opened(file) as source:
                report = _score(model, source, file, args.encoding, output)
                rows = _compared(report, model, others, source, args.encoding) if args.compare else []
        except RnnvizError as error:
            complain(f"{file}: {error}" if file not in str(error) else str(error))
            failed = True
            continue
        if args.json:
            values = report.to_json()
            print(
                as_json({**values, "compared": [asdict(row) for row in rows]} if rows else values), flush=True
            )
        else:
            print(_as_words(report), flush=True)
            if rows:
                _print_rows(rows)
                compared[file] = rows
    if len(compared) > 1:
        _print_matrix(compared)
    return 1 if failed else 0


# what to write


def _outputs(args: argparse.Namespace) -> list[_Outputs]:
    """The outputs of each file. What can't be written is said before anything is scored."""
    from rnnviz.figures.export import check

    read = {_identity(file) for file in args.files if file != STANDARD_INPUT}
    columns: list[list[str | None]] = []
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
        columns.append(paths)
    return [_Outputs(*pair) for pair in zip(*columns, strict=True)]


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
    model: LanguageModel, source: str | BinaryIO, file: str, encoding: str | None, output: _Outputs
) -> Report:
    """The report of one file, and what was asked to be written about it."""
    from rnnviz.reading.scoring import perplexity

    with scoring_bar(file) as progress:
        if output.per_character is None and output.html is None:
            return perplexity(model, source, encoding=encoding, progress=progress, name=file)
        from rnnviz.figures import export
        from rnnviz.reports.record import record

        with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
            steps = record(model, source, Path(folder) / "record", encoding=encoding, name=file)
            kept = _finished(steps, progress)
            if output.per_character is not None:
                export.per_character(kept, output.per_character)
            if output.html is not None:
                export.html(kept, kept.report, output.html)
            return kept.report


def _finished(
    steps: Generator[Progress, None, Record], progress: Callable[[Progress], None] | None
) -> Record:
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            kept: Record = end.value
            return kept
        if progress is not None:
            progress(step)


# what to compare with


def _others(args: argparse.Namespace, model: CharModel | NgramModel) -> list[Other]:
    """The other models with what they are; the model's own n-gram among them, where it is on this machine."""
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
    report: Report,
    model: LanguageModel,
    others: Sequence[Other],
    source: str | BinaryIO,
    encoding: str | None,
) -> list[Row]:
    """A file under everything it is compared with, the best marked."""
    from rnnviz.reading.scoring import UniformModel, perplexity

    rows = [Row(report.model, "model", "the model", report.perplexity, report.bits_per_character)]
    guess = ("uniform", f"a blind guess among {model.vocabulary.size:,}", UniformModel(model.vocabulary))
    for kind, about, other in (*others, guess):
        with scoring_bar(f"{report.file}: {other.name}") as progress:
            its = perplexity(other, source, encoding=encoding, progress=progress, name=report.file)
        rows.append(Row(its.model, kind, about, its.perplexity, its.bits_per_character))
    rows += _baselines(report, source, encoding, model.normaliser)
    # The unigram is given the file's own frequencies for free: only what could code the file can be the best.
    codes = [n for n, row in enumerate(rows) if row.kind != "unigram"]
    best = min(codes, key=lambda n: rows[n].bits_per_character)
    rows[best] = replace(rows[best], best=True)
    return rows


def _baselines(
    report: Report, source: str | BinaryIO, encoding: str | None, normaliser: str
) -> Iterator[Row]:
    """The file under its own frequencies and real compressors, read from it once each."""
    from rnnviz.reports.baselines import compressing, unigram
    from rnnviz.text.pieces import SourceText

    def text() -> Iterator[str]:
        return SourceText(source, None, encoding, None, normaliser).pieces(1 << 16)

    own = unigram(text())
    yield Row(
        own.name, "unigram", "the file's own frequencies, for free", own.perplexity, own.bits_per_character
    )
    with progress_bar(f"{report.file}: gzip, xz") as progress:
        steps = compressing(text())
        while True:
            try:
                done = next(steps)
            except StopIteration as end:
                packed = end.value
                break
            if progress is not None:
                progress(done / report.characters, f"{done:,} characters")
    for one in packed:
        yield Row(one.name, "compressor", "a compressor at its best", one.perplexity, one.bits_per_character)


# in words


def _as_words(report: Report) -> str:
    unknown = f"{report.unknown:,} unknown"
    if report.unknown and report.perplexity_known is not None:
        unknown += f" (without them {report.perplexity_known:.4g})"
    return (
        f"{report.file}: perplexity {report.perplexity:.4g}, "
        f"{report.bits_per_character:.4g} bits a character, {report.bits_per_byte:.4g} bits a byte\n"
        f"  {report.characters:,} characters, {unknown}; {report.encoding}, {report.certainty}; "
        f"{report.seconds:.2f} s"
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
    """Every model × every file: perplexity, the best of each file marked."""
    print("\nperplexity")
    files = list(compared)
    names = [row.name for row in compared[files[0]]]
    cells = [
        (name, *(f"{'*' if (row := compared[file][n]).best else ''}{row.perplexity:.4g}" for file in files))
        for n, name in enumerate(names)
    ]
    print_table(("under", *files), cells, numbers=range(1, len(files) + 1))

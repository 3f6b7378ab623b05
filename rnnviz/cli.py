"""The command line: python -m rnnviz train | perplexity | sample | trace | models | sketch.

Results go to standard output, everything else to standard error, so that
output can be piped. Exit codes: 0 all went well; 1 something could not be
done, said in one line on standard error; 2 the command was misspelt; 130
stopped by Ctrl-C.

torch is imported only by the commands that compute, so that `--help` and
`models` answer at once. `train` lives in rnnviz.cli_train, `sketch` in rnnviz.cli_sketch.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, BinaryIO, TextIO

from rnnviz import __version__, cli_sketch, cli_train
from rnnviz.checkpoint import available
from rnnviz.errors import ConfigError, RnnvizError

if TYPE_CHECKING:
    from rnnviz.model import CharModel
    from rnnviz.ngram import NgramModel
    from rnnviz.scoring import Progress, Report

STOPPED = 130  # what a shell expects of a command that Ctrl-C ended
STANDARD_INPUT = "-"


def run() -> None:
    """The process's entry: run the command in sys.argv and exit with its code."""
    sys.exit(main())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns its exit code; only a misspelt command exits by itself, with 2."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that can't show a character gets its code point
            stream.reconfigure(errors="backslashreplace")
    try:
        args = _parser().parse_args(arguments)
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except RnnvizError as error:
        _complain(str(error))
        return 1
    except KeyboardInterrupt:
        _complain("stopped")
        return STOPPED
    except BrokenPipeError:  # whoever reads our output has seen enough, `| head` for one
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _complain(message: str) -> None:
    print(f"rnnviz: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rnnviz", description="Train character-level recurrent language models and look inside them."
    )
    parser.add_argument("--version", action="version", version=f"rnnviz {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    cli_train.add_parser(commands)
    _add_perplexity(commands)
    _add_sample(commands)
    _add_trace(commands)
    _add_models(commands)
    cli_sketch.add_parser(commands)
    return parser


def _command(commands: Any, name: str, run: Callable[[argparse.Namespace], int], about: str) -> Any:
    parser = commands.add_parser(name, help=about[0].lower() + about[1:], description=f"{about}.")
    parser.set_defaults(run=run)
    return parser


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", "-m", required=True, metavar="NAME", help="a name that `rnnviz models` lists, or a file"
    )
    parser.add_argument(
        "--device", default="auto", help="auto, cpu or cuda (default: auto, a GPU where there is one)"
    )


def _load(args: argparse.Namespace) -> CharModel | NgramModel:
    from rnnviz.checkpoint import load

    return load(args.model, device=args.device)


# perplexity


def _add_perplexity(commands: Any) -> None:
    parser = _command(commands, "perplexity", _perplexity, "Score text files")
    parser.add_argument("files", nargs="+", metavar="FILE", help="text files; - reads standard input")
    _add_model(parser)
    parser.add_argument("--encoding", help="the files' encoding (default: found for each file)")
    parser.add_argument("--json", action="store_true", help="one JSON object a file, one file a line")


def _perplexity(args: argparse.Namespace) -> int:
    from rnnviz.scoring import perplexity

    model = _load(args)
    failed = False
    for file in args.files:
        try:
            with _opened(file) as source, _progress_bar(file) as progress:
                report = perplexity(model, source, encoding=args.encoding, progress=progress, name=file)
        except RnnvizError as error:
            _complain(f"{file}: {error}" if file not in str(error) else str(error))
            failed = True
            continue
        print(_as_json(report.to_json()) if args.json else _as_words(report), flush=True)
    return 1 if failed else 0


@contextlib.contextmanager
def _opened(file: str) -> Iterator[str | BinaryIO]:
    """The path, or a seekable copy of standard input, on disk once it is large."""
    if file != STANDARD_INPUT:
        yield file
        return
    with tempfile.SpooledTemporaryFile(max_size=1 << 24) as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.seek(0)
        yield copy  # type: ignore[misc]  # a BinaryIO in all but name


@contextlib.contextmanager
def _progress_bar(file: str) -> Iterator[Callable[[Progress], None] | None]:
    """What to call with Progress: a bar on standard error if that is a terminal, else None."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(escape(os.path.basename(file))),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[characters]:,} characters, perplexity {task.fields[perplexity]:.3f}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0, characters=0, perplexity=math.nan)

        def show(step: Any) -> None:
            bar.update(task, completed=step.fraction, characters=step.characters, perplexity=step.perplexity)

        yield show


def _as_json(values: Any) -> str:
    """One line of JSON; numbers that JSON doesn't have become null."""
    return json.dumps(_finite(values), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


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


# sample


def _add_sample(commands: Any) -> None:
    parser = _command(commands, "sample", _sample, "Continue a text")
    _add_model(parser)
    parser.add_argument("--prompt", "-p", default="", help="the text to continue (default: none)")
    parser.add_argument("--length", "-n", type=int, default=500, help="characters to write (default: 500)")
    parser.add_argument(
        "--temperature", "-t", type=float, default=1.0, help="below 1 tamer, above 1 wilder (default: 1)"
    )
    parser.add_argument("--top-k", type=int, help="choose among the k most probable characters only")
    parser.add_argument("--seed", type=int, help="the same seed writes the same text")


def _sample(args: argparse.Namespace) -> int:
    from rnnviz.sampling import stream

    model = _load(args)
    written = stream(
        model, args.prompt, args.length, temperature=args.temperature, top_k=args.top_k, seed=args.seed
    )
    sys.stdout.write(args.prompt)
    for character in written:
        sys.stdout.write(character)
        sys.stdout.flush()
    sys.stdout.write("\n")
    return 0


# trace


def _add_trace(commands: Any) -> None:
    parser = _command(commands, "trace", _trace, "Show what a network expected at every character of a text")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("text", nargs="?", metavar="TEXT", help="the text to read")
    what.add_argument("--file", "-f", help="read the text from a file; - reads standard input")
    _add_model(parser)
    parser.add_argument("--encoding", help="the file's encoding (default: found)")
    parser.add_argument(
        "--format",
        choices=("json", "csv"),
        default="csv",
        help="csv: one row a character; json: one object (default: csv). nll and entropy are in nats, "
        "entropy is that of the prediction which the character met, rank 1 is the most probable",
    )


def _trace(args: argparse.Namespace) -> int:
    from rnnviz.model import CharModel
    from rnnviz.trace import trace

    model = _load(args)
    if not isinstance(model, CharModel):
        raise ConfigError(
            f"trace looks inside a network; {args.model} counts n-grams and has no hidden state"
        )
    traced = trace(model, args.text if args.file is None else _whole(args.file, args.encoding))
    columns = ("position", "character", "nll", "rank", "entropy")
    rows = zip(
        range(1, len(traced) + 1),
        traced.text,
        traced.nll.tolist(),
        traced.rank.tolist(),
        traced.entropy[:-1].tolist(),
        strict=True,
    )
    if args.format == "json":
        characters = [dict(zip(columns, row, strict=True)) for row in rows]
        print(_as_json({"model": traced.model_name, "text": traced.text, "characters": characters}))
    else:
        _write_csv(sys.stdout, columns, rows)
    return 0


def _whole(file: str, encoding: str | None) -> str:
    from rnnviz.text import open_text

    with _opened(file) as source:
        return "".join(open_text(source, encoding=encoding))


def _write_csv(out: TextIO | IO[str], columns: Sequence[str], rows: Iterator[Sequence[Any]]) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)


# models


def _add_models(commands: Any) -> None:
    parser = _command(commands, "models", _models, "List the models on this machine")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON object a model, with its card")
    how.add_argument("--markdown", action="store_true", help="a page of cards, as in models/README.md")


def _models(args: argparse.Namespace) -> int:
    models, damaged = available()
    if args.json:
        for info in models:
            values = {**vars(info), "path": str(info.path)}
            print(_as_json(values))
    elif args.markdown:
        from rnnviz.cards import to_markdown

        print(to_markdown(models), end="")
    elif models:
        _print_table(
            ("name", "kind", "V", "parameters", "perplexity", "size", "title"),
            [_row(info.card, info.name, info.kind, info.vocabulary_size, info.bytes) for info in models],
        )
    for file in damaged:
        _complain(file.reason)
    if not models:
        _complain("no models here; train one, or name a folder of models in RNNVIZ_MODELS")
    return 0


def _row(card: dict[str, Any], name: str, kind: str, symbols: int, size: int) -> tuple[str, ...]:
    held_out = card.get("held_out")
    own = held_out.get("perplexity") if isinstance(held_out, dict) else None
    parameters = card.get("parameters")
    return (
        name,
        kind,
        f"{symbols:,}",
        f"{parameters:,}" if isinstance(parameters, int) else "",
        f"{own:.3f}" if isinstance(own, int | float) else "",
        f"{size / 1e6:.1f} MB",
        str(card.get("title") or card.get("corpus") or ""),
    )


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = [
            text.rjust(width) if 2 <= n <= 5 else text.ljust(width)
            for n, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())

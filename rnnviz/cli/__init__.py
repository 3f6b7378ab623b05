"""The command line: python -m rnnviz train | perplexity | sample | trace | units | models | sketch.

Results go to standard output, everything else to standard error, so that
output can be piped. Exit codes: 0 all went well; 1 something could not be
done, said in one line on standard error; 2 the command was misspelt; 130
stopped by Ctrl-C.

torch is imported only by the commands that compute, so that `--help` and
`models` answer at once. `train` lives in rnnviz.cli.train, `perplexity` in
rnnviz.cli.perplexity, `units` in rnnviz.cli.units, `sketch` in rnnviz.cli.sketch.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import sys
from collections.abc import Sequence
from typing import Any

from rnnviz import __version__
from rnnviz.cli import perplexity, sketch, train, units
from rnnviz.cli.output import add_model, as_json, command, complain, load, opened, print_table, write_csv
from rnnviz.errors import ConfigError, RnnvizError
from rnnviz.networks.checkpoint import available

STOPPED = 130  # what a shell expects of a command that Ctrl-C ended


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
        complain(str(error))
        return 1
    except KeyboardInterrupt:
        complain("stopped")
        return STOPPED
    except BrokenPipeError:  # whoever reads our output has seen enough, `| head` for one
        _hush()
        return 0
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
            raise
        _hush()
        complain(f"the output can't be written: {error.strerror}")
        return 1


def _hush() -> None:
    """Let what is still to be printed go nowhere: standard output takes no more."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rnnviz", description="Train character-level recurrent language models and look inside them."
    )
    parser.add_argument("--version", action="version", version=f"rnnviz {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    train.add_parser(commands)
    perplexity.add_parser(commands)
    _add_sample(commands)
    _add_trace(commands)
    units.add_parser(commands)
    _add_models(commands)
    sketch.add_parser(commands)
    return parser


# sample


def _add_sample(commands: Any) -> None:
    parser = command(commands, "sample", _sample, "Continue a text")
    add_model(parser)
    parser.add_argument("--prompt", "-p", default="", help="the text to continue (default: none)")
    parser.add_argument("--length", "-n", type=int, default=500, help="characters to write (default: 500)")
    parser.add_argument(
        "--temperature", "-t", type=float, default=1.0, help="below 1 tamer, above 1 wilder (default: 1)"
    )
    parser.add_argument("--top-k", type=int, help="choose among the k most probable characters only")
    parser.add_argument("--seed", type=int, help="the same seed writes the same text")


def _sample(args: argparse.Namespace) -> int:
    from rnnviz.reading.sampling import stream

    model = load(args)
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
    parser = command(commands, "trace", _trace, "Show what a network expected at every character of a text")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("text", nargs="?", metavar="TEXT", help="the text to read")
    what.add_argument("--file", "-f", help="read the text from a file; - reads standard input")
    add_model(parser)
    parser.add_argument("--encoding", help="the file's encoding (default: found)")
    parser.add_argument(
        "--format",
        choices=("json", "csv"),
        default="csv",
        help="csv: one row a character; json: one object (default: csv). nll and entropy are in nats, "
        "entropy is that of the prediction which the character met, rank 1 is the most probable",
    )


def _trace(args: argparse.Namespace) -> int:
    from rnnviz.networks.torch_model import CharModel
    from rnnviz.reading.trace import trace

    model = load(args)
    if not isinstance(model, CharModel):
        raise ConfigError(
            "trace looks inside a network; {model} counts n-grams and has no hidden state", model=args.model
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
        print(as_json({"model": traced.model_name, "text": traced.text, "characters": characters}))
    else:
        write_csv(sys.stdout, columns, rows)
    return 0


def _whole(file: str, encoding: str | None) -> str:
    from rnnviz.text.decoding import open_text

    with opened(file) as source:
        return "".join(open_text(source, encoding=encoding))


# models


def _add_models(commands: Any) -> None:
    parser = command(commands, "models", _models, "List the models on this machine")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON object a model, with its card")
    how.add_argument("--markdown", action="store_true", help="a page of cards, as in models/README.md")


def _models(args: argparse.Namespace) -> int:
    models, damaged = available()
    if args.json:
        for info in models:
            values = {**vars(info), "path": str(info.path)}
            print(as_json(values))
    elif args.markdown:
        from rnnviz.runs.card import to_markdown

        print(to_markdown(models), end="")
    elif models:
        print_table(
            ("name", "kind", "V", "parameters", "perplexity", "size", "title"),
            [_row(info.card, info.name, info.kind, info.vocabulary_size, info.bytes) for info in models],
            numbers=range(2, 6),
        )
    for file in damaged:
        complain(file.reason)
    if not models:
        complain("no models here; train one, or name a folder of models in RNNVIZ_MODELS")
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
        "".join(c if c.isprintable() else " " for c in str(card.get("title") or card.get("corpus") or "")),
    )

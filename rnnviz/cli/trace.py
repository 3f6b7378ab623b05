"""`python -m rnnviz trace`: what a network expected at every character of a text."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from rnnviz.cli.output import add_model, as_json, command, load, read_text
from rnnviz.errors import ConfigError
from rnnviz.figures import spreadsheet


def add_parser(commands: Any) -> None:
    """Add the `trace` command."""
    parser = command(commands, "trace", main, "Show what a network expected at every character of a text")
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


def main(args: argparse.Namespace) -> int:
    """Run `trace`; returns the exit status. Raises ConfigError for an n-gram model."""
    from rnnviz.networks.torch_model import CharModel
    from rnnviz.reading.trace import trace

    model = load(args)
    if not isinstance(model, CharModel):
        raise ConfigError(
            "trace looks inside a network; {model} counts n-grams and has no hidden state", model=args.model
        )
    traced = trace(model, args.text if args.file is None else read_text(args.file, args.encoding))
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
        spreadsheet.write(sys.stdout, columns, rows)
    return 0

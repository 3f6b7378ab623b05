"""`python -m rnnviz trace`: what a network expected at every character of a text."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from rnnviz.cli.output import (
    add_model,
    add_text,
    as_json,
    command,
    given_text,
    torch_network,
)
from rnnviz.figures import spreadsheet


def add_parser(commands: Any) -> None:
    """Add the `trace` command."""
    parser = command(commands, "trace", main, "Show what a network expected at every character of a text")
    add_text(parser)
    add_model(parser)
    parser.add_argument(
        "--format",
        choices=("json", "csv"),
        default="csv",
        help="csv: one row a character; json: one object (default: csv). nll and entropy are in nats, "
        "entropy is that of the prediction which the character met, rank 1 is the most probable",
    )


def main(args: argparse.Namespace) -> int:
    """Run `trace`; returns the exit status. Raises ConfigError for an n-gram model."""
    from rnnviz.reading.trace import trace

    model = torch_network(args)
    traced = trace(model, given_text(args))
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

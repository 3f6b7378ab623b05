"""`python -m rnnviz models`: the models on this machine."""

from __future__ import annotations

import argparse
from typing import Any

from rnnviz.cli.output import as_json, command, complain, print_table
from rnnviz.networks.checkpoint import available


def add_parser(commands: Any) -> None:
    """Add the `models` command."""
    parser = command(commands, "models", main, "List the models on this machine")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON object a model, with its card")
    how.add_argument("--markdown", action="store_true", help="a page of cards, as in models/README.md")


def main(args: argparse.Namespace) -> int:
    """Run `models`; returns the exit status."""
    models, damaged = available()
    if args.json:
        for info in models:
            print(as_json({**vars(info), "path": str(info.path)}))
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

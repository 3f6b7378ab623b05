"""`python -m rnnviz models`: the models on this machine."""

import argparse
from pathlib import Path
from typing import Any

from rnnviz.cli.output import as_json, command, complain, print_table
from rnnviz.networks.checkpoint import ModelInfo, available


def add_parser(commands: Any) -> None:
    """Add the `models` command."""
    parser = command(commands, "models", main, "List the models on this machine")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON object a model, with its card")
    how.add_argument("--markdown", action="store_true", help="a page of cards, as in models/README.md")
    how.add_argument(
        "--check", action="store_true", help="compute the cards' figures again; exit status 1 if one differs"
    )
    parser.add_argument(
        "--corpora",
        type=Path,
        metavar="DIR",
        help="with --check: text files beside the corpora known by name",
    )


def main(args: argparse.Namespace) -> int:
    """Run `models`; returns the exit status."""
    models, damaged = available()
    differs = False
    if args.check:
        differs = _check(models, args.corpora)
    elif args.json:
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
    return int(differs)


def _check(models: list[ModelInfo], folder: Path | None) -> bool:
    """Print every figure as the card says it and as it comes out; whether one differs."""
    from rnnviz.runs import check

    differs = False
    for one in check.check(models, folder):
        if isinstance(one, str):
            complain(one)
            continue
        differs = differs or not one.same
        print(
            f"{one.model} {one.name}: {one.said}"
            + ("" if one.same else f" in the card, computed {one.found}")
        )
    return differs


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

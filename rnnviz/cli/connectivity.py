"""`python -m rnnviz connectivity`: how far back the predictions of a text reach, a row a lag with the share
of the gradient beyond it; or, with --at, which characters one prediction rests on, a row a character.
"""

from __future__ import annotations

import argparse
from typing import Any

from rnnviz.cli.output import (
    add_model,
    add_quiet,
    add_text,
    at_least,
    command,
    given_text,
    print_findings,
    progress_bar,
    torch_network,
)
from rnnviz.findings import count, words
from rnnviz.text.characters import visible

EXAMPLE = """examples:
  python -m rnnviz connectivity --model timemachine-gru --file book.txt
  python -m rnnviz connectivity --model timemachine-lstm "The Time Traveller" --at 13 --json
"""


def add_parser(commands: Any) -> None:
    """Add the `connectivity` command."""
    parser = command(
        commands,
        "connectivity",
        main,
        "Show how far back a network's predictions reach, by their gradients",
        EXAMPLE,
    )
    add_text(parser)
    add_model(parser)
    parser.add_argument(
        "--at",
        type=int,
        metavar="N",
        help="look at the prediction after so many characters alone (default: at all that have --lags "
        "characters before them)",
    )
    parser.add_argument(
        "--target",
        metavar="C",
        help="the character whose probability is looked at (default: the one that came)",
    )
    parser.add_argument(
        "--lags",
        type=int,
        default=100,
        metavar="K",
        help="characters that a prediction may rest on (default: 100)",
    )
    parser.add_argument(
        "--characters",
        type=int,
        default=5_000,
        metavar="N",
        help="characters of the text that are read, at most 10,000 (default: 5,000)",
    )
    add_quiet(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object")


def main(args: argparse.Namespace) -> int:
    """Run it; returns the exit status. Raises ConfigError for an n-gram model or no such place."""
    from rnnviz import gradients, units

    model = torch_network(args)
    at_least(args, characters=1)
    text = given_text(args)[: args.characters]
    if args.at is not None:
        row = gradients.connectivity_row(model, text, at=args.at, target=args.target)
        symbol = model.vocabulary.symbol(row.target)
        heading = words(
            "connectivity.heading", model=model.name, target=visible(symbol), characters=count(len(row))
        )
        print_findings([row], args, heading, model=args.model, target=symbol)
        return 0
    with progress_bar("Going back", args) as show:
        steps = gradients.reach(model, text, lags=args.lags, target=args.target)
        found = units.run(steps, show and (lambda now: show(now.fraction, "")))
    print_findings([found], args, words("reach.heading", model=model.name), model=args.model)
    return 0

"""`python -m rnnviz perturb`: change one character of a text and follow how differently the network reads on.
A row a character from there on: how far apart the states are once it has been read, and the predictions then.
"""

from __future__ import annotations

import argparse
from typing import Any

from rnnviz.cli.output import add_model, add_text, command, given_text, print_findings, torch_network
from rnnviz.findings import count, words
from rnnviz.text.characters import visible

EXAMPLE = """examples:
  python -m rnnviz perturb --model timemachine-gru "The Time Traveller smiled" --position 4 --character d
  python -m rnnviz perturb --model timemachine-lstm --file book.txt --position 200 --character x --json
"""


def add_parser(commands: Any) -> None:
    """Add the `perturb` command."""
    parser = command(
        commands,
        "perturb",
        main,
        "Change one character of a text and follow how long the network remembers it",
        EXAMPLE,
    )
    add_text(parser)
    add_model(parser)
    parser.add_argument(
        "--position", type=int, required=True, metavar="N", help="the character to change, counted from 0"
    )
    parser.add_argument("--character", required=True, metavar="C", help="what stands in its place")
    parser.add_argument(
        "--threshold",
        type=float,
        default=0.01,
        metavar="BITS",
        help="a difference of predictions that counts as remembered (default: 0.01)",
    )
    parser.add_argument(
        "--json", action="store_true", help="one JSON object; divergence in bits, as in the table"
    )


def main(args: argparse.Namespace) -> int:
    """Run `perturb`; returns the exit status. Raises ConfigError for an n-gram model or no such character."""
    from rnnviz import units

    model = torch_network(args)
    text = given_text(args)
    found = units.perturb(model, text, args.position, args.character, threshold=args.threshold)
    came, letter = (visible(read.text[found.position]) for read in (found.before, found.after))
    heading = words("perturbation.changed", came=came, letter=letter, at=count(found.position))
    print_findings([found], args, heading, model=args.model)
    return 0

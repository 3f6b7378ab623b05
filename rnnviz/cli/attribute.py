"""`python -m rnnviz attribute`: what each character before a prediction adds to it: integrated gradients and
occlusion, in nats, beside the size of the gradient. A row a character.
"""

from __future__ import annotations

import argparse
from typing import Any

from rnnviz.cli.output import (
    add_model,
    add_text,
    command,
    given_text,
    print_findings,
    torch_network,
)
from rnnviz.findings import Number, count, words

EXAMPLE = """examples:
  python -m rnnviz attribute --model timemachine-gru "The Time Trav" --target e
  python -m rnnviz attribute --model python-gru --file code.py --at 300 --against ")" --json
"""


def add_parser(commands: Any) -> None:
    """Add the `attribute` command."""
    parser = command(
        commands,
        "attribute",
        main,
        "Show what each character before a prediction adds to it, three ways",
        EXAMPLE,
    )
    add_text(parser)
    add_model(parser)
    parser.add_argument(
        "--at",
        type=int,
        metavar="N",
        help="look at the prediction after so many characters (default: after all of them)",
    )
    parser.add_argument(
        "--target",
        metavar="C",
        help="the character whose probability is looked at (default: the one that came; after the last "
        "character the most probable one)",
    )
    parser.add_argument(
        "--against", metavar="C", help="compare with the probability of this one (default: none)"
    )
    parser.add_argument(
        "--instead",
        choices=("average", "zero", "unknown", "out"),
        default="average",
        help="what stands in a character's place: the average embedding, a zero one, that of an unknown "
        "character; out, for occlusion alone, leaves it out (default: average)",
    )
    parser.add_argument(
        "--last",
        type=int,
        metavar="N",
        help="ask about the last N characters (default: all, at most 1,000; for integrated gradients as many "
        "as add up)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object; values are in nats")


def main(args: argparse.Namespace) -> int:
    """Run `attribute`; returns the exit status. Raises ConfigError for an n-gram model or a missing place."""
    from rnnviz.gradients.attribution import contributions
    from rnnviz.networks.progress import run

    steps = contributions(
        torch_network(args),
        given_text(args),
        at=args.at,
        target=args.target,
        against=args.against,
        instead=args.instead,
        last=args.last,
    )
    found = run(steps)
    heading = words(
        "attribution.heading",
        characters=count(len(found.row)),
        y=found.y,
        whole=Number(found.integrated.whole),
    )
    print_findings([found], args, heading, model=args.model)
    return 0

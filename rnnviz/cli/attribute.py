"""`python -m rnnviz attribute`: what each character before a prediction adds to it: integrated gradients and
occlusion, in nats, beside the size of the gradient. A row a character.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rnnviz.cli.output import (
    add_model,
    add_text,
    as_json,
    command,
    given_text,
    print_table,
    torch_network,
)
from rnnviz.text.characters import visible

if TYPE_CHECKING:
    from rnnviz.gradients import Attribution, ConnectivityRow

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
    from rnnviz import gradients

    model = torch_network(args)
    text = given_text(args)
    asked = {"at": args.at, "target": args.target, "against": args.against}
    along = {**asked, "instead": "average" if args.instead == "out" else args.instead, "last": args.last}
    integrated = gradients.attribute(model, text, **along)
    occluded = gradients.attribute(model, text, **{**along, "instead": args.instead}, method="occlusion")
    row = gradients.connectivity_row(model, text, at=args.at, target=args.target)
    if args.json:
        print(as_json(_object(args.model, model.vocabulary.symbol, integrated, occluded, row)))
    else:
        _print(model.vocabulary.symbol, integrated, occluded, row)
    return 0


def _object(
    model: str, symbol: Any, integrated: Attribution, occluded: Attribution, row: ConnectivityRow
) -> dict[str, Any]:
    return {
        "model": model,
        "text": integrated.text,
        "target": symbol(integrated.target),
        "against": None if integrated.against is None else symbol(integrated.against),
        "whole": integrated.whole,
        "integrated": {
            "values": integrated.values.tolist(),
            "first": integrated.first,
            "instead": integrated.instead,
            "without": integrated.without,
            "gap": integrated.gap,
            "size": integrated.size,
            "error": integrated.error,
            "adds_up": integrated.adds_up,
            "beyond": integrated.beyond,
            "steps": integrated.steps,
        },
        "occlusion": {
            "values": occluded.values.tolist(),
            "first": occluded.first,
            "instead": occluded.instead,
        },
        "gradient": row.norms.tolist(),
    }


def _print(symbol: Any, integrated: Attribution, occluded: Attribution, row: ConnectivityRow) -> None:
    of = visible(symbol(integrated.target))
    if integrated.against is not None:
        of += " against " + visible(symbol(integrated.against))
    print(f"after {len(integrated):,} characters, {of}: {integrated.whole:.3f} nats")
    rows = [
        (
            str(s),
            visible(character),
            f"{integrated.values[s]:+.3f}" if s >= integrated.first else "",
            f"{occluded.values[s]:+.3f}" if s >= occluded.first else "",
            f"{row.norms[s]:.3g}",
        )
        for s, character in enumerate(integrated.text)
    ]
    print_table(("position", "character", "integrated", "occlusion", "gradient"), rows, {0, 2, 3, 4})
    print(
        f"integrated gradients of the last {len(integrated) - integrated.first:,} add up to "
        f"{integrated.values.sum():+.3f} of {integrated.whole - integrated.without:+.3f} nats"
        + ("" if integrated.adds_up else ": they do not add up, ask about fewer with --last")
    )

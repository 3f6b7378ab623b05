"""`python -m rnnviz perturb`: change one character of a text and follow how differently the network reads on.
A row a character from there on: how far apart the states are once it has been read, and the predictions then.
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
    from rnnviz.units import Perturbation

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
    found = units.perturb(model, given_text(args), args.position, args.character)
    remembered = found.remembered(args.threshold)
    if args.json:
        print(
            as_json(
                {
                    "model": args.model,
                    "position": found.position,
                    "before": found.before.text[found.position],
                    "after": args.character,
                    "remembered": remembered,
                    "threshold": args.threshold,
                    "characters": _rows(found),
                }
            )
        )
        return 0
    was = visible(found.before.text[found.position])
    print(
        f"{model.name}, {visible(args.character)} for {was} at {found.position}: predictions differ by "
        f"{args.threshold:g} bits or more up to {remembered:,} characters later"
        + (
            ", and still where the text ends"
            if 0 < len(found.before) - found.position - 1 <= remembered
            else ""
        )
    )
    rows = [
        (str(one["position"]), visible(one["character"]), f"{one['distance']:.4f}", f"{one['bits']:.5f}")
        for one in _rows(found)
    ]
    print_table(("position", "character", "states apart", "KL bits"), rows, {0, 2, 3})
    return 0


def _rows(found: Perturbation) -> list[dict[str, Any]]:
    """One for each character from the changed one on: once it has been read."""
    text, bits = found.before.text, found.bits
    return [
        {
            "position": t,
            "character": text[t],
            "distance": float(found.distance[t]),
            "bits": float(bits[t + 1]),
        }
        for t in range(found.position, len(text))
    ]

"""`python -m rnnviz patch`: put the state after some characters of one text into the reading of another. A
row a prediction of the target from there on: how much it changed, what the character that came costs more,
and what is expected most without and with the patch; beside it what random moves of the same length do.
"""

from __future__ import annotations

import argparse
from typing import Any

from rnnviz.cli.directions import add_direction, direction
from rnnviz.cli.output import add_model, command, numbers, print_findings, torch_network
from rnnviz.findings import words

AHEAD = 20
"""Predictions that the controls go over."""

EXAMPLE = """examples:
  python -m rnnviz patch --model shakespeare-lstm --source "Too slowly, my lord" \\
      --target "And so my lord, and all the time" --to 14
  python -m rnnviz patch --model python-gru --source "name = 'the" --target "name = the value" --to 10 \\
      --units 3,17 --json
  python -m rnnviz patch --model python-gru --source "name = 'the" --target "name = the value" --to 10 \\
      --direction difference:quotes --corpus python-source --unclosed line
"""


def add_parser(commands: Any) -> None:
    """Add the `patch` command."""
    parser = command(
        commands,
        "patch",
        main,
        "Put the state after one text's beginning into the reading of another text",
        EXAMPLE,
    )
    add_model(parser)
    parser.add_argument("--source", required=True, metavar="TEXT", help="the text whose state is taken")
    parser.add_argument(
        "--at", type=int, metavar="N", help="after so many of its characters (default: all of them)"
    )
    parser.add_argument("--target", required=True, metavar="TEXT", help="the text that it is put into")
    parser.add_argument(
        "--to", type=int, required=True, metavar="N", help="after so many of the target's characters"
    )
    parser.add_argument("--layer", type=int, help="patch one layer, counted from 0 (default: all)")
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--units",
        type=numbers,
        metavar="N,N",
        help="patch these units of the layer, counted from 0 (default: all)",
    )
    add_direction(parser, either)
    parser.add_argument(
        "--quantity",
        choices=("state", "hidden", "cell"),
        default="state",
        help="state: H, and C of an LSTM; hidden or cell: one of them (default: state; a direction: hidden)",
    )
    parser.add_argument(
        "--unrelated",
        metavar="TEXT",
        help="a text at random places of which the same patch is taken, for comparison (default: none)",
    )
    parser.add_argument(
        "--length", type=int, default=80, help="characters to go on with from there (default: 80)"
    )
    parser.add_argument("--temperature", type=float, default=1.0, help="of that continuation (default: 1)")
    parser.add_argument(
        "--seed", type=int, default=0, help="of that continuation and of the controls (default: 0)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object; kl and loss are in nats")


def main(args: argparse.Namespace) -> int:
    """Run `patch`; returns the exit status. Raises ConfigError for an n-gram model and what isn't there."""
    from rnnviz import units
    from rnnviz.reading import sampling

    model = torch_network(args)
    source = units.patching.read(model, args.source)
    along = direction(args, model, "cell" if args.quantity == "cell" else "hidden")
    done = units.patch(
        model,
        source,
        len(source) if args.at is None else args.at,
        args.target,
        args.to,
        layer=args.layer,
        units=args.units if along is None else along,
        quantity=args.quantity,
    )
    controls = units.patch_controls(model, done, args.unrelated, ahead=AHEAD, seed=args.seed)
    drawn = {"temperature": args.temperature, "seed": args.seed}
    plain = sampling.resume(done.target, done.to, args.length, **drawn)
    patched = done.continuation(args.length, **drawn)
    more = {"continuation": plain, "continuation_patched": patched}
    heading = words("patch.goes-on", plain=repr(plain), patched=repr(patched))
    print_findings([controls], args, heading, lambda _found: more, model=args.model)
    return 0

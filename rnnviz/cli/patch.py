"""`python -m rnnviz patch`: put the state after some characters of one text into the reading of another. A
row a prediction of the target from there on: how much it changed, what the character that came costs more,
and what is expected most without and with the patch; beside it what random moves of the same length do.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rnnviz.cli.directions import add_direction, direction
from rnnviz.cli.output import add_model, as_json, command, numbers, print_table, torch_network
from rnnviz.text.characters import visible

if TYPE_CHECKING:
    from rnnviz.units import PatchControls, Patched

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
    went_on = sampling.resume(done.target, done.to, args.length, **drawn)
    goes_on = done.continuation(args.length, **drawn)
    if args.json:
        print(as_json(_object(args.model, done, controls, went_on, goes_on)))
    else:
        _print(done, controls, went_on, goes_on)
    return 0


def _predictions(done: Patched) -> list[dict[str, Any]]:
    """One for each row of the target's predictions from the patch on."""
    out = []
    for t in range(done.to, len(done.target) + 1):
        (before, p), (now, q) = done.target.top(t, 1)[0], done.after.top(t, 1)[0]
        came = t < len(done.target)
        out.append(
            {
                "after": t,
                "character": done.target.text[t] if came else None,
                "kl": float(done.divergence[t]),
                "loss": float(done.loss[t]) if came else None,
                "expected": [before, p],
                "expected_patched": [now, q],
            }
        )
    return out


def _object(model: str, done: Patched, controls: PatchControls, went_on: str, goes_on: str) -> dict[str, Any]:
    along = done.part.direction
    return {
        "model": model,
        "at": done.at,
        "to": done.to,
        "layers": list(done.part.layers),
        "quantities": list(done.part.quantities),
        "units": None if done.part.index is None else done.part.index.tolist(),
        "direction": None if along is None else {"name": along.name, "origin": along.origin},
        "moved": done.moved,
        "loss": done.remainder,
        "predictions": _predictions(done),
        "controls": {
            "ahead": controls.ahead,
            "kl": controls.kl,
            "random": controls.random.tolist(),
            "elsewhere": controls.elsewhere.tolist(),
            "left": controls.left,
            "apart": controls.apart,
            "random_left": controls.random_left.tolist(),
            "elsewhere_left": controls.elsewhere_left.tolist(),
        },
        "continuation": went_on,
        "continuation_patched": goes_on,
    }


def _print(done: Patched, controls: PatchControls, went_on: str, goes_on: str) -> None:
    import numpy as np

    if (along := done.part.direction) is not None:
        print(f"patched along {along.name} ({along.origin}), {along.quantity} of layer {along.layer}\n")
    rows = [
        (
            str(one["after"]),
            "" if one["character"] is None else visible(one["character"]),
            f"{one['kl']:.3f}",
            "" if one["loss"] is None else f"{one['loss']:+.3f}",
            "{} {:.1%}".format(visible(one["expected"][0]), one["expected"][1]),
            "{} {:.1%}".format(visible(one["expected_patched"][0]), one["expected_patched"][1]),
        )
        for one in _predictions(done)
    ]
    print_table(("after", "character", "KL nats", "loss nats", "expected", "patched"), rows, {0, 2, 3})
    print(f"\nmean KL over {controls.ahead} predictions, nats: {controls.kl:.3f}")
    for name, found in (("random moves as long", controls.random), ("elsewhere", controls.elsewhere)):
        if len(found):
            median, high = np.quantile(found, [0.5, 0.95])
            print(f"  {name}: median {median:.3f}, 95 % below {high:.3f}, of {len(found)}")
    print(f"goes on with:         {went_on!r}\nwith the patch with:  {goes_on!r}")

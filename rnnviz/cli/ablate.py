"""`python -m rnnviz ablate`: how much worse a network predicts without each of its units. A row a unit, the
one missed most first; but no rows where the two halves of the text rank the units too differently: there
another text would have others on top.
"""

from __future__ import annotations

import argparse
from typing import Any

from rnnviz.cli.output import (
    add_model,
    add_quiet,
    add_source,
    add_unclosed,
    at_least,
    command,
    network,
    numbers,
    print_findings,
    progress_bar,
    source_text,
)
from rnnviz.errors import ConfigError
from rnnviz.findings import count, words

EXAMPLE = """examples:
  python -m rnnviz ablate --model timemachine-rnn --corpus timemachine
  python -m rnnviz ablate --model python-gru --corpus python-source --units 281,294 --target quotes \\
      --unclosed line --json
"""


def add_parser(commands: Any) -> None:
    """Add the `ablate` command."""
    parser = command(
        commands, "ablate", main, "Measure how much worse a network predicts without each unit", EXAMPLE
    )
    add_model(parser, device=False)
    add_source(parser)
    parser.add_argument("--layer", type=int, default=0, help="the layer, counted from 0 (default: 0)")
    parser.add_argument(
        "--units", type=numbers, metavar="N,N", help="these units alone, counted from 0 (default: all)"
    )
    parser.add_argument(
        "--to",
        default="mean",
        metavar="zero|mean|NUMBER",
        help="what the missing unit is held at: zero, its mean over the text, or a number (default: mean)",
    )
    parser.add_argument(
        "--target", metavar="NAME", help="tell losses apart by where this holds, such as quotes (default: no)"
    )
    add_unclosed(parser)
    parser.add_argument(
        "--controls",
        type=int,
        default=16,
        metavar="N",
        help="random directions that are held like the units, for comparison (default: 16)",
    )
    parser.add_argument(
        "--until",
        type=float,
        default=0.5,
        metavar="R",
        help="stop reading once two halves of what was read rank the units with this correlation; "
        "asked after 4,000 characters, 8,000 and so on (default: 0.5)",
    )
    parser.add_argument(
        "--characters",
        type=int,
        default=64_000,
        metavar="N",
        help="characters to read at most (default: 64,000)",
    )
    add_quiet(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object; losses in nats a character")


def main(args: argparse.Namespace) -> int:
    """Run `ablate`; returns the exit status. Raises ConfigError for what isn't there or out of range."""
    from rnnviz import units
    from rnnviz.text.characters import normalise

    model = network(args)
    at_least(args, characters=1, controls=0)
    text = normalise(source_text(args), model.normaliser)[: args.characters]
    target = None if args.target is None else units.target(args.target, text, unclosed=args.unclosed)
    steps = units.ablate(
        model,
        text,
        layer=args.layer,
        units=args.units,
        to=_held(args.to),
        until=args.until if args.units is None else None,
        target=target,
        controls=args.controls,
    )
    with progress_bar("Reading without each unit", args) as show:
        found = units.run(steps, show and (lambda now: show(now.fraction, f"{now.done:,} characters")))
    heading = words("ablation.read", model=model.name, layer=found.layer, characters=count(found.characters))
    print_findings([found], args, heading, model=args.model)
    return 0


def _held(written: str) -> Any:
    if written in ("zero", "mean"):
        return written
    try:
        return float(written)
    except ValueError:
        raise ConfigError(
            "a missing unit is held at zero, mean or a number; received {written!r}", written=written
        ) from None

"""A direction named on the command line, where units can be named: a KIND and what it is of."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rnnviz.cli.output import add_source, add_unclosed, at_least, source_text
from rnnviz.errors import ConfigError

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import Network
    from rnnviz.units import Direction

MOST = 20_000
"""Characters of the text that a direction is found in, unless --characters says otherwise."""

_FORMS = "random:SEED, difference:TARGET or probe:TARGET"


def add_direction(parser: argparse.ArgumentParser, either: Any) -> None:
    """Add --direction to the group `either`, beside --units, and the text that it is found in."""
    either.add_argument(
        "--direction",
        metavar="KIND:OF",
        help=f"a direction of the layer instead of units: {_FORMS}. All but random are found in the states "
        "of --corpus or --file: the difference of the mean states inside a target, such as quotes, and "
        "outside; a linear probe's weights",
    )
    add_source(parser, ", in which the direction is found: its held-out part, the last 10 %%", required=False)
    parser.add_argument(
        "--characters",
        type=int,
        default=MOST,
        metavar="N",
        help=f"characters of it to read at most (default: {MOST:,})",
    )
    add_unclosed(parser)


def direction(args: argparse.Namespace, model: Network, quantity: str) -> Direction | None:
    """The direction of --direction in --layer, 0 if that is not given; None where it was not asked for.

    Raises ConfigError for another form, or a text that is missing or of no use, and what finds it raises.
    """
    given = args.corpus is not None or args.file is not None
    if args.direction is None:
        if given:
            raise ConfigError("--corpus and --file are what a --direction is found in; give one, or neither")
        return None
    from rnnviz import units
    from rnnviz.networks.numpy_model import weights_of
    from rnnviz.reading.trace import trace

    kind, _, of = args.direction.partition(":")
    if kind == "component":
        raise ConfigError(
            "{option} is gone: {instead}",
            option="--direction component",
            instead="name difference:TARGET or probe:TARGET; in Python, make a `Direction` of one of "
            "`rnnviz.units.project(trace).axes`",
        )
    if kind not in ("random", "difference", "probe") or not of or (kind == "random" and not of.isdecimal()):
        raise ConfigError(
            "a direction is {forms}; received {written!r}", forms=_FORMS, written=args.direction
        )
    if kind == "random" and given:
        raise ConfigError("a random direction needs no text; leave --corpus and --file out")
    if kind != "random" and not given:
        raise ConfigError(
            "--direction {direction} is found in the states of a text: give one with --corpus or --file",
            direction=args.direction,
        )
    at_least(args, characters=1)
    layer = args.layer or 0
    if kind == "random":
        H = weights_of(model).layers[0].units
        return units.directions.random(H, int(of), layer=layer, quantity=quantity)
    read = trace(model, source_text(args)[: args.characters])
    target = units.target(of, read.text, unclosed=args.unclosed)
    if kind == "difference":
        return units.directions.mean_difference(read, target, layer=layer, quantity=quantity)
    return units.probe(read, target, layer=layer, quantity=quantity, controls=0).direction(layer)

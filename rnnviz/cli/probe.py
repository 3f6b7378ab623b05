"""`python -m rnnviz probe`: what a linear probe on all units reads of quotes, indentation and the like. A row
a target: the probe's score on the half of the text it was not fitted on; the best 1, 2, 4 and 8 units'; that
of a probe for labels that mean nothing; of the character just read; of the last few characters; of the same
probe on the same network untrained; whether one unit holds it, a few, or it is spread; and what may be said
of all that.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rnnviz.cli.output import (
    add_quiet,
    at_least,
    command,
    network,
    print_findings,
    progress_bar,
    say_start,
    source_text,
)
from rnnviz.cli.units import COPIES, add_question, asked
from rnnviz.findings import count, words
from rnnviz.units.claims import Unanswered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rnnviz.units import Probe, Searcher, Target

MOST = 50_000
"""Characters that are looked at, unless --characters says otherwise: those of the copies are kept too."""

CONTROLS = 5
"""Draws of the control task, unless --controls says otherwise."""

EXAMPLE = """example:
  python -m rnnviz probe --model python-gru --corpus python-source --target quotes --target brackets
"""


def add_parser(commands: Any) -> None:
    """Add the `probe` command."""
    parser = command(
        commands,
        "probe",
        main,
        "Fit a linear probe on all units: does one hold a target, or many together",
        EXAMPLE,
    )
    add_question(parser, MOST)
    parser.add_argument(
        "--controls",
        type=int,
        default=CONTROLS,
        metavar="N",
        help=f"probes for labels that mean nothing (default: {CONTROLS})",
    )
    parser.add_argument("--seed", type=int, default=0, help="chooses those labels (default: 0)")
    parser.add_argument(
        "--untrained",
        type=int,
        default=COPIES,
        metavar="N",
        help=f"probe N untrained copies of the network too, 0 for none (default: {COPIES})",
    )
    parser.add_argument(
        "--weights", action="store_true", help="with --json: the probe's weight of every unit too"
    )
    add_quiet(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object a target")


def main(args: argparse.Namespace) -> int:
    """Run `probe`; returns the exit status. Raises ConfigError for a model without hidden state and for
    settings out of range.
    """
    from rnnviz import units
    from rnnviz.reading.trace import trace

    model = network(args)
    at_least(args, characters=1, untrained=0, controls=0)
    traced = trace(model, source_text(args)[: args.characters])
    targets = asked(args, traced.text)
    say_start(model, args)
    copies = [trace(copy, traced.text) for copy in units.untrained(model, args.untrained)]
    for quantity in args.quantity or ["hidden"]:
        searchers = [units.Searcher(one, layer=args.layer, quantity=quantity) for one in (traced, *copies)]
        probes = [_probe(target, searchers, args) for target in targets]
        heading = words("read", model=model.name, quantity=quantity, n=count(len(traced)))
        more = _weights if args.weights else lambda found: {}
        print_findings(probes, args, heading, more, model=args.model)
    return 0


def _probe(target: Target, searchers: Sequence[Searcher], args: argparse.Namespace) -> Probe | Unanswered:
    """The probe of the first Searcher beside the others, where the target isn't the same throughout."""
    from rnnviz import units

    if not target.varies and len(target):
        return Unanswered(target)
    own, *copies = searchers
    steps = units.probing.steps(
        own, target, untrained=copies, controls=args.controls, seed=args.seed, copies=len(copies)
    )
    with progress_bar(target.name, args) as show:
        return units.run(steps, show and (lambda now: show(now.fraction, "")))


def _weights(found: Probe | Unanswered) -> dict[str, Any]:
    return {} if isinstance(found, Unanswered) else {"weights": found.weights.tolist()}

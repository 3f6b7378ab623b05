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
    as_json,
    at_least,
    command,
    network,
    print_table,
    progress_bar,
    say_start,
    source_text,
)
from rnnviz.cli.units import COPIES, add_question, asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rnnviz.units import Probe, Rival, Searcher, Target

MOST = 50_000
"""Characters that are looked at, unless --characters says otherwise: those of the copies are kept too."""

CONTROLS = 5
"""Draws of the control task, unless --controls says otherwise."""

EXAMPLE = """example:
  python -m rnnviz probe --model python-gru --corpus python-source --target quotes --target brackets
"""

HELD = {"one": "one unit", "few": "a few", "spread": "spread", None: "–"}
"""How a target is held; see `rnnviz.units.probing.Held`."""

SO = {
    "short": "too few characters",
    "same text": "too rare to be held out",
    "nothing": "nothing found",
    "character": "the last character may do",
    "context": "the last {k} characters may do",
    "untrained": "the untrained network may do",
    "learned": "learned",
    "remembers": "remembers",
}
"""What a probe comes to; see `rnnviz.units.probing.Verdict`."""


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
        if args.json:
            for target, found in zip(targets, probes, strict=True):
                print(as_json(_object(target, found, args)))
        else:
            few = [f"best {n}" if n == 1 else str(n) for n in units.probing.FEW]
            head = (
                "target",
                "measure",
                "all units",
                *few,
                "control",
                "character",
                "context",
                "untrained",
                "held by",
                "",
            )
            print(f"{model.name}, {quantity}, {len(traced):,} characters")
            print_table(head, list(map(_row, targets, probes)), numbers=range(2, 7 + len(few)))
    return 0


def _probe(target: Target, searchers: Sequence[Searcher], args: argparse.Namespace) -> Probe | None:
    """The probe of the first Searcher beside the others; None where the target is the same throughout."""
    from rnnviz import units

    if not target.varies and len(target):
        return None
    own, *copies = searchers
    steps = units.probing.steps(
        own, target, untrained=copies, controls=args.controls, seed=args.seed, copies=len(copies)
    )
    with progress_bar(target.name, args) as show:
        return units.run(steps, show and (lambda now: show(now.fraction, "")))


def _row(target: Target, found: Probe | None) -> tuple[str, ...]:
    from rnnviz.units.probing import FEW

    if found is None:
        return (target.name, *[""] * (7 + len(FEW)), "the same throughout this text")
    few = [f"{one.score:.3f}" for one in found.few]
    return (
        target.name,
        found.measure,
        f"{found.score:.3f}",
        *few,
        *["–"] * (len(FEW) - len(few)),
        f"{sum(found.control) / len(found.control):.3f}" if found.control else "–",
        "–" if found.character is None else f"{found.character:.3f}",
        "–" if found.context is None else f"{found.context.score:.3f}",
        f"{max(found.untrained):.3f}" if found.untrained else "–",
        HELD[found.held],
        SO[found.verdict].format(k=found.context.number if found.context else "few"),
    )


def _object(target: Target, found: Probe | None, args: argparse.Namespace) -> dict[str, Any]:
    out: dict[str, Any] = {"model": args.model, "target": target.name}
    if found is None:
        return {**out, "why_not": "the same throughout this text"}
    return {
        **out,
        "measure": found.measure,
        "quantity": found.quantity,
        "layers": list(found.layers),
        "characters": found.characters,
        "inside": found.inside,
        "held_out": found.held_out,
        "score": found.score,
        "interval": None if found.interval is None else list(found.interval),
        "few": [
            {"units": [[unit.layer, unit.unit] for unit in few.units], "score": few.score, "share": share}
            for few, share in zip(found.few, found.shares, strict=True)
        ],
        "control": list(found.control),
        "selectivity": found.selectivity,
        "character": found.character,
        "context": None if found.context is None else _context(found.context),
        "untrained": list(found.untrained),
        "lead": None if found.lead is None else list(found.lead),
        "held": found.held,
        "verdict": found.verdict,
        **({"weights": found.weights.tolist()} if args.weights else {}),
    }


def _context(rival: Rival) -> dict[str, Any]:
    lead = None if rival.low is None else [rival.low, rival.high]
    return {"characters": rival.number, "score": rival.score, "lead": lead, "p": rival.p}

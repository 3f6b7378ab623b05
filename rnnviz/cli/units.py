"""`python -m rnnviz units`: which units of a network respond to quotes, indentation, capitals and the like. A
row a target: the unit that ranked best on one part of the text, its score on another, and on the third, which
had no say in it, with its 95 % interval. Then, on the second, what that unit reaches by chance, how many
units in the ranking's order are above what each of them reaches by chance, the score of the character just
read and of the best context of a few, that of the best unit of the same network untrained; in what share of
texts drawn anew the unit ranks first, and what may be said of all that. Targets searched at once are held to
Holm's levels.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rnnviz.cli.output import (
    add_model,
    add_quiet,
    add_source,
    add_unclosed,
    at_least,
    command,
    command_line,
    network,
    print_findings,
    progress_bar,
    read_text,
    say_start,
    source_text,
)
from rnnviz.errors import ConfigError
from rnnviz.findings import count, words

if TYPE_CHECKING:
    from rnnviz.reading.trace import Trace
    from rnnviz.units import Search, Target

MOST = 200_000
"""Characters that are looked at, unless --characters says otherwise: the states of all are kept."""

SHIFTS, PER_TARGET = 1_000, 40
"""Shifts for the chance line, and for each target of a family, if that is more: half as many just tell the
strictest of Holm's levels."""

COPIES = 3
"""Untrained copies that are searched too, unless --untrained says otherwise."""


def add_parser(commands: Any) -> None:
    """Add the `units` command."""
    parser = command(
        commands, "units", main, "Find the units of a network that respond to something in a text"
    )
    add_question(parser)
    parser.add_argument(
        "--edges",
        type=int,
        default=0,
        help="ask that the unit be off within so many characters before and after (default: 0)",
    )
    parser.add_argument(
        "--shifts",
        type=int,
        help=f"shifts for the chance line (default: {SHIFTS}, or {PER_TARGET} for each target if more)",
    )
    parser.add_argument("--seed", type=int, default=0, help="chooses the shifts (default: 0)")
    parser.add_argument(
        "--untrained",
        type=int,
        default=COPIES,
        metavar="N",
        help=f"search N untrained copies of the network too, 0 for none (default: {COPIES})",
    )
    parser.add_argument(
        "--card",
        action="store_true",
        help="put what is found, and this command, into the card of the model's file",
    )
    parser.add_argument(
        "--typed",
        type=Path,
        metavar="FILE",
        help="with --card: sentences that one might type, a line each; the card says at what share of their "
        "characters the unit found is right",
    )
    add_quiet(parser)
    parser.add_argument(
        "--json", action="store_true", help="one JSON object a target, with the ten best units"
    )


def add_question(parser: argparse.ArgumentParser, most: int = MOST) -> None:
    """Add what is looked for, in which network and which text, of which `most` characters are usual."""
    add_model(parser, device=False)
    add_source(parser)
    parser.add_argument(
        "--target",
        action="append",
        metavar="NAME",
        help="what to look for, again for more: quotes, brackets, capital … or, read by Python's tokeniser, "
        "py-string, py-comment, py-brackets, py-bracket-depth, py-indentation, py-blocks (default: all that "
        "suit the text). The others are rules of thumb: on Python's library, the tokeniser differs from them "
        "on 1 %% of the characters for quotes, 8 %% for brackets, 5 %% for indentation",
    )
    parser.add_argument("--pattern", action="append", metavar="REGEX", help="look for matches of a pattern")
    parser.add_argument("--layer", type=int, help="look at one layer, counted from 0 (default: all)")
    parser.add_argument(
        "--quantity",
        action="append",
        help="hidden, cell, or a gate's name, again for more (default: hidden)",
    )
    add_unclosed(parser)
    parser.add_argument(
        "--characters", type=int, default=most, help=f"characters to read at most (default: {most:,})"
    )


def main(args: argparse.Namespace) -> int:
    """Run `units`; returns the exit status. Raises ConfigError for a model without hidden state and for
    settings out of range.
    """
    from rnnviz import units
    from rnnviz.reading.trace import trace
    from rnnviz.units.claims import Unanswered, shifts_for
    from rnnviz.units.controls import controlled

    model = network(args)
    # What a card says is said beside a control.
    at_least(args, characters=1, untrained=int(args.card))
    if args.typed and not args.card:
        raise ConfigError("--typed is for the card; give --card too")
    typed = [trace(model, line) for line in read_text(args.typed, None).splitlines()] if args.typed else []
    text = source_text(args)
    traced = trace(model, text[: args.characters])
    targets = asked(args, traced.text)
    quantities = args.quantity or ["hidden"]
    args.family = len(targets) * len(quantities)
    say_start(model, args)
    if args.shifts is None:
        args.shifts = max(SHIFTS, PER_TARGET * args.family)
    else:
        at_least(args, shifts=shifts_for(args.family))
    found = []
    for quantity in quantities:
        steps = controlled(
            model,
            traced,
            targets,
            layer=args.layer,
            quantity=quantity,
            edges=args.edges,
            shifts=args.shifts,
            seed=args.seed,
            copies=args.untrained,
        )
        with progress_bar(f"{quantity}, beside untrained copies", args) as show:
            found.append(units.run(steps, show and (lambda now: show(now.fraction, ""))))
    searches = iter(units.holm(search for each in found for search in each if search is not None))
    kept: list[Search] = []
    for quantity, each in zip(quantities, found, strict=True):
        now = [search and next(searches) for search in each]
        kept += [search for search in now if search is not None]
        pairs = zip(targets, now, strict=True)
        read = words("read", model=model.name, quantity=quantity, n=count(len(traced)))
        print_findings(
            [search or Unanswered(target) for target, search in pairs],
            args,
            read,
            model=args.model,
            family=args.family,
        )
    if args.card:
        same = [one for one, search in zip(targets, found[0], strict=True) if search is None]
        _keep(args, kept, text, typed, same)
    return 0


def asked(args: argparse.Namespace, text: str) -> list[Target]:
    """The targets of --target and --pattern over `text`, or all there are."""
    from rnnviz import units

    named = args.target if args.target or args.pattern else units.kinds(text)
    targets = [units.target(name, text, unclosed=args.unclosed) for name in named or []]
    return targets + [units.pattern_target(pattern, text) for pattern in args.pattern or []]


def _keep(
    args: argparse.Namespace,
    searches: Sequence[Search],
    text: str,
    typed: Sequence[Trace],
    same: Sequence[Target],
) -> None:
    """Put them into the card, and that there is none for targets that are the `same` throughout. What the
    model's training held out is known by its checksum, whatever the text is called."""
    from rnnviz.networks.checkpoint import find, read_info
    from rnnviz.networks.modelfile import rewrite
    from rnnviz.runs import unit_findings
    from rnnviz.text.corpora import sha256

    path, checksum = find(args.model), sha256(text)
    about = {
        "name": Path(args.corpus or args.file).name,
        "sha256": checksum,
        "held_out": read_info(path).card.get("sha256_held_out") == checksum,
    }
    command = command_line(args.model, args.corpus, args.file, args.typed)
    shares = [unit_findings.share_typed(search, typed, args.unclosed) for search in searches]
    found = unit_findings.entry(command, searches, about, unit_findings.same_throughout(same), shares)
    rewrite(path, path, card={unit_findings.KEY: found})

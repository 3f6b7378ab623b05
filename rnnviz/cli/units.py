"""`python -m rnnviz units`: which units of a network respond to quotes, indentation, capitals and the like. A
row a target: the unit that ranked best on one half of the text, its score on the other, that of the best
unit by chance, how many are above it, the score of the character just read, without memory, that of the best
unit of the same network untrained, and what may be said of all that.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rnnviz.cli.output import as_json, command, print_table, progress_bar, read_text
from rnnviz.errors import ConfigError, EmptyTextError

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.reading.trace import Trace
    from rnnviz.units import Search, Target

MOST = 200_000
"""Characters that are looked at, unless --characters says otherwise: the states of all are kept."""

COPIES = 3
"""Untrained copies that are searched too, unless --untrained says otherwise."""

HEAD = (
    "target",
    "share",
    "measure",
    "unit",
    "ranked by",
    "held out",
    "chance",
    "above",
    "character",
    "untrained",
)

SO = {
    "short": "fewer than {enough:,} characters",
    "same text": "too rare to be held out",
    "nothing": "nothing found",
    "open": "",
    "character": "needs no memory",
    "untrained": "needs no training",
    "chance": "hardly above chance",
    "remembers": "remembers",
}
"""What a search comes to; see `rnnviz.units.claims.Verdict`."""


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
    parser.add_argument("--shifts", type=int, default=200, help="shifts for the chance line (default: 200)")
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
        "--json", action="store_true", help="one JSON object a target, with the ten best units"
    )


def add_question(parser: argparse.ArgumentParser, most: int = MOST) -> None:
    """Add what is looked for, in which network and which text, of which `most` characters are usual."""
    parser.add_argument(
        "--model", "-m", required=True, metavar="NAME", help="a name that `rnnviz models` lists, or a file"
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--corpus", help="a corpus's name or the text file of one: its held-out part, the last 10 %%, is read"
    )
    where.add_argument("--file", "-f", help="a text file, of which all is read; - reads standard input")
    parser.add_argument("--encoding", help="the file's encoding (default: found)")
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
    parser.add_argument(
        "--unclosed",
        choices=("paragraph", "line"),
        default="paragraph",
        help="where quotes and brackets end that are never closed (default: paragraph)",
    )
    parser.add_argument(
        "--characters", type=int, default=most, help=f"characters to read at most (default: {most:,})"
    )


def main(args: argparse.Namespace) -> int:
    """Run `units`; returns the exit status. Raises ConfigError for a model without hidden state and for
    settings out of range.
    """
    from rnnviz.reading.trace import trace

    model = network(args)
    _check(args)
    traced = trace(model, text_of(args)[: args.characters])
    targets = asked(args, traced.text)
    searches: list[Search] = []
    for quantity in args.quantity or ["hidden"]:
        found = _controlled(
            _found(traced, targets, quantity, args), model, traced.text, targets, quantity, args
        )
        searches += [search for search in found if search is not None]
        if args.json:
            for target, search in zip(targets, found, strict=True):
                print(as_json(_object(target, search, args.model)))
        else:
            print(f"{model.name}, {quantity}, {len(traced):,} characters")
            print_table((*HEAD, ""), list(map(_row, targets, found)), numbers={1, 3, 4, 5, 6, 7, 8, 9})
    if args.card:
        _keep(args, searches)
    return 0


def network(args: argparse.Namespace) -> NumpyModel:
    """The network of --model. Raises ConfigError for a model without hidden state."""
    from rnnviz.networks.checkpoint import load_numpy
    from rnnviz.networks.numpy_model import NumpyModel

    model = load_numpy(args.model)
    if not isinstance(model, NumpyModel):
        raise ConfigError(
            "units are those of a network; {model} counts n-grams and has none", model=args.model
        )
    return model


def asked(args: argparse.Namespace, text: str) -> list[Target]:
    """The targets of --target and --pattern over `text`, or all there are."""
    from rnnviz import units

    named = args.target if args.target or args.pattern else units.kinds(text)
    targets = [units.target(name, text, unclosed=args.unclosed) for name in named or []]
    return targets + [units.pattern_target(pattern, text) for pattern in args.pattern or []]


def _check(args: argparse.Namespace) -> None:
    least = {"characters": 1, "untrained": int(args.card)}  # what a card says is said beside a control
    for name, lowest in least.items():
        if (value := getattr(args, name)) < lowest:
            raise ConfigError(
                "{name} is at least {least}; received {value}", name=name, least=lowest, value=value
            )


def _found(
    traced: Trace, targets: Sequence[Target], quantity: str, args: argparse.Namespace
) -> list[Search | None]:
    """A search for each target; None where it is the same throughout."""
    from rnnviz import units

    searcher = units.Searcher(traced, layer=args.layer, quantity=quantity, seed=args.seed)
    return [
        searcher.search(target, edges=0 if target.graded else args.edges, shifts=args.shifts)
        if target.varies or not len(target)
        else None
        for target in targets
    ]


def _controlled(
    found: Sequence[Search | None],
    model: NumpyModel,
    text: str,
    targets: Sequence[Target],
    quantity: str,
    args: argparse.Namespace,
) -> list[Search | None]:
    """The searches with what untrained copies of `model` reach."""
    from rnnviz import units

    asked = [target for target, search in zip(targets, found, strict=True) if search is not None]
    steps = units.control(
        model, text, asked, layer=args.layer, quantity=quantity, edges=args.edges, copies=args.untrained
    )
    with progress_bar(f"{quantity}, untrained copies") as show:
        scores = iter(units.run(steps, show and (lambda now: show(now.fraction, ""))))
    return [search and replace(search, untrained=next(scores)) for search in found]


def _keep(args: argparse.Namespace, searches: Sequence[Search]) -> None:
    import sys

    from rnnviz.networks.checkpoint import find
    from rnnviz.networks.modelfile import add_to_card
    from rnnviz.runs import unit_findings

    command = "python -m rnnviz " + shlex.join(sys.argv[1:])
    add_to_card(find(args.model), {unit_findings.KEY: unit_findings.entry(command, searches)})


def text_of(args: argparse.Namespace) -> str:
    """All of --file, or what is held out of --corpus."""
    if args.file is not None:
        text = read_text(args.file, args.encoding)
        if not text:
            raise EmptyTextError(
                "{file} is empty: there is nothing to search; give a longer text", file=args.file
            )
        return text
    from rnnviz.text.corpora import open_corpus

    if args.encoding is not None:
        raise ConfigError(
            "--encoding says how to read --file; it does nothing with --corpus, so leave it out"
        )

    corpus = open_corpus(args.corpus)
    return corpus.split().held_out or corpus.text


def _row(target: Target, found: Search | None) -> tuple[str, ...]:
    from rnnviz.units.claims import ENOUGH

    share = "" if target.graded or not len(target) else f"{100 * target.values.mean():.1f} %"
    if found is None:
        return (target.name, share, *[""] * 8, "the same throughout this text")
    best = found.best
    sign = "+" if best.direction > 0 else "-"
    return (
        target.name,
        share,
        found.measure,
        f"{sign}{best.unit.layer}:{best.unit.unit}",
        f"{best.ranked_by:.3f}",
        f"{best.score:.3f}" if found.held_out else "–",
        f"{found.chance:.3f}" if found.held_out else "–",
        str(len(found.above_chance)) if found.held_out and best.score > found.chance else "–",
        f"{found.character:.3f}" if found.held_out and found.character is not None else "–",
        f"{max(found.untrained):.3f}" if found.held_out and found.untrained else "–",
        SO[found.verdict].format(enough=ENOUGH),
    )


def _object(target: Target, found: Search | None, model: str) -> dict[str, Any]:
    out: dict[str, Any] = {"model": model, "target": target.name}
    if target.parsed is not None:
        out["parsed"] = target.parsed
    if found is None:
        return {**out, "why_not": "the same throughout this text"}
    return {
        **out,
        "measure": found.measure,
        "quantity": found.quantity,
        "characters": found.characters,
        "inside": found.inside,
        "held_out": found.held_out,
        "chance": found.chance,
        "above_chance": len(found.above_chance),
        "character": found.character,
        "untrained": list(found.untrained),
        "verdict": found.verdict,
        "units": [
            {
                "layer": f.unit.layer,
                "unit": f.unit.unit,
                "direction": f.direction,
                "ranked_by": f.ranked_by,
                "score": f.score,
                "p": f.p,
            }
            for f in found.found[:10]
        ],
    }

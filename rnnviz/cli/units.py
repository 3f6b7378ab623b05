"""`python -m rnnviz units`: which units of a network respond to quotes, indentation, capitals and the like. A
row a target: the unit that ranked best on one half of the text, its score on the other, that of the best
unit by chance, how many are above it, and the score of the character just read, without memory.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rnnviz.cli.output import as_json, command, print_table, read_text
from rnnviz.errors import ConfigError, EmptyTextError

if TYPE_CHECKING:
    from rnnviz.units import Search, Target

MOST = 200_000
"""Characters that are looked at, unless --characters says otherwise: the states of all are kept."""

HEAD = "target", "share", "measure", "unit", "ranked by", "held out", "chance", "above", "character"


def add_parser(commands: Any) -> None:
    """Add the `units` command."""
    parser = command(
        commands, "units", main, "Find the units of a network that respond to something in a text"
    )
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
        help="what to look for, again for more (default: all there is)",
    )
    parser.add_argument("--pattern", action="append", metavar="REGEX", help="look for matches of a pattern")
    parser.add_argument("--layer", type=int, help="look at one layer, counted from 0 (default: all)")
    parser.add_argument(
        "--quantity", default="hidden", help="hidden, cell, or a gate's name (default: hidden)"
    )
    parser.add_argument(
        "--edges",
        type=int,
        default=0,
        help="ask that the unit be off within so many characters before and after (default: 0)",
    )
    parser.add_argument(
        "--unclosed",
        choices=("paragraph", "line"),
        default="paragraph",
        help="where quotes and brackets end that are never closed (default: paragraph)",
    )
    parser.add_argument(
        "--characters", type=int, default=MOST, help=f"characters to read at most (default: {MOST:,})"
    )
    parser.add_argument("--shifts", type=int, default=200, help="shifts for the chance line (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="chooses the shifts (default: 0)")
    parser.add_argument(
        "--json", action="store_true", help="one JSON object a target, with the ten best units"
    )


def main(args: argparse.Namespace) -> int:
    """Run `units`; returns the exit status. Raises ConfigError for a model without hidden state and for
    settings out of range.
    """
    from rnnviz import units
    from rnnviz.networks.checkpoint import load_numpy
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.reading.trace import trace

    model = load_numpy(args.model)
    if not isinstance(model, NumpyModel):
        raise ConfigError(
            "units are those of a network; {model} counts n-grams and has none", model=args.model
        )
    if args.characters < 1:
        raise ConfigError("characters is at least 1; received {characters}", characters=args.characters)
    traced = trace(model, _text(args)[: args.characters])
    named = args.target if args.target or args.pattern else list(units.KINDS)
    targets = [units.target(name, traced.text, unclosed=args.unclosed) for name in named or []]
    targets += [units.pattern_target(pattern, traced.text) for pattern in args.pattern or []]
    searcher = units.Searcher(traced, layer=args.layer, quantity=args.quantity, seed=args.seed)
    rows = []
    for target in targets:
        found, why = _search(searcher, target, args)
        if args.json:
            print(as_json(_object(target, found, why, args.model)))
        else:
            rows.append(_row(target, found, why))
    if rows:
        print(f"{model.name}, {args.quantity}, {len(traced):,} characters")
        print_table((*HEAD, ""), rows, numbers={1, 3, 4, 5, 6, 7, 8})
    return 0


def _text(args: argparse.Namespace) -> str:
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


def _search(searcher: Any, target: Target, args: argparse.Namespace) -> tuple[Search | None, str]:
    edges = 0 if target.graded else args.edges
    if len(target) and (target.values == target.values[0]).all():
        return None, "the same throughout this text"
    return searcher.search(target, edges=edges, shifts=args.shifts), ""


def _row(target: Target, found: Search | None, why: str) -> tuple[str, ...]:
    share = "" if target.graded or not len(target) else f"{100 * target.values.mean():.1f} %"
    if found is None:
        return (target.name, share, *[""] * 7, why)
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
        str(len(found.above_chance)) if found.held_out else "–",
        f"{found.character:.3f}" if found.held_out and found.character is not None else "–",
        "" if found.held_out else "too rare to be held out",
    )


def _object(target: Target, found: Search | None, why: str, model: str) -> dict[str, Any]:
    out: dict[str, Any] = {"model": model, "target": target.name}
    if found is None:
        return {**out, "why_not": why}
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

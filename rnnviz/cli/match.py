"""`python -m rnnviz match`: the units that are on throughout a passage, and where else in a corpus most of
them are. A row a place: its units and length, its context, and what is expected next; then how many places
end as the passage does, beside the whole corpus and the matches of untrained copies of the network.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rnnviz.cli.output import (
    STANDARD_INPUT,
    Gone,
    add_model,
    add_quiet,
    add_source,
    as_json,
    at_least,
    command,
    complain,
    network,
    print_table,
    progress_bar,
    read_text,
    say_start,
    source_text,
)
from rnnviz.errors import ConfigError

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.reading.trace import Trace
    from rnnviz.units import Index, Matches
    from rnnviz.units.match_controls import Controls, Share
    from rnnviz.units.match_untrained import Untrained

MOST = 1_000_000
"""Characters that are indexed, unless --characters says otherwise."""

COPIES = 3
"""Untrained copies that match too, unless --untrained says otherwise."""

BEFORE, AFTER = 30, 15
"""Characters of the context that the table shows; JSON has twice as many."""

EXAMPLE = """examples:
  python -m rnnviz match --model shakespeare-lstm --corpus tinyshakespeare --threshold 0.3 \\
      --text "ROMEO: What, shall this speech be spoke" --span 7:12
  python -m rnnviz match --model python-gru --corpus python-source --text "x = 'the value'" --span 5:14 \\
      --threshold 0.8 --json

--span counts characters from 0; its second number is the first character after the passage.
"""


def add_parser(commands: Any) -> None:
    """Add the `match` command."""
    parser = command(
        commands,
        "match",
        main,
        "Find the places of a corpus where the same units are on as in a passage",
        EXAMPLE,
    )
    add_model(parser, device=False)
    add_source(parser, ", to look in")
    parser.add_argument("--text", required=True, help="a text with the passage in it; - reads standard input")
    parser.add_argument(
        "--span",
        required=True,
        metavar="START:STOP",
        help="the passage in --text, counted from 0",
    )
    parser.add_argument(
        "--threshold", type=float, default=0.5, help="how far from 0 a unit is on (default: 0.5)"
    )
    parser.add_argument(
        "--edges",
        type=int,
        default=0,
        help="take only units that are off within so many characters before and after (default: 0)",
    )
    parser.add_argument("--layer", type=int, help="look at one layer, counted from 0 (default: all)")
    parser.add_argument(
        "--share",
        type=float,
        default=0.75,
        help="the share of the units that a place needs (default: 0.75)",
    )
    parser.add_argument(
        "--least", type=int, help="characters over which it needs them (default: as many as the passage has)"
    )
    parser.add_argument("--most", type=int, default=20, help="places to show at most (default: 20)")
    parser.add_argument(
        *("--annotations", "--target", "--unclosed"),
        action=Gone,
        const="this version doesn't say what else holds at a match; in Python, look the places up in a "
        "mask such as `rnnviz.units.target(name, text).values`",
    )
    parser.add_argument(
        "--characters", type=int, default=MOST, help=f"characters to index at most (default: {MOST:,})"
    )
    parser.add_argument(
        "--index", metavar="FOLDER", help="keep the index there, to be found again (default: it isn't kept)"
    )
    parser.add_argument(
        "--untrained",
        type=int,
        default=COPIES,
        metavar="N",
        help="match in the corpus's beginning with N untrained copies of the network too, 0 for none "
        f"(default: {COPIES})",
    )
    add_quiet(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object with the units and all places")


def main(args: argparse.Namespace) -> int:
    """Run `match`; returns the exit status. Raises ConfigError for a model without hidden state and for
    settings out of range.
    """
    from rnnviz import units
    from rnnviz.reading.trace import trace
    from rnnviz.text.characters import normalise
    from rnnviz.text.corpora import cache_folder
    from rnnviz.units import match_controls

    model = network(args)
    at_least(args, characters=1, untrained=0)
    read = trace(model, _passages_text(args))
    start, stop = _span(args.span)
    pattern = units.pattern(read, start, stop, threshold=args.threshold, edges=args.edges, layer=args.layer)
    text = normalise(source_text(args, whole=True), model.normaliser)
    with progress_bar(f"indexing {min(len(text), args.characters):,} characters", args) as show:
        index = units.run(
            units.index(model, text[: args.characters], args.index),
            show and (lambda now: show(now.fraction, f"{now.characters:,} characters")),
        )
    if (kept := cache_folder() / "indexes").is_dir():
        complain(f"rnnviz 1.0.0 kept indexes in {kept}; this version doesn't look there: remove the folder")
    found = index.match(pattern, share=args.share, least=args.least, most=args.most)
    controls = match_controls.beside(index, found, read.text[start:stop])
    untrained = None
    if args.untrained and found.found:
        with progress_bar(f"reading with {args.untrained} untrained copies", args) as show:
            untrained = _untrained(args, model, index, found, controls, read, start, show)
    if args.json:
        print(as_json(_object(args, model, index, found, controls, untrained)))
    else:
        print(f"{len(pattern)} units are on throughout {read.text[start:stop]!r}: {_names(found)}")
        _print(model, index, found, controls, untrained)
    return 0


def _untrained(
    args: argparse.Namespace,
    model: NumpyModel,
    index: Index,
    found: Matches,
    controls: Controls,
    read: Trace,
    start: int,
    show: Callable[[float, str], None] | None,
) -> Untrained:
    """The same passage in untrained copies."""
    from rnnviz import units
    from rnnviz.units import match_untrained

    say_start(model, args)
    steps = match_untrained.copies(model, index.text(0, match_untrained.CHARACTERS), args.untrained)
    made = units.run(steps, show and (lambda now: show(now.fraction, "")))
    return match_untrained.untrained(
        index,
        found,
        controls,
        read,
        start,
        made,
        share=args.share,
        edges=args.edges,
        layer=args.layer,
        most=args.most,
    )


def _span(written: str) -> tuple[int, int]:
    start, _, stop = written.partition(":")
    if not (start.strip().isdecimal() and stop.strip().isdecimal()):
        raise ConfigError(
            "--span is two numbers as in 10:24, the first character and the one after the last; "
            "received {written!r}",
            written=written,
        )
    return int(start), int(stop)


def _passages_text(args: argparse.Namespace) -> str:
    if args.text != STANDARD_INPUT:
        return str(args.text)
    if args.file == STANDARD_INPUT:
        raise ConfigError("--text and --file can't both be read from standard input; give a file's path")
    return read_text(STANDARD_INPUT, None)


def _object(
    args: argparse.Namespace,
    model: NumpyModel,
    index: Index,
    found: Matches,
    controls: Controls,
    untrained: Untrained | None,
) -> dict[str, Any]:
    pattern = found.pattern
    return {
        "model": args.model,
        "characters": len(index),
        "threshold": pattern.threshold,
        "edges": args.edges,
        "units": [
            {"layer": unit.layer, "unit": unit.unit, "sign": sign}
            for unit, sign in zip(pattern.units, pattern.signs, strict=True)
        ],
        "needed": found.needed,
        "least": found.least,
        "share_of_places": found.share,
        "matches": [
            {
                "start": match.start,
                "stop": match.stop,
                "overlap": match.overlap,
                "units": [[unit.layer, unit.unit] for unit in match.units],
                "before": index.text(match.start - 2 * BEFORE, match.start),
                "text": index.text(match.start, match.stop),
                "after": index.text(match.stop, match.stop + 2 * AFTER),
                "next": [list(one) for one in index.next(model, match.stop - 1)],
            }
            for match in found.found
        ],
        "ending": {"text": controls.ending, **_share(controls.ends)},
        "passage": {"text": controls.whole.name, **_share(controls.whole)},
        "untrained": None if untrained is None else asdict(untrained),
    }


def _share(share: Share) -> dict[str, Any]:
    return {
        "inside": share.inside,
        "matches": share.matches,
        "everywhere": share.everywhere,
    }


def _names(found: Matches) -> str:
    pairs = zip(found.pattern.units, found.pattern.signs, strict=True)
    named = [f"{'+' if sign > 0 else '-'}{unit.layer}:{unit.unit}" for unit, sign in pairs]
    return " ".join(named if len(named) <= 24 else [*named[:24], "…"])


def _print(
    model: NumpyModel,
    index: Index,
    found: Matches,
    controls: Controls,
    untrained: Untrained | None,
) -> None:
    print(
        f"at least {found.needed} of them over {found.least} characters: "
        f"{100 * found.share:.3g} % of the places in {len(index):,} characters"
    )
    if not found.found:
        return
    from rnnviz.text.characters import visible

    def shown(text: str) -> str:
        return "".join("⏎" if c == "\n" else visible(c) if not c.isprintable() else c for c in text)

    rows = []
    for match in found.found:
        expected = index.next(model, match.stop - 1, k=3)
        rows.append(
            (
                str(match.start),
                str(match.overlap),
                str(len(match)),
                shown(index.text(match.start - BEFORE, match.start)),
                shown(index.text(match.start, match.stop)),
                shown(index.text(match.stop, match.stop + AFTER)),
                " ".join(f"{visible(symbol)} {p:.0%}" for symbol, p in expected),
            )
        )
    head = ("at", "units", "length", "before", "match", "after", "expected next")
    print_table(head, rows, numbers={0, 1, 2, 3})
    endings = [controls.whole] + [controls.ends] * (controls.ending != controls.whole.name)
    for share in endings:
        print(f"end in {share.name!r}: {share.inside} of {share.matches}; everywhere: {share.everywhere:.2%}")
    if untrained is not None:
        _print_untrained(untrained, controls)


def _print_untrained(found: Untrained, controls: Controls) -> None:
    """The same of untrained copies, on the beginning of the corpus."""
    units = ", ".join(map(str, found.units))
    print(
        f"untrained copies, in the first {found.characters:,} characters: {units} units are on throughout "
        "the passage, with thresholds that as large a share of their states passes"
    )
    for one in found.shares[: 1 + (controls.ending != controls.whole.name)]:
        print(
            f"  end in {one.name!r}: {one.untrained} of {found.matches}; of this network's there: "
            f"{one.own} of {found.own}"
        )

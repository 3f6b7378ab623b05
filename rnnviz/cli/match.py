"""`python -m rnnviz match`: the units that are on throughout a passage, and where else in a corpus most of
them are. A row a place: its units and length, its context, and what is expected next; then how many places
end as the passage does, beside the whole corpus and the matches of untrained copies of the network.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from rnnviz.cli.output import (
    STANDARD_INPUT,
    Gone,
    add_model,
    add_quiet,
    add_source,
    at_least,
    command,
    complain,
    network,
    print_findings,
    progress_bar,
    read_text,
    say_start,
    source_text,
)
from rnnviz.errors import ConfigError

MOST = 1_000_000
"""Characters that are indexed, unless --characters says otherwise."""

COPIES = 3
"""Untrained copies that match too, unless --untrained says otherwise."""

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
    from rnnviz.units import matching

    model = network(args)
    at_least(args, characters=1, untrained=0)
    read = trace(model, _passages_text(args))
    start, stop = _span(args.span)
    asked = {"threshold": args.threshold, "edges": args.edges, "layer": args.layer}
    units.pattern(read, start, stop, **asked)  # says what is wrong before a corpus is read
    text = normalise(source_text(args, whole=True), model.normaliser)
    with progress_bar(f"indexing {min(len(text), args.characters):,} characters", args) as show:
        index = units.run(
            units.index(model, text[: args.characters], args.index),
            show and (lambda now: show(now.fraction, f"{now.characters:,} characters")),
        )
    if (kept := cache_folder() / "indexes").is_dir():
        complain(f"rnnviz 1.0.0 kept indexes in {kept}; this version doesn't look there: remove the folder")
    asked |= {"share": args.share, "least": args.least, "most": args.most}
    match = partial(index.elsewhere, model, read, start, stop, **asked)
    found = match()
    if args.untrained and found.found:
        say_start(model, args)
        steps = matching.copies(model, index.text(0, matching.BEGINNING), args.untrained)
        with progress_bar(f"reading with {args.untrained} untrained copies", args) as show:
            found = match(copies=units.run(steps, show and (lambda now: show(now.fraction, ""))))
    print_findings([found], args, found.pattern.said(), model=args.model)
    return 0


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

"""`python -m rnnviz connectivity`: how far back the predictions of a text reach, a row a lag with the share
of the gradient beyond it; or, with --at, which characters one prediction rests on, a row a character.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rnnviz.cli.output import (
    add_model,
    add_quiet,
    add_text,
    as_json,
    at_least,
    command,
    given_text,
    print_table,
    progress_bar,
    torch_network,
)
from rnnviz.text.characters import visible

if TYPE_CHECKING:
    from rnnviz.gradients import ConnectivityRow, Reach

LAGS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500)
"""Lags that are printed, those there are."""

EXAMPLE = """examples:
  python -m rnnviz connectivity --model timemachine-gru --file book.txt
  python -m rnnviz connectivity --model timemachine-lstm "The Time Traveller" --at 13 --json
"""


def add_parser(commands: Any) -> None:
    """Add the `connectivity` command."""
    parser = command(
        commands,
        "connectivity",
        main,
        "Show how far back a network's predictions reach, by their gradients",
        EXAMPLE,
    )
    add_text(parser)
    add_model(parser)
    parser.add_argument(
        "--at",
        type=int,
        metavar="N",
        help="look at the prediction after so many characters alone (default: at all that have --lags "
        "characters before them)",
    )
    parser.add_argument(
        "--target",
        metavar="C",
        help="the character whose probability is looked at (default: the one that came)",
    )
    parser.add_argument(
        "--lags",
        type=int,
        default=100,
        metavar="K",
        help="characters that a prediction may rest on (default: 100)",
    )
    parser.add_argument(
        "--characters",
        type=int,
        default=5_000,
        metavar="N",
        help="characters of the text that are read, at most 10,000 (default: 5,000)",
    )
    add_quiet(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object")


def main(args: argparse.Namespace) -> int:
    """Run it; returns the exit status. Raises ConfigError for an n-gram model or no such place."""
    from rnnviz import gradients, units

    model = torch_network(args)
    at_least(args, characters=1)
    text = given_text(args)[: args.characters]
    if args.at is not None:
        row = gradients.connectivity_row(model, text, at=args.at, target=args.target)
        symbol = model.vocabulary.symbol(row.target)
        if args.json:
            print(as_json({"model": args.model, "at": len(row), "target": symbol, "characters": _row(row)}))
        else:
            print(f"{model.name}: what log P({visible(symbol)}) after {len(row):,} characters rests on")
            rows = [
                (str(one["position"]), visible(one["character"]), f"{one['norm']:.3g}", f"{one['share']:.1%}")
                for one in _row(row)
            ]
            print_table(("position", "character", "gradient", "share"), rows, {0, 2, 3})
        return 0
    with progress_bar("Going back", args) as show:
        steps = gradients.reach(model, text, lags=args.lags, target=args.target)
        found = units.run(steps, show and (lambda now: show(now.fraction, "")))
    if args.json:
        print(as_json(_object(args.model, found)))
    else:
        _print(model.name, found)
    return 0


def _row(row: ConnectivityRow) -> list[dict[str, Any]]:
    """One for each character, counted from 0."""
    norms = row.norms.astype(float)
    total = float(norms.sum()) or 1.0
    columns = zip(row.text, norms.tolist(), strict=True)
    return [
        {"position": t, "character": c, "norm": norm, "share": norm / total}
        for t, (c, norm) in enumerate(columns)
    ]


def _object(model: str, found: Reach) -> dict[str, Any]:
    half, beyond = found.half, found.beyond
    return {
        "model": model,
        "predictions": found.predictions,
        "lags": found.lags,
        "half_within": float(half.estimate),
        "half_within_interval": [float(half.low), float(half.high)],
        "beyond": beyond.estimate.tolist(),
        "beyond_low": beyond.low.tolist(),
        "beyond_high": beyond.high.tolist(),
        "block": half.block,
    }


def _print(name: str, found: Reach) -> None:
    half, beyond = found.half, found.beyond
    print(
        f"{name}, {found.predictions:,} predictions with {found.lags} characters before each: half of the "
        f"gradient lies within the last {half.estimate:.2f}"
        + (f" ({half.low:.2f} to {half.high:.2f}, 95 % over passages)" if half.enough else "")
    )
    if not half.enough:
        print("too few, or too uneven, for an interval over passages: give a longer text")
    rows = [
        (
            str(lag),
            f"{beyond.estimate[lag]:.2%}",
            f"{beyond.low[lag]:.2%} to {beyond.high[lag]:.2%}" if beyond.enough else "–",
        )
        for lag in LAGS
        if lag < found.lags - 1
    ]
    print_table(("lag", "share beyond", "95 %"), rows, {0, 1})

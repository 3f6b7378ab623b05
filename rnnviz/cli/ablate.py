"""`python -m rnnviz ablate`: how much worse a network predicts without each of its units. A row a unit, the
one missed most first; but no rows where the two halves of the text rank the units too differently: there
another text would have others on top.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rnnviz.cli.output import (
    add_model,
    add_quiet,
    add_source,
    add_unclosed,
    as_json,
    at_least,
    command,
    network,
    numbers,
    print_table,
    progress_bar,
    source_text,
)
from rnnviz.errors import ConfigError

if TYPE_CHECKING:
    from rnnviz.units import Ablation

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
    if args.json:
        print(as_json(_object(args.model, found)))
    else:
        _print(model.name, found, asked=args.units is not None)
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


def _row(found: Ablation, place: int) -> dict[str, Any]:
    drawn = found.interval
    out = {
        "unit": int(found.units[place]),
        "loss": float(found.loss[place]),
        "interval": [float(drawn.low[place]), float(drawn.high[place])],
        "perplexity": float(found.perplexity[place]),
    }
    if found.within is not None:
        for name in ("inside", "outside", "difference"):
            part = getattr(found.within, name)
            out[name] = float(part.estimate[place])
            out[f"{name}_interval"] = [float(part.low[place]), float(part.high[place])]
    return out


def _object(model: str, found: Ablation) -> dict[str, Any]:
    random = found.random
    return {
        "model": model,
        "layer": found.layer,
        "characters": found.characters,
        "perplexity": found.baseline,
        "replication": found.replication,
        "replicates": found.replicates,
        "characters_needed": found.needed,
        "target": None if found.within is None else found.within.target,
        "inside": None if found.within is None else found.within.characters,
        "units": [_row(found, place) for place in range(len(found.units))],
        "random_directions": [] if random is None else random.loss.tolist(),
        "beyond_random": found.beyond,
    }


def _print(name: str, found: Ablation, *, asked: bool) -> None:
    print(f"{name}, layer {found.layer}, {found.characters:,} characters, perplexity {found.baseline:.3f}")
    if not asked:
        print(f"the two halves rank the units with a correlation of {found.replication:.2f}")
        if not found.replicates:
            needed = f"at least {found.needed:,.0f} characters are needed; see --characters"
            why = needed if found.needed < 1e7 else "the halves have nothing in common"
            print(f"too little for a ranking (0.5): {why}")
            return
    order = range(len(found.units)) if asked else (-found.loss).argsort(kind="stable").tolist()
    head = ["unit", "loss nats", "95 %", "perplexity"]
    inside = [] if found.within is None else ["inside", "outside", "difference", "95 %"]
    rows = []
    for place in order:
        one = _row(found, place)
        row = [
            str(one["unit"]),
            f"{one['loss']:+.5f}",
            _interval(one["interval"]),
            f"{one['perplexity']:.3f}",
        ]
        if inside:
            row += [f"{one[column]:+.5f}" for column in ("inside", "outside", "difference")]
            row.append(_interval(one["difference_interval"]))
        rows.append(row)
    print_table([*head, *inside], rows, {0, 1, 3, 4, 5, 6})
    if found.random is not None:
        loss = found.random.loss
        print(
            f"{len(loss)} random directions: {loss.min():+.5f} to {loss.max():+.5f}, mean {loss.mean():+.5f}"
        )
        if found.beyond is not None:
            of = f"{found.beyond} of {len(found.units)} units"
            print(f"{of} cost more than all of these: the interval of the lead excludes 0")


def _interval(ends: list[float]) -> str:
    return "–" if ends[0] != ends[0] else f"{ends[0]:+.5f} to {ends[1]:+.5f}"

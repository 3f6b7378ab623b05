"""`python -m rnnviz sample`: continue a text."""

import argparse
import sys
from typing import Any

from rnnviz.cli.output import STANDARD_INPUT, add_model, command, load, read_text


def add_parser(commands: Any) -> None:
    """Add the `sample` command."""
    parser = command(commands, "sample", main, "Continue a text")
    add_model(parser)
    parser.add_argument(
        "--prompt", "-p", default="", help="the text to continue; - reads standard input (default: none)"
    )
    parser.add_argument("--length", "-n", type=int, default=500, help="characters to write (default: 500)")
    parser.add_argument(
        "--temperature", "-t", type=float, default=1.0, help="below 1 tamer, above 1 wilder (default: 1)"
    )
    parser.add_argument(
        "--top-k", type=int, help="choose among the k most probable characters only (default: all)"
    )
    parser.add_argument(
        "--top-p",
        type=float,
        help="choose among the fewest characters that hold this share of the probability (default: all)",
    )
    parser.add_argument(
        "--seed", type=int, help="the same seed writes the same text (default: none, another text each time)"
    )


def main(args: argparse.Namespace) -> int:
    """Run `sample`; returns the exit status."""
    from rnnviz.reading.sampling import stream

    model = load(args)
    prompt = read_text(STANDARD_INPUT, None) if args.prompt == STANDARD_INPUT else args.prompt
    written = stream(
        model,
        prompt,
        args.length,
        temperature=args.temperature,
        top_k=args.top_k,
        top_p=args.top_p,
        seed=args.seed,
    )
    sys.stdout.write(prompt)
    for character in written:
        sys.stdout.write(character)
        sys.stdout.flush()
    sys.stdout.write("\n")
    return 0

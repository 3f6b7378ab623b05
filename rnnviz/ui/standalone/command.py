"""`python -m rnnviz page`: the Explore view of a model as one HTML file that needs no server."""

import argparse
from pathlib import Path
from typing import Any

from rnnviz.cli.bind import flatten
from rnnviz.cli.output import Named, command
from rnnviz.errors import ConfigError


def add_parser(commands: Any) -> None:
    """Add the `page` command."""
    about = "Write the live view of a network as one HTML file, which any browser opens without a server"
    parser = command(commands, "page", main, about)
    flatten(parser, Named)
    parser.add_argument("--output", type=Path, required=True, help="the HTML file to write")
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit status 1 if the file isn't what would be written",
    )
    parser.add_argument("--language", choices=("en", "zh"), default="en", help="of its words (default: en)")


def main(args: argparse.Namespace) -> int:
    """Run `page`; returns the exit status. Raises ConfigError where a page can't be, or isn't current."""
    from rnnviz import i18n
    from rnnviz.networks import checkpoint, modelfile
    from rnnviz.ui.standalone import build

    info = checkpoint.read_info(checkpoint.find(args.model))
    with i18n.speaking(args.language):
        page = build.page(info, build.yardstick(info))
    content = page.encode()
    # What is packed may be other bytes elsewhere; a file that holds the same is left as it is.
    there = args.output.read_text("utf-8", errors="replace") if args.output.is_file() else ""
    current = build.contents(there) == build.contents(page)
    if args.check and not current:
        raise ConfigError(
            "{file} isn't current; rebuild it: python -m rnnviz page --model {model} --output {file}",
            file=str(args.output),
            model=args.model,
        )
    if not current:
        modelfile.write_atomic(args.output, content)
    done = "Current" if current else "Wrote"
    print(f"{done}: {args.output} ({len(content):,} bytes), {info.name}")
    return 0

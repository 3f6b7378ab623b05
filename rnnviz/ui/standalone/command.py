"""`python -m rnnviz page`: the Explore view of a model as one HTML file that needs no server."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rnnviz.cli.output import add_model, command


def add_parser(commands: Any) -> None:
    """Add the `page` command."""
    about = "Write the live view of a network as one HTML file, which any browser opens without a server"
    parser = command(commands, "page", main, about)
    add_model(parser, device=False)
    parser.add_argument("--output", type=Path, required=True, help="the HTML file to write")
    parser.add_argument("--language", choices=("en", "zh"), default="en", help="of its words (default: en)")


def main(args: argparse.Namespace) -> int:
    """Run `page`; returns the exit status. Raises ConfigError for an n-gram model."""
    from rnnviz.networks import checkpoint, modelfile
    from rnnviz.ui import i18n
    from rnnviz.ui.standalone import build

    info = checkpoint.read_info(checkpoint.find(args.model))
    with i18n.speaking(args.language):
        content = build.page(info, build.yardstick(info)).encode()
    modelfile.write_atomic(args.output, content)
    print(f"Wrote {args.output} ({len(content):,} bytes): {info.name}")
    return 0

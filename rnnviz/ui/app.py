"""`rnnviz app`: the app for whoever sits at this computer, as `streamlit run app.py` is in a checkout."""

import argparse
from typing import Any

from rnnviz.cli.output import command
from rnnviz.ui import starting

EXAMPLES = """examples:
  rnnviz app
  rnnviz app --port 9000 --no-browser"""


def add_parser(commands: Any) -> None:
    """Add the `app` command."""
    about = "Open the app in a browser, for this computer alone; so does rnnviz without a command"
    parser = command(commands, "app", main, about, EXAMPLES)
    parser.add_argument(
        "--port", type=starting.port, help="where to listen (default: 8501, or the next free one)"
    )
    parser.add_argument("--no-browser", action="store_true", help="open no browser, print the address alone")


def main(args: argparse.Namespace) -> int:
    """Run `app` until it is stopped; returns the exit status."""
    return starting.serve("app", options(args))


def options(args: argparse.Namespace) -> dict[str, Any]:
    """Streamlit's options for what was asked."""
    found: dict[str, Any] = {}
    if args.port is not None:
        found["server.port"] = args.port
    if args.no_browser:
        found["server.headless"] = True
    return found

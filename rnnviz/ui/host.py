"""`python -m rnnviz host`: the app for others, on this computer's addresses."""

import argparse
import os
from typing import Any
from urllib.parse import urlsplit

from rnnviz.cli.output import command
from rnnviz.ui import starting
from rnnviz.ui.hosting.limits import CAPACITY

EXAMPLES = """examples:
  rnnviz host
  rnnviz host --capacity 80 --port 80 --name hall.example.org
  rnnviz host --server.sslCertFile cert.pem --server.sslKeyFile key.pem
  rnnviz host --address 127.0.0.1 --trust-proxy 127.0.0.1 --name https://hall.example.org"""


def add_parser(commands: Any) -> None:
    """Add the `host` command."""
    about = "Serve the app to a class: the lecturer may do everything, visitors look, type and try"
    parser = command(commands, "host", main, about, EXAMPLES)
    parser.add_argument(
        "--port", type=starting.port, help="where to listen (default: 8501, or the next free one)"
    )
    parser.add_argument("--address", help="which of this computer's addresses to listen on (default: all)")
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        help="another name that visitors open the app by, again for more; the first is printed. A whole "
        "address, such as https://hall.example.org, where a proxy answers to it",
    )
    parser.add_argument(
        "--capacity",
        type=int,
        metavar="N",
        help=f"pages that visitors have open at a time (default: {CAPACITY})",
    )
    parser.add_argument(
        "--trust-proxy",
        default="",
        metavar="ADDRESSES",
        help="of proxies whose word counts on who asks, and whether by https (default: none)",
    )
    for name in ("server.sslCertFile", "server.sslKeyFile"):
        parser.add_argument(f"--{name}", dest=name, metavar="FILE", help="for https, both")


def main(args: argparse.Namespace) -> int:
    """Run `host` until it is stopped; returns the exit status."""
    os.environ["RNNVIZ_HOSTED"] = "1"
    os.environ["FORWARDED_ALLOW_IPS"] = args.trust_proxy  # read by uvicorn
    if args.capacity is not None:
        os.environ["RNNVIZ_CAPACITY"] = str(args.capacity)
    address = next((name.rstrip("/") for name in args.name[:1] if "://" in name), "")
    if address:
        os.environ["RNNVIZ_ADDRESS"] = address
    return starting.serve("host", options(args))


def options(args: argparse.Namespace) -> dict[str, Any]:
    """Streamlit's options for what was asked."""
    from rnnviz.ui.room.addresses import addresses

    names = [urlsplit(name if "://" in name else f"//{name}").hostname or name for name in args.name]
    here = [args.address] if args.address else [one.address for one in addresses()]
    found = {
        "server.address": args.address or "0.0.0.0",
        "server.port": args.port,
        "server.headless": True,
        "server.allowedHosts": list(dict.fromkeys([*names, *here, "localhost", "127.0.0.1", "::1"])),
        "browser.serverAddress": names[0] if names else "localhost",  # or Streamlit asks others for it
        "logger.hideWelcomeMessage": True,
        **{name: value for name, value in vars(args).items() if name.startswith("server.ssl")},
    }
    return {name: value for name, value in found.items() if value is not None}

"""The app as a command starts it, from a checkout or a wheel: `rnnviz app` and `rnnviz host`."""

import argparse
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rnnviz.errors import ConfigError, install

UI = Path(__file__).parent
SETTINGS = Path(".streamlit", "config.toml")


def serve(command: str, options: Mapping[str, Any]) -> int:
    """Serve the app for `command`, Streamlit's `options` above its own settings, until it is stopped; returns
    the exit status. Raises ConfigError where what the app needs isn't installed.
    """
    sys.stdout.write("Starting …\n")  # on a first start nothing else is said for many seconds
    sys.stdout.flush()
    try:
        import streamlit as st

        from rnnviz.ui import entry, http_protocol
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] == "rnnviz":
            raise
        raise ConfigError(
            "{command} needs {name}, which isn't installed: {installing} brings it",
            command=command,
            name=missing.name,
            installing=install("app"),
        ) from missing
    config = {**dict(flat(tomllib.loads(settings().read_text("utf-8")))), **options}
    http_protocol.take()
    app = st.App(**entry.parts(watched=False))
    sys.argv[:] = [str(UI / "script" / "main.py")]  # Streamlit puts its folder first on sys.path
    app.run(config=config)
    return 0


def port(said: str) -> int:
    """A port as a command's option gives it.

    >>> port("8501")
    8501
    """
    if said.isdecimal() and (number := int(said)) < 1 << 16:
        return number
    raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535; received {said!r}")


def settings() -> Path:
    """The app's settings: beside the package in a checkout, in it where it is installed."""
    places = [folder / SETTINGS for folder in (UI.parents[1], UI.parent)]
    return next((place for place in places if place.is_file()), places[0])


def flat(table: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Streamlit's names of the options in a table.

    >>> dict(flat({"server": {"port": 1, "trustedUserHeaders": {"a": "b"}}}))
    {'server.port': 1, 'server.trustedUserHeaders': {'a': 'b'}}
    """
    for name, value in table.items():
        whole = f"{before}{name}"
        if isinstance(value, dict) and not whole.endswith("Headers"):
            yield from flat(value, f"{whole}.")
        else:
            yield whole, value

"""The server behind `rnnviz app` and `rnnviz host`, from a checkout or an installed wheel."""

import argparse
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rnnviz.errors import ConfigError, install

UI = Path(__file__).parents[1]
SETTINGS = Path(".streamlit", "config.toml")


def serve(command: str, options: Mapping[str, Any]) -> int:
    """Serve the app until it is stopped; returns the exit status.

    `command` is named in errors; `options` are Streamlit's, which replace those of the app's settings file.
    Raises ConfigError if a package that the app needs isn't installed.
    """
    sys.stdout.write("Starting …\n")  # the imports below take many seconds on a first start
    sys.stdout.flush()
    try:
        import streamlit as st

        from rnnviz.ui.serving import entry, http_protocol
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
    sys.argv[:] = [str(UI / "script" / "main.py")]  # Streamlit puts the folder of argv[0] first on sys.path
    app.run(config=config)
    return 0


def port(said: str) -> int:
    """The port of a command's option. Raises ArgumentTypeError for anything but 0 to 65535.

    >>> port("8501")
    8501
    """
    if said.isdecimal() and (number := int(said)) < 1 << 16:
        return number
    raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535; received {said!r}")


def settings() -> Path:
    """The path of the app's settings file: beside the package in a checkout, inside it once installed."""
    places = [folder / SETTINGS for folder in (UI.parents[1], UI.parent)]
    return next((place for place in places if place.is_file()), places[0])


def flat(table: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """The options of a TOML table by Streamlit's dotted names. A table of headers is one option.

    >>> dict(flat({"server": {"port": 1, "trustedUserHeaders": {"a": "b"}}}))
    {'server.port': 1, 'server.trustedUserHeaders': {'a': 'b'}}
    """
    for name, value in table.items():
        whole = f"{before}{name}"
        if isinstance(value, dict) and not whole.endswith("Headers"):
            yield from flat(value, f"{whole}.")
        else:
            yield whole, value

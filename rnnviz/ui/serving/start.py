"""`rnnviz app` and `rnnviz host`: the server of the app, from a checkout or an installed wheel.

Each command imports this module, so what needs Streamlit or Starlette is imported once they are asked for.
"""

import argparse
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from rnnviz.cli.bind import Help, Removed
from rnnviz.errors import ConfigError
from rnnviz.page.command import require_packages
from rnnviz.ui.serving.room import NETWORKS

UI_FOLDER = Path(__file__).parents[1]
SETTINGS = Path(".streamlit", "config.toml")


def serve(command: str, options: Mapping[str, Any]) -> int:
    """Serve the app until it is stopped; returns the exit status.

    `command` is named in errors; `options` are Streamlit's, which replace those of the app's settings file.
    Raises ConfigError if a package that the app needs isn't installed.
    """
    sys.stdout.write("Starting …\n")  # the imports below take many seconds on a first start
    sys.stdout.flush()
    # Within the check, as a plain installation of rnnviz has neither Streamlit nor Starlette.
    with require_packages(command):
        import streamlit as st

        from rnnviz.ui.serving import entry, http_protocol
    # `streamlit run` would read the settings file of the current folder; here the app's own always counts.
    config = {**dict(flat_options(tomllib.loads(settings_path().read_text("utf-8")))), **options}
    # Before `run`: uvicorn looks its class of connections up when its server starts.
    http_protocol.install()
    # Before the app's parts read an option: Streamlit would call the run's options an update, and warn.
    st.config.get_config_options(force_reparse=True, options_from_flags=config)
    app = st.App(**entry.app_parts(watched=False))
    # Streamlit puts the folder of argv[0] first on sys.path, and takes it for the script's.
    sys.argv[:] = [str(UI_FOLDER / "script" / "main.py")]
    app.run(config=config)
    return 0


def parse_port(text: str) -> int:
    """The port of a command's option. Raises ArgumentTypeError for anything but 0 to 65535.

    >>> parse_port("8501")
    8501
    """
    if text.isdecimal() and (number := int(text)) < 1 << 16:
        return number
    raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535; received {text!r}")


def settings_path() -> Path:
    """The path of the app's settings file: beside the package in a checkout, inside it once installed."""
    places = [folder / SETTINGS for folder in (UI_FOLDER.parents[1], UI_FOLDER.parent)]
    return next((place for place in places if place.is_file()), places[0])


def flat_options(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The options of a TOML table by Streamlit's dotted names. A table of headers is one option.

    >>> dict(flat_options({"server": {"port": 1, "trustedUserHeaders": {"a": "b"}}}))
    {'server.port': 1, 'server.trustedUserHeaders': {'a': 'b'}}
    """
    for name, value in table.items():
        dotted_name = f"{prefix}{name}"
        # Streamlit declares options of headers as one option each, whose value is the table.
        if isinstance(value, dict) and not dotted_name.endswith("Headers"):
            yield from flat_options(value, f"{dotted_name}.")
        else:
            yield dotted_name, value


def app(
    *,
    port: Annotated[
        int | None, Help("where to listen (default: 8501, or the next free one)", convert=parse_port)
    ] = None,
    no_browser: Annotated[bool, "open no browser, print the address alone"] = False,
) -> int:
    """Open the app in a browser, for this computer alone; so does rnnviz without a command.

    examples:
      rnnviz app
      rnnviz app --port 9000 --no-browser
    """
    options: dict[str, Any] = {}
    if port is not None:
        options["server.port"] = port
    if no_browser:
        options["server.headless"] = True
    return serve("app", options)


def check_class_networks(names: Iterable[str]) -> None:
    """Raise ConfigError for a name that no network on this machine has."""
    from rnnviz.page import build  # reads the models' files, which no other command here needs

    listed = [info.path.stem for info in build.networks()]
    for name in names:
        if name not in listed:
            raise ConfigError(
                "--model names a network that a class can see; received {received!r}. There are: {names}",
                received=name,
                names=", ".join(listed) or "none",
            )


def host(
    *,
    port: Annotated[
        int | None, Help("where phones come (default: 8600, or the next free one)", convert=parse_port)
    ] = None,
    address: Annotated[str, "which of this computer's addresses phones may use (default: all)"] = "",
    name: Annotated[
        list[str] | None,
        "another name that phones open the room by, again for more; the first is printed. A whole address, "
        "such as https://hall.example.org, where a proxy answers to it",
    ] = None,
    model: Annotated[
        list[str] | None,
        Help(
            f"a network that the class sees, again for more (default: {' and '.join(NETWORKS)}); a phone "
            "takes the smallest",
            metavar="NAME",
        ),
    ] = None,
    app_address: Annotated[
        str,
        "where the app itself listens (default: localhost). Another address only behind a proxy with a "
        "login: whoever reaches the app can do everything",
    ] = "",
    capacity: Annotated[
        str | None,
        Help("a class gets the live view and the questions, and any number may look", action=Removed),
    ] = None,
    trust_proxy: Annotated[
        str | None, Help("nothing depends on who asks any more; leave it out", action=Removed)
    ] = None,
    https: Annotated[
        str | None,
        Help(
            "a proxy in front speaks https, as deploy/README.md sets one up",
            *("--server.sslCertFile", "--server.sslKeyFile"),
            action=Removed,
        ),
    ] = None,
    no_browser: Annotated[bool, "open no browser, print the addresses alone"] = False,
) -> int:
    """Open the app for a lecture, and a room for the class: phones see the live view, and answer questions.

    The app answers to this computer alone. Phones get pages and send answers, nothing else.

    examples:
      rnnviz host
      rnnviz host --model holmes-lstm --model shakespeare-lstm
      rnnviz host --port 80 --name hall.example.org
      rnnviz host --address 127.0.0.1 --name https://hall.example.org
    """
    with require_packages("host"):
        from rnnviz.ui.serving.room import classroom
    check_class_networks(model or ())
    classroom.startup_options = classroom.RoomOptions(
        address, port, tuple(name or ()), tuple(model or NETWORKS)
    )
    options = {"server.address": app_address or None, "server.headless": no_browser or None}
    return serve("host", {name: value for name, value in options.items() if value is not None})

"""`rnnviz host`: the app for the lecturer, on this computer alone, and the room for a class."""

from typing import Annotated

from rnnviz.cli.bind import Gone, Help
from rnnviz.ui.serving import start
from rnnviz.ui.serving.room import classroom
from rnnviz.ui.serving.room.classroom import NETWORKS, RoomOptions


def host(
    *,
    port: Annotated[
        int | None, Help("where phones come (default: 8600, or the next free one)", convert=start.port)
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
        "login: whoever reaches the app may do everything",
    ] = "",
    capacity: Annotated[
        str | None, Help("a class gets the live view and the questions, and any number may look", action=Gone)
    ] = None,
    trust_proxy: Annotated[
        str | None, Help("nothing depends on who asks any more; leave it out", action=Gone)
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
    classroom.at_start = RoomOptions(address, port, tuple(name or ()), tuple(model or NETWORKS))
    options = {"server.address": app_address or None, "server.headless": no_browser or None}
    return start.serve("host", {name: value for name, value in options.items() if value is not None})

"""`rnnviz app`: the app for the person at this computer, as `streamlit run app.py` is in a checkout."""

from typing import Annotated, Any

from rnnviz.cli.bind import Help
from rnnviz.ui.serving import start

Port = Annotated[
    int | None, Help("where to listen (default: 8501, or the next free one)", convert=start.port)
]


def app(
    *,
    port: Port = None,
    no_browser: Annotated[bool, "open no browser, print the address alone"] = False,
) -> int:
    """Open the app in a browser, for this computer alone; so does rnnviz without a command.

    examples:
      rnnviz app
      rnnviz app --port 9000 --no-browser
    """
    found: dict[str, Any] = {}
    if port is not None:
        found["server.port"] = port
    if no_browser:
        found["server.headless"] = True
    return start.serve("app", found)

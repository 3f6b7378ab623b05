"""The app's environment variables. RNNVIZ_HOSTS opens it behind somebody else's login."""

import os
import re

from rnnviz.errors import ConfigError

GONE = (
    "RNNVIZ_HOSTED", "RNNVIZ_KEY", "RNNVIZ_CAPACITY", "RNNVIZ_TEXT_MB", "RNNVIZ_ADDRESS", "RNNVIZ_PROCESSES",
)  # fmt: skip
"""Variables of version 2, whose app served a class."""

_NAME = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*")


def check() -> None:
    """Raise ConfigError for an invalid variable. The app calls this before it serves anything.

    A variable of version 2 is refused, not ignored: who set RNNVIZ_KEY takes the app for protected.
    """
    if named := [name for name in GONE if os.environ.get(name)]:
        raise ConfigError(
            "the app serves one person since version 3, so {names} must be left out: `rnnviz host` gives a "
            "class the live view and the questions, and docs/class.md says how the app goes on a server",
            names=", ".join(named),
        )
    hosts()


def hosts() -> list[str]:
    """RNNVIZ_HOSTS: further host names that the app answers to, in lower case, with commas between them.

    Raises ConfigError for an invalid name. So is `*`, which would let any site's page talk to the app.
    """
    given = os.environ.get("RNNVIZ_HOSTS", "").lower()
    found = [name.strip() for name in given.split(",") if name.strip()]
    for name in found:
        if not _NAME.fullmatch(name):
            raise ConfigError(
                "RNNVIZ_HOSTS is a list of host names with commas between them, such as hall.example.org, "
                "without http:// and port; received {given}",
                given=repr(name),
            )
    return found

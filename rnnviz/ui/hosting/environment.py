"""The environment variables of a hosted app. Without RNNVIZ_HOSTED the app serves one person."""

import os
import re
import secrets
from functools import cache

from rnnviz.errors import ConfigError
from rnnviz.ui.hosting.limits import CAPACITY, LARGEST, MANY, MEGABYTES

SHORTEST = 16
"""Characters of a key, at least: visitors have cookies that it signs, and can check guesses against them."""

_NAME = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*")


def check() -> None:
    """Raise ConfigError for an invalid variable. The app calls this before it serves anything."""
    if (given := os.environ.get("RNNVIZ_PROCESSES", "").strip()) not in ("", "1"):
        raise ConfigError(
            "RNNVIZ_PROCESSES asks for {given} processes, and this version of the app is always one, in "
            "which a hundred people can type at once; leave it out",
            given=given,
        )
    hosts()
    if hosted():
        key(), capacity(), megabytes()


def hosted() -> bool:
    """Whether the app serves others: RNNVIZ_HOSTED=1."""
    return os.environ.get("RNNVIZ_HOSTED", "").strip().lower() not in ("", "0", "no", "false")


@cache
def key() -> str:
    """The lecturer's key: RNNVIZ_KEY, which outlasts a restart, or a random one for this process.

    Raises ConfigError for a key of fewer than SHORTEST characters.
    """
    given = os.environ.get("RNNVIZ_KEY", "")
    if given and len(given) < SHORTEST:
        raise ConfigError(
            "RNNVIZ_KEY has at least {least} characters; received {length}. Leave it out to have one made.",
            least=SHORTEST,
            length=len(given),
        )
    return given or secrets.token_urlsafe(18)


def key_is_made() -> bool:
    """Whether the key is this process's random one, which nobody knows before it is printed."""
    return not os.environ.get("RNNVIZ_KEY")


def address() -> str:
    """RNNVIZ_ADDRESS: the address that visitors open, if a proxy answers there; else ""."""
    return os.environ.get("RNNVIZ_ADDRESS", "").strip().rstrip("/")


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


def capacity() -> int:
    """RNNVIZ_CAPACITY: visitors' sessions at a time, 0 to MANY. Raises ConfigError for any other value."""
    return _number("RNNVIZ_CAPACITY", CAPACITY, 0, MANY)


def megabytes() -> int:
    """RNNVIZ_TEXT_MB: megabytes of a visitor's text, 1 to LARGEST. Raises ConfigError for any other value."""
    return _number("RNNVIZ_TEXT_MB", MEGABYTES, 1, LARGEST)


def _number(name: str, otherwise: int, least: int, most: int) -> int:
    given = os.environ.get(name, "").strip() or str(otherwise)
    if not re.fullmatch("[0-9]{1,9}", given) or not least <= int(given) <= most:
        raise ConfigError(
            "{name} is a whole number from {least} to {most}; received {given}",
            name=name,
            least=least,
            most=most,
            given=repr(given),
        )
    return int(given)

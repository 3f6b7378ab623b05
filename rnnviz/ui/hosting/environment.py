"""What the environment says about serving others. Without RNNVIZ_HOSTED the app is one person's."""

import os
import re
import secrets
from functools import cache

from rnnviz.errors import ConfigError
from rnnviz.ui.hosting.limits import CAPACITY, LARGEST, MANY, MEGABYTES

SHORTEST = 16
"""Characters of a key: what it signs, visitors have, and may try keys on."""

_NAME = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*")


def check() -> None:
    """Raise ConfigError, before anything is served, for what makes no sense in the settings below."""
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
    """The lecturer's key: RNNVIZ_KEY, which outlasts a restart, or one made for this process.

    Raises ConfigError for one that can be guessed.
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
    """Whether nobody has been told the key yet."""
    return not os.environ.get("RNNVIZ_KEY")


def address() -> str:
    """The address that visitors open, if a proxy in front answers to it: RNNVIZ_ADDRESS; else ""."""
    return os.environ.get("RNNVIZ_ADDRESS", "").strip().rstrip("/")


def hosts() -> list[str]:
    """Names that the app answers to beside its own, in lower case: RNNVIZ_HOSTS, with commas between them.

    Raises ConfigError for what is no name, so for `*` too: any site's page could then talk to the app.
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
    """How many sessions visitors have at a time. Raises ConfigError if RNNVIZ_CAPACITY is no such number."""
    return _number("RNNVIZ_CAPACITY", CAPACITY, 0, MANY)


def megabytes() -> int:
    """The megabytes of a visitor's text, at most. Raises ConfigError if RNNVIZ_TEXT_MB is no such number."""
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

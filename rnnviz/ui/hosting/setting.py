"""What the environment says about serving others. Without RNNVIZ_HOSTED the app is one person's."""

import os
import re
import secrets
from functools import cache

from rnnviz.errors import ConfigError
from rnnviz.ui.hosting.limits import CAPACITY, LARGEST, MEGABYTES

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
    """How many sessions visitors have at a time. Raises ConfigError if RNNVIZ_CAPACITY is no number."""
    given = os.environ.get("RNNVIZ_CAPACITY", "").strip()
    if not given:
        return CAPACITY
    if not given.isascii() or not given.isdigit():
        raise ConfigError("RNNVIZ_CAPACITY is a number of open pages; received {given}", given=repr(given))
    return int(given)


def megabytes() -> int:
    """The megabytes of a visitor's text, at most. Raises ConfigError if RNNVIZ_TEXT_MB is no such number."""
    given = os.environ.get("RNNVIZ_TEXT_MB", "").strip()
    if not given:
        return MEGABYTES
    if not given.isascii() or not given.isdigit() or not 1 <= int(given[:9]) <= LARGEST:
        raise ConfigError(
            "RNNVIZ_TEXT_MB is a whole number of megabytes from 1 to {most}; received {given}",
            most=LARGEST,
            given=repr(given),
        )
    return int(given)

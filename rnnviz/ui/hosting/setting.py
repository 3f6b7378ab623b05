"""What the environment says about serving others. Without RNNVIZ_HOSTED the app is one person's."""

from __future__ import annotations

import os
import secrets
from functools import cache

from rnnviz.errors import ConfigError

CAPACITY = 100
"""Visitors at a time that one process has room for, where RNNVIZ_CAPACITY says nothing else: as many type at
once, four characters a second each, on 40 % of a processor (tests/benchmarks/hall.py).
"""
SHORTEST = 16
"""Characters of a key: what it signs, visitors have, and may try keys on."""


def hosted() -> bool:
    """Whether the app serves others: RNNVIZ_HOSTED=1."""
    return os.environ.get("RNNVIZ_HOSTED", "").strip().lower() not in ("", "0", "no", "false")


@cache
def key() -> str:
    """The lecturer's key: RNNVIZ_KEY, which several processes can share, or one made for this process.

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


def one_of_several() -> bool:
    """Whether other processes stand behind the same address: RNNVIZ_PROCESSES is their number."""
    return os.environ.get("RNNVIZ_PROCESSES", "").strip() not in ("", "1")


def address() -> str:
    """The address that visitors open, if a proxy in front answers to it: RNNVIZ_ADDRESS; else ""."""
    return os.environ.get("RNNVIZ_ADDRESS", "").strip().rstrip("/")


def capacity() -> int:
    """How many visitors this process serves at a time. Raises ConfigError if RNNVIZ_CAPACITY is no number."""
    given = os.environ.get("RNNVIZ_CAPACITY", "").strip()
    if not given:
        return CAPACITY
    if not given.isascii() or not given.isdigit():
        raise ConfigError("RNNVIZ_CAPACITY is a number of visitors; received {given}", given=repr(given))
    return int(given)

"""Values that come from outside, an address or the browser: the valid ones, and None for the rest."""

from __future__ import annotations

import math
from collections.abc import Collection


def whole(value: object, low: int, high: int) -> int | None:
    """A whole number in low … high, given as one or as its digits."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 6:
        value = int(value)
    return value if type(value) is int and low <= value <= high else None


def text(value: object, limit: int) -> str | None:
    """A line of text of 1 to `limit` characters: cut where it is longer, its line ends turned into spaces."""
    if not isinstance(value, str):
        return None
    line = " ".join(value[: 2 * limit].splitlines())
    line = "".join(c for c in line if not 0xD800 <= ord(c) < 0xE000)[:limit]
    return line or None


def one_of(value: object, options: Collection[str]) -> str | None:
    """One of a few names."""
    return value if isinstance(value, str) and value in options else None


def number(value: object, low: float, high: float) -> float | None:
    """A number in low … high, given as one or as it is written."""
    if isinstance(value, str) and len(value) < 24:
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value) if low <= value <= high else None


def finite(value: float) -> float | None:
    """A number on its way to the browser, as JSON may hold it: None where it is infinite."""
    return float(value) if math.isfinite(value) else None

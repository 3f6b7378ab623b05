"""What a browser or an address may ask for, made valid: each function returns None for anything else."""

from __future__ import annotations

import math
from typing import Any


def whole(value: Any, low: int, high: int) -> int | None:
    """A whole number within low … high; from an address it comes as text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 7:
        value = int(value)
    return value if type(value) is int and low <= value <= high else None


def number(value: Any, low: float, high: float) -> float | None:
    """A number within low … high; from an address it comes as text."""
    if isinstance(value, str) and len(value) < 24:
        try:
            value = float(value)
        except ValueError:
            return None
    if type(value) not in (int, float) or not math.isfinite(value):
        return None
    return float(value) if low <= value <= high else None


def line(value: Any, limit: int) -> str | None:
    """One line of at most `limit` characters that can be printed and encoded."""
    if not isinstance(value, str) or len(value) > limit:
        return None
    return "".join(c for c in value if c.isprintable() and not 0xD800 <= ord(c) < 0xE000)


def one_of(value: Any, options: tuple[str, ...]) -> str | None:
    """One of some words."""
    return value if isinstance(value, str) and value in options else None


def finite(value: float) -> float | None:
    """A number as JSON may hold it: None where it is infinite."""
    return float(value) if math.isfinite(value) else None

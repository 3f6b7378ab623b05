"""Validates what a browser asks: whatever arrives, a page gets an ask that it can answer."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
Accepts = Callable[[Any], bool]


def valid(kind: type[T], value: object, /, **accepted: Accepts) -> T:
    """The dataclass `kind` from a JSON object; missing or unaccepted values become its defaults."""
    fields = value if isinstance(value, Mapping) else {}
    good = {name for name, accepts in accepted.items() if name in fields and accepts(fields[name])}
    return kind(**{name: fields[name] for name in good})


def text(longest: int) -> Accepts:
    """A string of at most `longest` characters."""
    return lambda value: isinstance(value, str) and len(value) <= longest


def whole(low: int = 0, high: int = 2**53 - 1) -> Accepts:
    """An integer from `low` to `high`, no bool."""
    return lambda value: type(value) is int and low <= value <= high


def number(low: float, high: float) -> Accepts:
    """A number from `low` to `high`, no bool."""
    return lambda value: type(value) in (int, float) and low <= value <= high


def true(value: Any) -> bool:
    """True itself."""
    return value is True

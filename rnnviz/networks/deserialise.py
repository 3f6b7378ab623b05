"""Dataclasses from JSON, with every field checked: a file may come from anywhere."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

LARGEST = 1e300
"""The bound of floats: JSON's Infinity is beyond it."""


def restored(kind: Any, value: Any) -> Any:
    """`value` as a `kind`: a dataclass, tuple, list, dict, Literal, str, int, float, bool, or one of them or
    None. Raises ValueError for another type, an infinity or NaN; LookupError or TypeError for fields that
    the dataclass doesn't have.

    >>> restored(tuple[int, float | None], [1, None])
    (1, None)
    >>> restored(tuple[int, ...], [1, "2"])
    Traceback (most recent call last):
    ValueError: '2' is no int
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (one,) = (part for part in parts if part is not NoneType)
        return None if value is None else restored(one, value)
    if is_dataclass(kind):
        made: Any = kind
        hints = _hints(made)
        return made(**{name: restored(hints[name], one) for name, one in value.items()})
    if origin is tuple:
        kinds = parts[:1] * len(value) if parts[1:] == (...,) else parts
        return tuple(restored(part, one) for part, one in zip(kinds, value, strict=True))
    if origin is Literal:
        fits = value in parts
    elif kind is float:
        fits = type(value) in (int, float) and abs(value) < LARGEST  # NaN fails the comparison, too
    else:
        fits = type(value) is (origin or kind)
    if not fits:
        raise ValueError(f"{value!r} is no {getattr(kind, '__name__', kind)}")
    return value


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)

"""Public names that are gone: each says what to write instead."""

from collections.abc import Callable
from typing import NoReturn


def gone(module: str, names: dict[str, str]) -> Callable[[str], NoReturn]:
    """The `__getattr__` of a module whose `names` are gone, each with what to write instead.

    >>> gone("rnnviz.units", {"glow": "write `activations`"})("glow")
    Traceback (most recent call last):
    ...
    AttributeError: rnnviz.units.glow is gone: write `activations`
    """

    def missing(name: str) -> NoReturn:
        if name in names:
            raise AttributeError(f"{module}.{name} is gone: {names[name]}")
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return missing

"""Public names that are gone: each says what to write instead."""

from collections.abc import Callable


def gone(module_name: str, names: dict[str, str]) -> Callable[[str], object]:
    """A module's `__getattr__` for names that it once had: name → what to write instead.

    >>> gone("rnnviz.units", {"old": "write new"})("old")
    Traceback (most recent call last):
    AttributeError: rnnviz.units.old is gone: write new
    """

    def missing(name: str) -> object:
        if name in names:
            raise AttributeError(f"{module_name}.{name} is gone: {names[name]}")
        raise AttributeError(f"module {module_name!r} has no attribute {name!r}")

    return missing

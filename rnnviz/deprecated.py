"""Public names of 2.0.0 that are gone: each says in one sentence what to write instead."""

from collections.abc import Callable, Mapping


def gone(module: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a module that has lost public names.

    module  the module's name, for the sentences
    names   name → the sentence that the AttributeError ends with: what to write instead

    >>> missing = gone("rnnviz.units", {"glow": "write `activations`"})
    >>> missing("glow")
    Traceback (most recent call last):
    ...
    AttributeError: rnnviz.units.glow is gone: write `activations`
    """

    def missing(name: str) -> object:
        if name in names:
            raise AttributeError(f"{module}.{name} is gone: {names[name]}")
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return missing

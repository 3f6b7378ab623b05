"""Public names of earlier versions. Each says what to write instead.

Names that the guides showed work for one version more, with a warning; all others raise an AttributeError.
"""

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType


def gone(
    module: str,
    names: Mapping[str, str],
    kept: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    frames: int = 2,
) -> Callable[[str], object]:
    """The `__getattr__` of a module that has lost public names.

    module  the module's name, for the sentences
    names   name → the sentence that the AttributeError ends with: what to write instead
    kept    name → (its home as "module:name", what to write instead); access warns
    frames  the warning's stacklevel, which leads to the line that uses the name

    >>> kept = {"root": ("math:sqrt", "`math.sqrt`")}
    >>> missing = gone("rnnviz.units", {"glow": "write `activations`"}, kept)
    >>> missing("glow")
    Traceback (most recent call last):
    ...
    AttributeError: rnnviz.units.glow is gone: write `activations`
    >>> with warnings.catch_warnings(record=True, action="always") as said:
    ...     missing("root")(4), str(said[0].message)
    (2.0, 'rnnviz.units.root will be removed in the next version: write `math.sqrt`')
    """

    def missing(name: str) -> object:
        if name in kept:
            home, instead = kept[name]
            said = f"{module}.{name} will be removed in the next version: write {instead}"
            warnings.warn(said, DeprecationWarning, stacklevel=frames)
            room, _, found = home.partition(":")
            return getattr(import_module(room), found)
        if name in names:
            raise AttributeError(f"{module}.{name} is gone: {names[name]}")
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return missing

"""Objects at the prompt: a repr of one screen at most, and in a notebook a picture.

`rnnviz.notebook` draws the pictures, `rnnviz.sentences` writes what may be said. Both stand above the classes
that derive from these, so they are imported by name when they are asked for.
"""

from dataclasses import fields
from importlib import import_module
from typing import Any

PICTURES, PLOTS, SENTENCES = "rnnviz.notebook.figure", "rnnviz.notebook.figure", "rnnviz.sentences"

MAX_LISTED_ITEMS = 8
"""Entries of a list that are shown one by one, at most."""

MAX_REPR_CHARS = 70
"""Characters of a value's repr, at most."""


class ReprMixin:
    """A dataclass (with `repr=False`) whose repr gives only the size of arrays and long lists."""

    def __repr__(self) -> str:
        names = [field.name for field in fields(self) if field.repr]  # type: ignore[arg-type]
        pairs = ((name, getattr(self, name)) for name in names)
        return f"{type(self).__name__}({', '.join(f'{name}={_brief(value)}' for name, value in pairs)})"


class Drawn:
    """An object with a picture, or several: `plot` draws one."""

    def plot(self, panel: str = "") -> Any:
        """The picture as a Plotly Figure: `.show()` opens it, `.write_html(path)` keeps it.

        panel  of a finding, the name of one of its `panels()`; "": the first

        A long Trace is a wide picture: `trace[a:b].plot()` is that of a part.

        Raises ConfigError where there is none, for instance of a model.

        >>> import rnnviz
        >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "machine")
        >>> trace.plot().data[0].z.shape  # units, characters
        (256, 7)
        """
        return import_module(PLOTS).figure(self, panel)


class Pictured(Drawn):
    """An object with a picture in a notebook: static HTML, without a script. A finding that is printed says
    below its repr what may be said, in the terminal's language.
    """

    def __str__(self) -> str:
        sentences: Any = getattr(self, "sentences", tuple)
        writer = import_module(SENTENCES)
        language = writer.terminal_language()
        lines = [writer.strip_marks(writer.describe(sentence, language)) for sentence in sentences()]
        return "\n".join([repr(self), *lines])

    def _repr_html_(self) -> str:
        html: str = import_module(PICTURES).html(self)
        return html


def _brief(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"<{value.dtype} {tuple(value.shape)}>" if value.shape else repr(value.item())
    is_collection = isinstance(value, tuple | list | dict | set | frozenset)
    if is_collection and (len(value) > MAX_LISTED_ITEMS or len(repr(value)) > MAX_REPR_CHARS):
        return f"<{type(value).__name__} of {len(value):,}>"
    whole = repr(value)
    if len(whole) <= MAX_REPR_CHARS:
        return whole
    return whole[: MAX_REPR_CHARS - 1] + "…" if isinstance(value, str) else f"<{type(value).__name__}>"

"""What is done to a text before a model reads it: line ends, and nothing else.

What is typed and what is scored then line up, character by character. This
module knows nothing of files or models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rnnviz.errors import ConfigError


class _Rule(Protocol):
    """What a normaliser does: `changed` counts the characters changed or removed so far."""

    changed: int

    def feed(self, chunk: str) -> str: ...

    def finish(self) -> str: ...


class _Newlines:
    """CRLF and CR become LF. A CR at the end of a chunk waits for what follows."""

    def __init__(self) -> None:
        self.changed = 0
        self._waiting = False

    def feed(self, chunk: str) -> str:
        if self._waiting and chunk:
            chunk = "\r" + chunk
            self._waiting = False
        if chunk.endswith("\r"):
            chunk = chunk[:-1]
            self._waiting = True
        # Each CR is either removed (before a LF) or turned into one: one change each.
        carriage_returns = chunk.count("\r")
        if not carriage_returns:
            return chunk
        self.changed += carriage_returns
        return chunk.replace("\r\n", "\n").replace("\r", "\n")

    def finish(self) -> str:
        if not self._waiting:
            return ""
        self._waiting = False
        self.changed += 1
        return "\n"


_RULES: dict[str, Callable[[], _Rule]] = {"newlines": _Newlines}


class Normaliser:
    """What a model wants done to a text before it reads it, chunk by chunk.

    `newlines`, the only one so far, turns CRLF and CR into LF and touches
    nothing else. Feed every chunk, then finish; the pieces joined are the same
    for every way of cutting the text. Raises ConfigError for an unknown name.
    """

    def __init__(self, name: str = "newlines") -> None:
        if name not in _RULES:
            raise ConfigError(
                "no normaliser is called {name!r}; there is {rules}",
                name=name,
                rules=", ".join(sorted(_RULES)),
            )
        self.name = name
        self._rule = _RULES[name]()

    def feed(self, chunk: str) -> str:
        """The next piece of normalised text; it may be empty."""
        return self._rule.feed(chunk)

    def finish(self) -> str:
        """What was held back until the text's end was known."""
        return self._rule.finish()

    @property
    def changed(self) -> int:
        """Characters changed or removed so far."""
        return self._rule.changed


def normalise(text: str, name: str = "newlines") -> str:
    """The whole text, normalised. Raises ConfigError for an unknown name."""
    normaliser = Normaliser(name)
    return normaliser.feed(text) + normaliser.finish()

"""The normalising of a text before a model reads it: line ends, and nothing else."""

from __future__ import annotations

from rnnviz.errors import ConfigError
from rnnviz.text.checked import check_text


class Normaliser:
    """CRLF and CR become LF, chunk by chunk, however the text is cut: feed every chunk, then finish.

    `name` is this rule's in a model's file; another is a ConfigError. `changed` counts characters changed.
    """

    def __init__(self, name: str = "newlines") -> None:
        if name != "newlines":
            raise ConfigError("no normaliser is called {name!r}; there is newlines", name=name[:100])
        self.changed = 0
        self._waiting = ""  # a CR at the end of a chunk waits for what follows

    def feed(self, chunk: str) -> str:
        """The next piece of normalised text, maybe empty."""
        chunk = self._waiting + chunk
        self._waiting = "\r" if chunk.endswith("\r") else ""
        return self._converted(chunk.removesuffix("\r"))

    def finish(self) -> str:
        """What was held back until the text's end was known."""
        last, self._waiting = self._waiting, ""
        return self._converted(last)

    def _converted(self, text: str) -> str:
        # Each CR is either removed (before a LF) or turned into one: one change each.
        changes = text.count("\r")
        self.changed += changes
        return text.replace("\r\n", "\n").replace("\r", "\n") if changes else text


def normalise(text: str, name: str = "newlines") -> str:
    """The whole text, normalised. Raises ConfigError for an unknown name.

    >>> normalise("one\\r\\ntwo\\rthree")
    'one\\ntwo\\nthree'
    """
    normaliser = Normaliser(name)
    check_text(text)
    return normaliser.feed(text) + normaliser.finish()

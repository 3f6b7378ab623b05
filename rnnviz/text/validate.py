"""Checks of arguments: an error says in one sentence what was expected and what was received."""

import os
from typing import BinaryIO

from rnnviz.errors import ConfigError, TextError


def received(value: object) -> str:
    """A value of a wrong type in a word or two."""
    return "None" if value is None else type(value).__name__


def check_text(text: object) -> str:
    """`text` itself if it is a str. Raises TextError, which tells for bytes and paths what to do."""
    if isinstance(text, str):
        return text
    if isinstance(text, bytes | bytearray):
        raise TextError("a text is a str; received bytes: decode them, as with .decode('utf-8')")
    if isinstance(text, os.PathLike):
        raise TextError("a text is a str; received a path: read the file, as with Path.read_text()")
    if hasattr(text, "text"):
        raise TextError("a text is a str; received a {received}: write its .text", received=received(text))
    raise TextError("a text is a str; received {received}", received=received(text))


def check_path(path: object) -> str:
    """A path as a str. Raises ConfigError for any other value."""
    if isinstance(path, str | os.PathLike) and isinstance(found := os.fspath(path), str):
        return found
    raise ConfigError(
        "a file is given by its path, a str or a Path; received {received}", received=received(path)
    )


def text_or_file(
    text: str | os.PathLike[str] | BinaryIO | None, path: str | os.PathLike[str] | BinaryIO | None
) -> tuple[str | None, str | os.PathLike[str] | BinaryIO | None]:
    """The text and the file, of which one is None: a Path or an open file given as `text` is a file.

    A str is the text itself, whatever files lie around. Raises ConfigError for two files.
    """
    if isinstance(text, os.PathLike) or hasattr(text, "read"):
        if path is not None:
            raise ConfigError("give either a file or text=…; received both")
        return None, text
    return None if text is None else check_text(text), path

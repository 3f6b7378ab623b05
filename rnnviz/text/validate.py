"""What is no text, no path or no number is refused in one sentence that says what was expected."""

import os
from pathlib import Path

from rnnviz.errors import ConfigError, TextError

LONGEST_PATH = 255


def received(value: object) -> str:
    """A value of a wrong type in a word or two."""
    return "None" if value is None else type(value).__name__


def check_text(text: object) -> str:
    """`text`, if it is one. Raises TextError, which says for bytes and paths what to do."""
    if isinstance(text, str):
        return text
    if isinstance(text, bytes | bytearray):
        raise TextError("a text is a str; received bytes: decode them, as with .decode('utf-8')")
    if isinstance(text, os.PathLike):
        raise TextError("a text is a str; received a path: read the file, as with Path.read_text()")
    raise TextError("a text is a str; received {received}", received=received(text))


def check_path(path: object) -> str:
    """`path` as a str, if it is one. Raises ConfigError."""
    if isinstance(path, str | os.PathLike) and isinstance(found := os.fspath(path), str):
        return found
    raise ConfigError(
        "a file is given by its path, a str or a Path; received {received}", received=received(path)
    )


def is_file(text: str) -> bool:
    """Whether a str is the path of a file that is there."""
    try:
        return len(text) <= LONGEST_PATH and Path(text).is_file()
    except (OSError, ValueError):
        return False

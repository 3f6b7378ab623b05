"""What was given where a text, a file or a corpus belongs: taken if it is clear what is meant, else refused
in one sentence.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from rnnviz.errors import ConfigError, Phrase, TextError
from rnnviz.text.corpora import from_file, from_text, open_corpus
from rnnviz.text.corpora import names as corpus_names

LONGEST_PATH = 255


def received(value: object) -> str:
    """A value of the wrong type in two words: what it is, and for the usual ones what to do."""
    if value is None:
        return Phrase("None")
    if isinstance(value, bytes | bytearray):
        return Phrase("bytes; decode them, as with .decode('utf-8')")
    if isinstance(value, os.PathLike):
        return Phrase("a path; read the file, as with Path.read_text()")
    return type(value).__name__


def check_text(text: object) -> str:
    """`text`, if it is one. Raises TextError."""
    if not isinstance(text, str):
        raise TextError("a text is a str; received {received}", received=received(text))
    return text


def check_path(path: object) -> str | os.PathLike[str]:
    """`path`, if it is one. Raises ConfigError."""
    if not isinstance(path, str | os.PathLike):
        raise ConfigError(
            "a file is given by its path, a str or a Path; received {received}",
            received=Phrase("None") if path is None else type(path).__name__,
        )
    return path


def as_corpus(given: Any) -> Any:
    """A Corpus, or whatever has a `split` as one has; a path, a corpus's name and a text become one.

    A str is the name of a corpus, the path of a file that is there, or else the text itself. Raises TextError
    for what is none of these, such as the path of a file that isn't there, and what reading them raises.

    >>> as_corpus("the machine that remembers").characters
    26
    """
    if not isinstance(given, str | bytes | bytearray) and callable(getattr(given, "split", None)):
        return given
    if isinstance(given, os.PathLike):
        return from_file(given)
    if not isinstance(given, str):
        raise TextError(
            "a text to train on is a str, a path or a rnnviz.corpora.Corpus; received {received}",
            received=received(given),
        )
    if given in corpus_names() or is_file(given):
        return open_corpus(given)
    if re.fullmatch(r"\S+\.\w{1,5}|\S*[/\\]\S*", given) and len(given) <= LONGEST_PATH:
        raise TextError(
            "there is no file {name!r}; a text that looks like a file's name goes through "
            "rnnviz.corpora.from_text",
            name=given,
        )
    return from_text(given)


def is_file(text: str) -> bool:
    """Whether a str is the path of a file that is there."""
    try:
        return len(text) <= LONGEST_PATH and Path(text).is_file()
    except (OSError, ValueError):
        return False

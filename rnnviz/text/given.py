"""What was given where a text to train on belongs: taken if it is clear what is meant, else refused."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from rnnviz.errors import TextError
from rnnviz.text.checked import check_text
from rnnviz.text.corpora import from_file, from_text, open_corpus
from rnnviz.text.corpora import names as corpus_names

LONGEST_PATH = 255


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
    check_text(given)
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

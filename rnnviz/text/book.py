"""The Time Machine, which comes with the package; shipped/README.md has its source and licence."""

from __future__ import annotations

from pathlib import Path

from rnnviz.errors import CorpusError

BOOK = Path(__file__).with_name("shipped") / "timemachine.txt"


def book() -> tuple[str, tuple[str, ...]]:
    """The text, of which nothing is missing. Raises CorpusError if its file is."""
    try:
        return BOOK.read_text(encoding="utf-8"), ()
    except OSError as error:
        raise CorpusError(
            "{path}, which comes with rnnviz, can't be read ({strerror}); install rnnviz again",
            path=BOOK,
            strerror=error.strerror,
        ) from None


def book_size() -> int:
    """Its bytes; 0 if its file is missing."""
    return BOOK.stat().st_size if BOOK.is_file() else 0

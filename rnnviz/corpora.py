"""Texts to train on, by name: `rnnviz.corpora`, as it is public. See `rnnviz.text.corpora`."""

from rnnviz.text.corpora import (
    REMOTE,
    Corpus,
    CorpusInfo,
    Remote,
    Split,
    describe,
    fetch,
    from_file,
    from_text,
    names,
    open_corpus,
    read,
)

__all__ = [
    "REMOTE",
    "Corpus",
    "CorpusInfo",
    "Remote",
    "Split",
    "describe",
    "fetch",
    "from_file",
    "from_text",
    "names",
    "open_corpus",
    "read",
]

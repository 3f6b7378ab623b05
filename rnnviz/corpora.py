"""Texts to train on. `open_corpus` opens one by its name, a file at a `pathlib.Path`, or a text.

    held_out = rnnviz.corpora.open_corpus("timemachine").split().held_out

`names` lists the corpora that come with rnnviz or can be fetched. See `rnnviz.text.corpora`.
"""

from typing import TYPE_CHECKING

from rnnviz.deprecated import gone
from rnnviz.text.corpora import Corpus, describe, fetch, names, open_corpus

__all__ = ["Corpus", "describe", "fetch", "names", "open_corpus"]

if not TYPE_CHECKING:  # a type checker that sees a module's `__getattr__` accepts every name
    __getattr__ = gone(
        __name__,
        {
            "from_file": "write open_corpus(pathlib.Path(…))",
            "from_text": "write open_corpus(text)",
            "CorpusInfo": "describe returns one",
            "Split": "Corpus.split returns one",
            "Remote": "describe(name).needs_download says what is fetched",
            "REMOTE": "describe(name).needs_download says what is fetched",
        },
        {"read": ("rnnviz.text.corpora:read", "open_corpus(name)")},
    )

"""Texts to train on. `open_corpus` opens one by its name, a file at a `pathlib.Path`, or a text.

    held_out = rnnviz.corpora.open_corpus("timemachine").split().held_out

`names` lists the corpora that come with rnnviz or can be fetched. See `rnnviz.text.corpora`.
"""

from rnnviz.text.corpora import Corpus, describe, fetch, names, open_corpus

__all__ = ["Corpus", "describe", "fetch", "names", "open_corpus"]

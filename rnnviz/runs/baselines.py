"""What a training run has to beat on its validation text: knowing nothing, letters alone, six-letter counts.

This module knows nothing of networks or runs, and loads no torch.
"""

from __future__ import annotations

from rnnviz.networks.ngram import NgramModel
from rnnviz.reading.scoring import perplexity
from rnnviz.text.vocabulary import Vocabulary

ORDER = 6

NAMES = ("uniform", "unigram", "ngram", "ngram_order", "ngram_characters")

MOST = 5_000_000
"""Characters counted at most, so that a run on a very large text starts within seconds."""


def measured(train: str, validation: str, vocabulary: Vocabulary) -> dict[str, float | int | None]:
    """The perplexities that a run's chart shows as lines, with `vocabulary`'s symbols.

    uniform           V
    unigram, ngram    of Kneser–Ney models of order 1 and ORDER, trained on `train` and scored on
                      `validation`; None where there is no validation text
    ngram_order       ORDER
    ngram_characters  how many characters of `train` they counted
    """
    train = train[:MOST]
    found: dict[str, float | int | None] = {"uniform": vocabulary.size, "unigram": None, "ngram": None}
    if validation:
        for name, order in (("unigram", 1), ("ngram", ORDER)):
            model = NgramModel.fit(train, order=order, vocabulary=vocabulary)
            found[name] = perplexity(model, text=validation).perplexity
    return {**found, "ngram_order": ORDER, "ngram_characters": len(train)}

"""Baselines of a run on its validation text: the uniform guess, unigrams, six-grams."""

from typing import Any

from rnnviz.lab.fit.estimate import MAX_COUNTED_CHARS
from rnnviz.lab.run import event_log
from rnnviz.lab.run.folder import RunFolder
from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring.perplexity import perplexity
from rnnviz.text.vocabulary import Vocabulary

NGRAM_ORDER = 6
"""The order of the n-gram."""

BASELINE_FIELDS = ("uniform", "unigram", "ngram", "ngram_order", "ngram_characters")
"""Fields of a start event that hold baselines."""


def measure_baselines(train: str, validation: str, vocabulary: Vocabulary) -> dict[str, float | int | None]:
    """The perplexities that a run's chart shows as lines, with `vocabulary`'s symbols.

    uniform           V
    unigram, ngram    Kneser–Ney of order 1 and NGRAM_ORDER, fitted to `train`; None without validation text
    ngram_characters  characters of `train` they counted: limited, so that a run on a very large text can
                      start
    """
    train = train[:MAX_COUNTED_CHARS]
    perplexities: dict[str, float | int | None] = {"uniform": vocabulary.size, "unigram": None, "ngram": None}
    if validation:
        for name, order in (("unigram", 1), ("ngram", NGRAM_ORDER)):
            model = NgramModel.fit(train, order=order, vocabulary=vocabulary)
            perplexities[name] = perplexity(model, text=validation).perplexity
    return {**perplexities, "ngram_order": NGRAM_ORDER, "ngram_characters": len(train)}


def read_baselines(folder: RunFolder) -> dict[str, Any] | None:
    """The baselines that an earlier start of this run measured; None without one."""
    for event in reversed(event_log.read(folder.events)[0]):
        if event["event"] == "start" and all(name in event for name in BASELINE_FIELDS):
            return {name: event[name] for name in BASELINE_FIELDS}
    return None

"""Recipes by the time one has: how large a model, how many passes, how much dropout.

    one-minute     an lstm of 256 units, in small and frequent steps
    five-minutes   the same for longer, kept by dropout from memorising the text
    best           an lstm of 512 units for half an hour
    toy            the textbook's "machine": 8 units, every number small enough to look at

A text read many times is memorised unless dropout prevents it, so dropout follows from the passes that the
minutes allow. On The Time Machine "one-minute" comes to a validation perplexity of 4.00 after 2.0 million
characters, "five-minutes" to 3.81 after 10.1 million, in float32; the 6-gram has 4.08 there.

A preset trains on the first 85 % only, so that the validation text shows when the n-gram is passed. Importing
this loads no torch.
"""

from __future__ import annotations

from math import log2

from rnnviz.errors import ConfigError
from rnnviz.networks.config import TrainConfig
from rnnviz.training import speed

PRESETS = {"toy": 0.0, "one-minute": 1.0, "five-minutes": 5.0, "best": 30.0}
"""The minutes each takes; 0: as many characters as its recipe says."""

TOY = TrainConfig(
    cell="rnn",
    hidden_size=8,
    embedding_size=0,
    epochs=200,
    batch=1,
    steps=7,
    learning_rate=0.02,
    weight_decay=0.0,
    min_count=1,
    evaluate_every=10,
)
"""The textbook's toy: one-hot inputs, 8 units, the word "machine"."""


def preset(key: str, characters_in_corpus: int, cores: int) -> tuple[TrainConfig, float]:
    """A preset's recipe for a text of that length on that many cores, and its minutes: above 0 they decide
    how many characters are trained on. Raises ConfigError for an unknown preset.
    """
    if key not in PRESETS:
        raise ConfigError(
            "a preset is one of {presets}; received {key!r}", presets=", ".join(PRESETS), key=key
        )
    if characters_in_corpus < 1 or cores < 1:
        raise ConfigError(
            "a preset is for a text of at least 1 character on at least 1 core; "
            "received {characters} and {cores}",
            characters=characters_in_corpus,
            cores=cores,
        )
    if key == "toy":
        return TOY, 0.0
    minutes = PRESETS[key]
    large = key == "best" or cores >= 8  # small products don't spread over many cores
    hidden_size = 512 if large else 256
    passes = speed.guess(hidden_size, cores) * minutes * 60 / (0.85 * characters_in_corpus)
    embedding, weight, output = dropout(passes, hidden_size)
    config = TrainConfig(
        cell="lstm",
        hidden_size=hidden_size,
        embedding_size=64,
        train_on="train",
        batch=32 if large else 16,
        steps=32,
        learning_rate=0.004 if large else 0.008,
        dropout_embedding=embedding,
        dropout_weight=weight,
        dropout_output=output,
        evaluate_every=200,
    )
    return config, minutes


def dropout(passes: float, hidden_size: int = 256) -> tuple[float, float, float]:
    """Of embedding, W_hh and output: none up to 2 passes over a text, all of it from 64, in proportion to the
    logarithm between. Larger models memorise sooner.
    """
    level = min(1.0, max(0.0, log2(max(passes, 1.0) / 2) / 5))
    most = (0.1, 0.3, 0.35) if hidden_size <= 256 else (0.1, 0.45, 0.5)
    embedding, weight, output = (round(share * level, 2) for share in most)
    return embedding, weight, output

"""Presets: recipes by training time, with the size of the model, the passes and the dropout.

    one-minute         an LSTM of 256 units
    one-minute-mingru  two layers of 256 units whose gates don't read the state (Feng et al. 2024)
    five-minutes       the LSTM for longer, with dropout against memorising the text
    best               an LSTM of 512 units for half an hour
    toy                the textbook's "machine": 8 units, every number small enough to look at
    names              an LSTM of 128 units, for a few thousand short texts that end, such as names
    textbook           the textbook's training: an RNN of 512 units, SGD, on 10,000 letters and blanks

A network memorises a text read many times unless dropout prevents it, so dropout follows from the passes that
the minutes allow. With numba and two cores of a 2022 server processor, validation perplexities on The Time
Machine are

    one-minute          3.86   after 3.8 million characters
    five-minutes        3.75   after 18.7 million
    one-minute-mingru   4.51   after 2.7 million
    6-gram              4.08

In the same time batches of 32 × 32 do better than 16 × 32 (3.91 in a minute, 3.79 in five) and 32 × 64 (3.92
in a minute).

A preset trains on the first 85 % only, so that the validation text shows whether, and when, the run passes
the n-gram. Importing this loads no torch.
"""

import re
from dataclasses import replace
from math import log2

from rnnviz.errors import ConfigError
from rnnviz.networks.config import TrainConfig
from rnnviz.text.corpora import SHORTEST_SPLIT

CORE_SPEED = 20_000
"""Characters a second of training an LSTM of 256 units on one core of a 2021 server processor."""

PRESETS = {
    "toy": 0.0,
    "one-minute": 1.0,
    "one-minute-mingru": 1.0,
    "five-minutes": 5.0,
    "best": 30.0,
    "textbook": 0.0,
    "names": 0.0,
}
"""The minutes of each preset; 0: its recipe decides the characters."""

MAX_PASSES = 1000
"""Passes over a text beyond which a preset isn't offered. With 5,000 characters of The Time Machine
"one-minute" reads its part 570 times, and is best on the validation text after 22.
"""

TOY = TrainConfig(
    cell="rnn",
    hidden_size=8,
    embedding_size=0,
    epochs=200,
    batch=1,
    steps=7,
    learning_rate=0.02,
    weight_decay=0.0,
    evaluate_every=10,
)
"""The textbook's toy: one-hot inputs, 8 units, the word "machine"."""

TEXTBOOK = TrainConfig(
    cell="rnn",
    hidden_size=512,
    embedding_size=0,
    epochs=500,
    batch=32,
    steps=35,
    learning_rate=1.0,
    weight_decay=0.0,
    clip=1.0,
    min_count=1,
    optimiser="sgd",
    initialisation="normal",
    sigma=0.01,
)
"""The textbook's training of an RNN from scratch, whose text is `textbook_text`."""

NAMES = TrainConfig(
    cell="lstm",
    hidden_size=128,
    embedding_size=32,
    epochs=60,
    steps=32,
    learning_rate=0.004,
    dropout_embedding=0.1,
    dropout_weight=0.3,
    dropout_output=0.5,
)
"""For a few thousand short texts that end, in half a minute. On the corpus names it comes to a validation
perplexity of 6.89, in half as many epochs to 7.0, in twice as many to 6.74; 5-grams have 6.75.
"""

_RECIPES = {"toy": TOY, "textbook": TEXTBOOK, "names": NAMES}

TEXTBOOK_CHARACTERS = 11_765
"""Characters of the textbook's training in all: of these 85 % are trained on, the book's 10,000."""


def preset(key: str, characters_in_corpus: int, cores: int) -> tuple[TrainConfig, float]:
    """A preset's recipe for a text of that length on that many cores, and its minutes; minutes above 0 decide
    the characters of the training. Raises ConfigError for an unknown preset.
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
    if PRESETS[key] == 0.0:
        return _RECIPES[key], 0.0
    minutes = PRESETS[key]
    hidden_size = _units(key, cores)
    large = hidden_size == 512
    embedding, weight, output = dropout(_passes(key, characters_in_corpus, cores), hidden_size)
    config = TrainConfig(
        cell="lstm",
        hidden_size=hidden_size,
        embedding_size=64,
        train_on="train",
        batch=32,
        steps=32,
        learning_rate=0.004 if large else 0.008,
        dropout_embedding=embedding,
        dropout_weight=weight,
        dropout_output=output,
        evaluate_every=200,
    )
    if key == "one-minute-mingru":
        config = replace(config, cell="mingru", layers=2, dropout_weight=0.0)
    return config, minutes


def fitting(characters_in_corpus: int, cores: int) -> list[str]:
    """The presets that fit a text of that length: the toy for one too short to be split; else the shortest,
    and those that don't read the text more than MAX_PASSES times. "textbook" has a text of its own.

    >>> fitting(7, 4), fitting(5_000, 4), fitting(178_979, 4)[2:]
    (['toy'], ['one-minute', 'one-minute-mingru'], ['five-minutes', 'best'])
    """
    if characters_in_corpus < SHORTEST_SPLIT:
        return ["toy"]
    first, *longer = (key for key, minutes in PRESETS.items() if minutes)
    return [first, *(k for k in longer if _passes(k, characters_in_corpus, cores) <= MAX_PASSES)]


def twice(text: str) -> str:
    """A text too short to be split, twice in a row, for the toy: so the network also learns what follows the
    end, and writes on. A text that would then be split stays as it is.

    >>> twice("machine")
    'machinemachine'
    """
    return text * 2 if 2 * len(text) < SHORTEST_SPLIT else text


def textbook_text(text: str, characters: int = TEXTBOOK_CHARACTERS) -> str:
    """A text as the textbook reads it, lower-case letters and single blanks, and of that the beginning.

    >>> textbook_text("The Time Machine, by H. G. Wells [1898]")
    'the time machine by h g wells'
    """
    return re.sub("[^a-z]+", " ", text.lower()).strip()[:characters]


def _units(key: str, cores: int) -> int:
    return 512 if key == "best" or cores >= 8 else 256  # small products don't spread over many cores


def _passes(key: str, characters_in_corpus: int, cores: int) -> float:
    """About how often a preset reads the training text: twice the cores give 1.7 times the speed, twice the
    units a third.
    """
    speed = CORE_SPEED * float(cores**0.75) * (1 if _units(key, cores) == 256 else 1 / 3)
    return speed * PRESETS[key] * 60 / (0.85 * characters_in_corpus)


def dropout(passes: float, hidden_size: int = 256) -> tuple[float, float, float]:
    """Dropout of embedding, W_hh and output: 0 up to 2 passes over a text, full from 64, between in
    proportion to the logarithm. Larger models memorise sooner.
    """
    # log2(64 / 2) is 5: the level is 0 at 2 passes and 1 at 64.
    level = min(1.0, max(0.0, log2(max(passes, 1.0) / 2) / 5))
    highest = (0.1, 0.3, 0.35) if hidden_size <= 256 else (0.1, 0.45, 0.5)
    embedding, weight, output = (round(share * level, 2) for share in highest)
    return embedding, weight, output

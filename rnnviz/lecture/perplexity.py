"""Perplexity as a game: give the next character a probability, and pay for it.

    surprisal   -log of the probability given to the actual character
    perplexity  exp of the mean surprisal: 1 for certainty, |V| for a uniform guess, infinite for a P of 0

It follows why likelihoods can't compare texts of different lengths, and how far a text can be compressed:
an ideal code spends -log2 P bits on a character, the mean of which is the cross-entropy.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.lecture.prediction import nats
from rnnviz.networks.numpy_model import Model
from rnnviz.reading.scoring import costs, running
from rnnviz.text.characters import normalise

Probability = float | Fraction

RAINING = "It is raining"
ENDINGS = (" outside", " banana tree", " piouw;kcj pwepoiut")
"""The textbook's three continuations of RAINING: good, nonsense in words, nonsense."""

BOOKS = (3_000_000, 100_000)
"""Characters of *War and Peace* and of *The Little Prince* in English: orders of magnitude."""


def surprisal(probability: Probability) -> float:
    """-log P in nats, infinite for 0. Raises ConfigError outside [0, 1].

    >>> round(surprisal(0.5), 3), surprisal(0.0)
    (0.693, inf)
    """
    if not 0 <= probability <= 1:
        raise ConfigError(
            "a probability lies between 0 and 1; received {probability}", probability=probability
        )
    return -math.log(probability) if probability > 0 else math.inf


def perplexity(probabilities: Sequence[Probability]) -> Probability:
    """exp of the mean surprisal of characters with these probabilities. Raises EmptyTextError for none.

    The largest p is factored out, exp(mean(-log(p_t / p))) / p, so that equal probabilities give exactly 1/p.

    >>> perplexity([Fraction(1, 28)] * 9)
    Fraction(28, 1)
    """
    for probability in probabilities:
        surprisal(probability)  # refuses what is no probability
    if not probabilities:
        raise EmptyTextError("perplexity needs at least one character with a probability; received none")
    if min(probabilities) == 0:
        return math.inf
    largest = max(probabilities)
    spread = math.fsum(math.log(largest / p) for p in probabilities) / len(probabilities)
    inverse = 1 / largest if isinstance(largest, Fraction) else 1.0 / largest
    return inverse if spread == 0 else float(inverse) * math.exp(spread)


@dataclass(frozen=True)
class Continuation:
    """What a model thinks of an ending after a beginning: nats (T,), perplexity, log10 of its probability."""

    nats: Doubles
    perplexity: float
    log10: float


def continuation(model: Model, beginning: str, ending: str) -> Continuation:
    """Score `ending` as what follows `beginning`. Raises EmptyTextError for an empty ending.

    >>> import rnnviz
    >>> continuation(rnnviz.load("timemachine-lstm"), "It is raining", " outside").nats.shape
    (8,)
    """
    if not ending:
        raise EmptyTextError("perplexity needs at least one character; type an ending")
    # A break between \r and \n would count one of them on either side.
    beginning, ending = (normalise(part, model.normaliser) for part in (beginning, ending))
    cost = nats(model, beginning + ending)[len(beginning) :]
    return Continuation(cost, math.exp(min(float(cost.mean()), 700.0)), -float(cost.sum()) / math.log(10))


def log10_likelihood(characters: int, perplexity: float) -> float:
    """log10 of the probability of a text of so many characters that a model reads with this perplexity.

    >>> log10_likelihood(100, perplexity=10.0)
    -100.0
    """
    return -characters * math.log10(perplexity)


@dataclass(frozen=True)
class Prefixes:
    """Every beginning of a text, (T,) each: log10 likelihood, perplexity, and bits in an ideal code."""

    log10: Doubles
    perplexity: Doubles
    bits: Doubles


def prefixes(model: Model, text: str) -> Prefixes:
    """Likelihood, perplexity and compressed size of every beginning of `text`.

    >>> import rnnviz
    >>> prefixes(rnnviz.load("timemachine-lstm"), "machine").perplexity.shape
    (7,)
    """
    cost = nats(model, text)
    total = np.cumsum(cost)
    return Prefixes(-total / math.log(10), running(cost), total / math.log(2))


def uniform_bits(model: Model, text: str) -> float:
    """What `text` costs in bits if each of the |V| symbols of `model` is as likely: T log2 |V|.

    Characters that the model doesn't know cost more, by the rule of `rnnviz.reading.scoring`.

    >>> from rnnviz.networks.ngram import NgramModel
    >>> uniform_bits(NgramModel.fit("abc", order=2), "abba")  # three letters and the unknown
    8.0
    """
    vocabulary = model.vocabulary
    ids = vocabulary.encode(normalise(text, model.normaliser))
    flat = np.full(len(ids), -math.log(vocabulary.size))  # (T,)
    return float(costs(flat, ids, vocabulary).sum() / math.log(2))

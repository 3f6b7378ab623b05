"""Perplexity as a game: give the next character a probability, and pay for it.

    surprisal   -log P of what came
    perplexity  exp of the mean surprisal: 1 if everything was certain, infinite if anything was
                held impossible, |V| if all |V| symbols were held equally likely

and what follows from it: why a likelihood can't compare texts of different
lengths, and what a text takes when it is compressed.

This module knows nothing of screens. Shannon's game is in `rnnviz.lecture.shannon`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.networks.ngram import NgramModel
from rnnviz.reading.scoring import costs, running
from rnnviz.reading.trace import trace
from rnnviz.text.normalising import normalise

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.networks.torch_model import CharModel

Doubles = npt.NDArray[np.float64]

Probability = float | Fraction

RAINING = "It is raining"
ENDINGS = (" outside", " banana tree", " piouw;kcj pwepoiut")
"""The textbook's three continuations of RAINING: good, nonsense in words, nonsense."""


def surprisal(probability: Probability) -> float:
    """-log P in nats; infinite for what was held impossible. Raises ConfigError outside [0, 1]."""
    if not 0 <= probability <= 1:
        raise ConfigError(
            "a probability lies between 0 and 1; received {probability}", probability=probability
        )
    return -math.log(probability) if probability > 0 else math.inf


def perplexity(probabilities: Sequence[Probability]) -> Probability:
    """exp of the mean surprisal of characters that were given these probabilities.

    Written with the largest probability p taken out,

        exp(mean(-log p_t)) = 1/p · exp(mean(-log(p_t / p)))

    so that equal probabilities give exactly 1/p: 1 for certainty, and |V| for
    the fractions 1/|V|. Raises EmptyTextError for no characters.
    """
    for probability in probabilities:
        surprisal(probability)  # refuses what is none
    if not probabilities:
        raise EmptyTextError("no characters have no perplexity; give at least one a probability")
    if min(probabilities) == 0:
        return math.inf
    largest = max(probabilities)
    spread = math.fsum(math.log(largest / p) for p in probabilities) / len(probabilities)
    inverse = 1 / largest if isinstance(largest, Fraction) else 1.0 / largest
    return inverse if spread == 0 else float(inverse) * math.exp(spread)


def spread_out(p: float, size: int) -> Doubles:
    """(V,) probabilities that give p to the first symbol and share the rest equally among the others."""
    if size < 2:
        raise ConfigError("there are at least 2 symbols to share among; received {size}", size=size)
    surprisal(p)
    found = np.full(size, (1 - p) / (size - 1))
    found[0] = p
    return found


def nats(model: CharModel | NumpyModel | NgramModel, text: str) -> Doubles:
    """The cost of each character of `text` (T,) in nats, by the rule of `rnnviz.reading.scoring`."""
    if not isinstance(model, NgramModel):
        return np.asarray(trace(model, text).nll)
    ids = model.vocabulary.encode(normalise(text, model.normaliser))
    return costs(model.score(ids), ids, model.vocabulary)


@dataclass(frozen=True)
class Continuation:
    """What a model thinks of an ending after a beginning.

    nats        (T,) the cost of each character of `ending`
    perplexity  of the ending, given the beginning
    log10       log10 of the ending's probability
    """

    beginning: str
    ending: str
    nats: Doubles
    perplexity: float
    log10: float


def continuation(model: CharModel | NumpyModel | NgramModel, beginning: str, ending: str) -> Continuation:
    """Score `ending` as what follows `beginning`. Raises EmptyTextError for an empty ending."""
    if not ending:
        raise EmptyTextError("an ending of no characters has no perplexity; type at least one")
    # A break between \r and \n would count one of them on either side.
    beginning, ending = (normalise(part, model.normaliser) for part in (beginning, ending))
    cost = nats(model, beginning + ending)[len(beginning) :]
    return Continuation(
        beginning,
        ending,
        cost,
        math.exp(min(float(cost.mean()), 700.0)),
        -float(cost.sum()) / math.log(10),
    )


@dataclass(frozen=True)
class Prefixes:
    """A text cut after every character: entry n is about the first n + 1 characters, (T,) each.

    log10       log10 of the likelihood: falls with every character
    perplexity  stays what it is
    bits        what the prefix takes in an ideal code: n · log2(perplexity)
    """

    text: str
    log10: Doubles
    perplexity: Doubles
    bits: Doubles


def prefixes(model: CharModel | NumpyModel | NgramModel, text: str) -> Prefixes:
    """Likelihood, perplexity and compressed size of every beginning of `text`."""
    cost = nats(model, text)
    total = np.cumsum(cost)
    return Prefixes(text, -total / math.log(10), running(cost), total / math.log(2))

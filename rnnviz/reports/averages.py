"""The perplexity of several texts together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rnnviz.errors import ConfigError
from rnnviz.reading.scoring import Report, Sum, of_sum


@dataclass(frozen=True)
class Averages:
    """Two averages of the perplexity of `texts` texts with `characters` characters in all.

    micro  every character counts the same: all texts as one, exp(Σ nats / Σ characters)
    macro  every text counts the same, however long: exp of the mean of the nats per character, which is the
           geometric mean of the perplexities; one hopeless text doesn't decide it, as it would their mean
    """

    micro: float
    macro: float
    texts: int
    characters: int


def averages(reports: Sequence[Report]) -> Averages:
    """The averages of scored texts, unknown characters included. Raises ConfigError for none.

    >>> import rnnviz
    >>> model = rnnviz.load("timemachine-6gram")
    >>> texts = ["The Time Traveller smiled.", "time"]
    >>> found = averages([rnnviz.perplexity(model, text=text) for text in texts])
    >>> f"{found.micro:.2f} {found.macro:.2f}", found.texts, found.characters
    ('2.16 4.66', 2, 30)
    """
    if not reports:
        raise ConfigError("an average is of at least one text; received none")
    characters, nats, means = 0, Sum(), Sum()
    for report in reports:
        mean = report.bits_per_character * math.log(2)
        characters += report.characters
        nats.add(mean * report.characters)
        means.add(mean)
    return Averages(
        of_sum(nats.value, characters), of_sum(means.value, len(reports)), len(reports), characters
    )

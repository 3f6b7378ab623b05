"""What is shown of an attribution: three measures of each character, and whether they add up."""

import math
from collections.abc import Iterator

from rnnviz.findings import Number, Sentence, Table, count, make_sentences, words
from rnnviz.lab.analysis.attribution import Contributions
from rnnviz.text.characters import visible

CANCELLING_RATIO = 3.0
"""Values cancel where the sum of their sizes exceeds this multiple of |y - y'|."""


def table(contributions: Contributions) -> Table:
    """A row a character; cells stay empty where a value wasn't requested or doesn't add up."""
    heads = ("position", "character", "integrated", "occlusion", "gradient")
    integrated, occluded, row = contributions.integrated, contributions.occluded, contributions.row
    # No number stands in the table that does not add up.
    first = integrated.first if integrated.adds_up else len(row)
    return Table(
        [words(f"head.{name}") for name in heads],
        [
            (
                count(s),
                visible(character),
                Number(float(integrated.values[s]), "signed") if s >= first else None,
                Number(float(occluded.values[s]), "signed") if s >= occluded.first else None,
                Number(float(row.norms[s]), "significant"),
            )
            for s, character in enumerate(row.text)
        ],
    )


def sentences(contributions: Contributions) -> list[Sentence]:
    """The sum of integrated gradients, and what each of the three measures shows."""
    integrated = contributions.integrated
    return make_sentences(
        _codes(contributions),
        last=count(len(integrated) - integrated.first),
        error=Number(integrated.error, "whole percent"),
        y=quantity(contributions),
        difference=Number(integrated.whole - integrated.without, "signed", 2),
        sum=Number(float(integrated.values.sum()), "signed", 2),
        size=Number(integrated.size, digits=2),
    )


def quantity(contributions: Contributions) -> Sentence:
    """The attributed quantity, in words."""
    against = visible(contributions.against or "")
    code = "attribution.log-p" if contributions.against is None else "attribution.log-p-against"
    return words(code, target=visible(contributions.target), against=against)


def _codes(contributions: Contributions) -> Iterator[str]:
    """Codes of the true sentences, in their order."""
    integrated = contributions.integrated
    if integrated.adds_up:
        yield "attribution.sum"
        if integrated.size > CANCELLING_RATIO * abs(integrated.whole - integrated.without):
            yield "attribution.cancel"
        if not math.isnan(integrated.beyond):
            yield "attribution.cut"
    else:
        yield "attribution.wrong"
    yield "attribution.notice"
    yield "attribution.limits"

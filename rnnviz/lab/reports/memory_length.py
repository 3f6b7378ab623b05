"""What is shown of a memory length: the share of the gradient beyond each lag."""

from collections.abc import Iterable, Iterator

import numpy as np

from rnnviz.findings import (
    Lines,
    Number,
    Panel,
    Sentence,
    Table,
    count,
    interval_words,
    make_sentences,
    words,
)
from rnnviz.lab.analysis.memory_length import ROUNDING_SHARE, Reach

TABLE_LAGS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500)
"""Lags in a table, as far as they were computed."""

SENTENCE_LAGS = (10, 20, 50)
"""Lags in a sentence, likewise."""


def table(reach: Reach) -> Table:
    """A row a lag."""
    rows = [
        (count(lag), _share_beyond(reach, lag, 2)["share"], words("span", **_share_beyond(reach, lag, 2)))
        for lag in TABLE_LAGS
        if lag < reach.lags - 1
    ]
    return Table([words(f"head.{name}") for name in ("lag", "beyond", "interval")], rows)


def sentences(reach: Reach) -> list[Sentence]:
    """The lag within which half of the gradient lies, its interval, and the share further back."""
    half = reach.half
    within = float(half.estimate)
    lags = [lag for lag in SENTENCE_LAGS if lag < reach.lags]
    shares = [words("reach.share", lag=lag, **_share_beyond(reach, lag)) for lag in lags]
    return make_sentences(
        _codes(reach),
        last=max(round(within), 1),
        lags=count(reach.lags),
        predictions=count(reach.predictions),
        half=Number(within, digits=1),
        interval=interval_words(float(half.low), float(half.high), 1),
        shares=shares,
    )


def _codes(reach: Reach) -> Iterator[str]:
    """Codes of the true sentences, in their order."""
    if reach.beyond.estimate[0] <= ROUNDING_SHARE:
        yield "reach.last-alone"
        return
    # Rounded to one character, the sentence is another: "the last character".
    yield "reach.half" if reach.half.estimate >= 1.5 else "reach.half-last"
    if not reach.half.enough:
        yield "reach.unsure"
        return
    yield "reach.interval"
    if reach.lags > min(SENTENCE_LAGS):
        yield "reach.further"


def panels(reach: Reach) -> list[Panel]:
    """The share beyond each lag."""
    return fading_panels([(words("reach.beyond"), reach)])


def _share_beyond(reach: Reach, lag: int, digits: int = 1) -> dict[str, Number]:
    """The share beyond a lag and the ends of its interval, in per cent."""
    beyond = reach.beyond
    ends = {"share": beyond.estimate, "low": beyond.low, "high": beyond.high}
    # A share of 0 may become slightly negative in a resampled text, by rounding.
    return {name: Number(100 * max(float(values[lag]), 0.0), digits=digits) for name, values in ends.items()}


def fading_panels(named_reaches: Iterable[tuple[object, Reach]]) -> list[Panel]:
    """The share beyond each lag of several networks, by name; no picture where no gradient reaches beyond the
    last character.
    """
    curves = [
        # The axis is logarithmic: what is rounding alone would pull the line down to its lower end.
        (name, np.where(reach.beyond.estimate > ROUNDING_SHARE, reach.beyond.estimate, np.nan))
        for name, reach in named_reaches
        if reach.beyond.estimate[0] > ROUNDING_SHARE
    ]
    if not curves:
        return []
    lags = count(max(len(curve) for _name, curve in curves))
    title, notice, limits = (words(f"reach.{name}", lags=lags) for name in ("title", "notice", "limits"))
    picture = Lines(curves, words("reach.lag"), words("reach.beyond"), log=True)
    return [Panel("reach", title, picture, [notice], limits)]

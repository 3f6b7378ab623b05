"""What is shown of an ablation: its ranking, the sentences that it allows, bars of the largest losses."""

import math
from collections.abc import Iterator

import numpy as np

from rnnviz.findings import (
    Bars,
    Number,
    Panel,
    Sentence,
    Table,
    Value,
    count,
    interval_words,
    make_sentences,
    words,
)
from rnnviz.lab.analysis.ablation import MIN_REPLICATION, Ablation
from rnnviz.lab.analysis.bootstrap import Resampled

MAX_NAMED_CHARS = 1e7
"""The largest `Ablation.needed` that a sentence names; beyond, no text is long enough."""

MAX_BARS = 16
"""Units in the picture."""


def table(ablation: Ablation) -> Table:
    """A row a unit: in the requested order, or largest loss first; no rows where the ranking doesn't
    replicate.
    """
    sides = ablation.sides()
    heads = ["unit", "loss", "interval", "perplexity", *(name for name, _side in sides)]
    # A ranking that another text would turn round is not shown at all; units that were asked for by number
    # are.
    listed = ablation.ranked_places if ablation.ranked else np.arange(len(ablation.units))
    rows: list[list[Value]] = [
        [
            Number(int(ablation.units[place]), "count"),
            Number(float(ablation.loss[place]), "signed", 5),
            resampled_interval(ablation.interval, place, 5),
            Number(float(ablation.perplexity[place])),
            *(Number(float(side.estimate[place]), "signed", 5) for _name, side in sides),
            *(resampled_interval(side, place, 5) for _name, side in sides[2:]),
        ]
        for place in listed
        if ablation.replicates or not ablation.ranked
    ]
    columns = [words(f"head.{name}") for name in (*heads, *["interval-difference"][: len(sides)])]
    return Table(columns, rows)


def sentences(ablation: Ablation) -> list[Sentence]:
    """The unit with the largest loss, or why no ranking is shown."""
    first = ablation.ranked_places[0]
    random = np.array([math.nan]) if ablation.random is None else ablation.random.loss
    return make_sentences(
        _codes(ablation),
        characters=count(ablation.characters),
        baseline=Number(ablation.baseline),
        unit=int(ablation.units[first]),
        without=Number(float(ablation.perplexity[first])),
        replication=Number(ablation.replication, digits=2),
        least=Number(MIN_REPLICATION, digits=1),
        # One digit: the estimate is rough, and more digits would look like a measurement.
        needed=count(float(f"{ablation.needed:.1g}")),
        beyond=ablation.beyond,
        units=len(ablation.units),
        controls=len(random),
        low=Number(float(random.min()), "signed", 5),
        high=Number(float(random.max()), "signed", 5),
        mean=Number(float(random.mean()), "signed", 5),
    )


def _codes(ablation: Ablation) -> Iterator[str]:
    """Codes of the true sentences, in their order."""
    if not ablation.ranked:
        yield "ablation.whole"
    elif math.isnan(ablation.replication):
        yield "ablation.too-short"
        return
    elif not ablation.replicates:
        yield "ablation.no-ranking"
        yield "ablation.needed" if ablation.needed <= MAX_NAMED_CHARS else "ablation.unforeseeable"
        return
    else:
        yield "ablation.most"
    if ablation.beyond is not None:
        yield "ablation.beyond"
    if ablation.random is not None:
        yield "ablation.random"


def panels(ablation: Ablation) -> list[Panel]:
    """Bars of the largest losses beside random directions; empty without a ranking."""
    if not (ablation.ranked and ablation.replicates):
        return []
    listed, interval, random = ablation.ranked_places[:MAX_BARS], ablation.interval, ablation.random
    units = ablation.units[listed].tolist()
    level = () if random is None else (("ablation.level", len(random.units), float(random.loss.max())),)
    picture = Bars(
        [str(unit) for unit in units],
        ablation.loss[listed].tolist(),
        words("ablation.x"),
        [(words(code, controls=controls), loss) for code, controls, loss in level],
        errors=(interval.high - interval.low)[listed] / 2 if interval.enough else None,
    )
    notice = [words("ablation.notice"), words("ablation.notice-click")]
    title, limits = words("ablation.title"), words("ablation.limits")
    return [Panel("ablation", title, picture, notice, limits, pick="bar", picks=units)]


def resampled_interval(
    resampled: Resampled, place: int | tuple[()] = (), digits: int = 4
) -> Sentence | Number:
    """An interval as text; a dash without one."""
    low, high = float(resampled.low[place]), float(resampled.high[place])
    return Number(None) if math.isnan(low) else interval_words(low, high, digits)

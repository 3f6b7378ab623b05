"""What is shown of a layer's gates: how often they are saturated, and time constants."""

import numpy as np

from rnnviz.findings import (
    Lines,
    Number,
    Panel,
    Points,
    Sentence,
    Table,
    count,
    interval_words,
    make_sentences,
    words,
)
from rnnviz.lab.analysis.gating import OPEN_ABOVE, SHUT_BELOW, Gates

MAX_TIME_CONSTANT = 10_000.0
"""Characters at which a picture cuts τ off: a gate that never closes has τ = inf."""


def table(gates: Gates) -> Table:
    """A row a gate: means over the units."""
    return Table(
        [words(f"head.{name}") for name in ("gate", "mean", "shut", "open")],
        [
            (
                words(f"gate.{name}"),
                Number(float(gates.mean[name].mean())),
                Number(float(gates.low[name].mean()), "percent"),
                Number(float(gates.high[name].mean()), "percent"),
            )
            for name in gates.mean
        ],
    )


def sentences(gates: Gates) -> list[Sentence]:
    """The median time constant, and the units with the longest."""
    median = gates.median
    return make_sentences(
        ["gates.median" if median.enough else "gates.median-unsure"],
        median=Number(float(median.estimate), digits=2),
        interval=interval_words(float(median.low), float(median.high), 2),
        units=[str(unit) for unit in gates.longest],
        characters=count(round(median.block * median.blocks)),
    )


def panels(gates: Gates) -> list[Panel]:
    """How often each gate is saturated, and the time constants."""
    saturated = Points(
        [
            (words(f"gate.{name}"), np.stack([gates.low[name], gates.high[name]], axis=1))
            for name in gates.mean
        ],
        "diagonal",
        words("gates.shut", level=Number(SHUT_BELOW, digits=1)),
        words("gates.open", level=Number(OPEN_ABOVE, digits=1)),
    )
    # Sorted: the picture shows how many units remember how long; their numbers are in the sentence.
    constants = np.sort(np.minimum(gates.time_constant, MAX_TIME_CONSTANT))[::-1]
    falling = Lines(
        [(words("gates.constant"), constants)], words("gates.units"), words("gates.left"), log=True
    )
    return [
        Panel(name, words(f"{name}.title"), picture, [words(f"{name}.notice")], words(f"{name}.limits"))
        for name, picture in (("saturation", saturated), ("constants", falling))
    ]

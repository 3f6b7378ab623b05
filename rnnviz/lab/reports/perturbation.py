"""What is shown of one changed letter: how soon two readings converge."""

from collections.abc import Sequence

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.findings import Lines, Number, Panel, Sentence, Table, count, make_sentences, words
from rnnviz.lab.analysis.perturbation import Perturbation
from rnnviz.text.characters import visible


def table(perturbation: Perturbation) -> Table:
    """A row a character from the changed one on."""
    rows = perturbation.facts()["characters"]
    return Table(
        [words(f"head.{name}") for name in ("position", "letter", "states-apart", "kl-bits")],
        [
            (
                count(row["position"]),
                visible(row["character"]),
                Number(row["distance"], digits=4),
                Number(row["bits"], digits=5),
            )
            for row in rows
        ],
    )


def sentences(perturbation: Perturbation) -> list[Sentence]:
    """The number of characters over which predictions differ."""
    n = perturbation.remembered()
    to_the_end = 0 < len(perturbation.before) - perturbation.at - 1 <= n
    return make_sentences(
        ["perturbation.remembered", *(["perturbation.to-the-end"] if to_the_end else [])],
        model=perturbation.before.model_name,
        bits=f"{perturbation.threshold:g}",
        n=count(n),
    )


def panels(perturbation: Perturbation, others: Sequence[Perturbation] = ()) -> list[Panel]:
    """The distance of predictions and of states; `others` are the same change in other networks."""
    at = perturbation.at
    named = [(changed.before.model_name, changed) for changed in (perturbation, *others)]
    # A line ends at differences that may be float32 rounding alone.
    apart = {
        "divergence": [(name, _above(changed.bits[at + 1 :], 1e-6)) for name, changed in named],
        "distance": [(name, _above(changed.distance[at:], 1e-5)) for name, changed in named],
    }
    return [
        Panel(
            kind,
            words(f"perturbation.{kind}"),
            Lines(
                curves,
                words("axis.character"),
                words(f"perturbation.{kind}-axis"),
                first=at,
                log=True,
                places=True,
            ),
            [words(f"perturbation.{kind}-notice")],
            words(f"perturbation.{kind}-limits"),
            link="x",
            pick="at",
        )
        for kind, curves in apart.items()
    ]


def _above(values: Doubles, least: float) -> Doubles:
    return np.where(values > least, values, np.nan)

"""Named units: those that the model's card has confirmed, by what they respond to. The view begins with the
first of them. A model whose card confirms none has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rnnviz.figures import live

if TYPE_CHECKING:
    from rnnviz.training.unit_findings import Recorded
    from rnnviz.ui.pages.explore.unit_order import Network

MOST = 3
"""Names that a reader takes in."""

KEPT = ("hidden", "cell")
"""What a trace holds of every character: a keystroke doesn't compute anything for them."""


@dataclass(frozen=True)
class Named:
    """One unit, and what was found of it, the best first."""

    quantity: str
    layer: int
    unit: int
    findings: Sequence[Recorded]


def of(model: Network) -> tuple[Named, ...]:
    """The named units of a model: each once, the first MOST."""
    from rnnviz.training import unit_findings

    if not model.card.get(unit_findings.KEY):
        return ()
    config, found = model.config, dict[tuple[str, int, int], list["Recorded"]]()
    for one in unit_findings.of(model.card):
        there = one.layer < config.layers and one.unit < config.hidden_size
        known = one.quantity in KEPT and one.quantity in live.quantities(config.cell)
        if there and known and one.verdict == "remembers":
            found.setdefault((one.quantity, one.layer, one.unit), []).append(one)
    return tuple(Named(*where, same) for where, same in list(found.items())[:MOST])


def among(found: tuple[Named, ...], quantity: str, layer: int) -> list[int]:
    """The units of those that a heat map of this quantity and layer shows."""
    return [one.unit for one in found if (one.quantity, one.layer) == (quantity, layer)]

"""Named units: units whose finding the model's card has confirmed. The live view begins with the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rnnviz.figures import live

if TYPE_CHECKING:
    from rnnviz.networks.model_card import Recorded
    from rnnviz.networks.numpy_model import Network

MOST = 3
"""Named units of a view, at most; a reader takes in no more."""

KEPT = ("hidden", "cell")
"""Quantities that a trace holds for every character, so that a keystroke computes nothing more."""


@dataclass(frozen=True)
class Named:
    """A unit with its findings on the model's card, the best first."""

    quantity: str
    layer: int
    unit: int
    findings: Sequence[Recorded]


def of(model: Network) -> tuple[Named, ...]:
    """The first MOST named units of a model, each once; () if its card has no confirmed finding."""
    from rnnviz.networks import model_card

    if not model.card.get(model_card.KEY):
        return ()
    config, found = model.config, dict[tuple[str, int, int], list["Recorded"]]()
    for one in model_card.of(model.card):
        there = one.layer < config.layers and one.unit < config.hidden_size
        known = one.quantity in KEPT and one.quantity in live.quantities(config.cell)
        if there and known and one.verdict == "remembers":
            found.setdefault((one.quantity, one.layer, one.unit), []).append(one)
    return tuple(Named(*where, same) for where, same in list(found.items())[:MOST])


def among(found: tuple[Named, ...], quantity: str, layer: int) -> list[int]:
    """The numbers of the named units in a heat map of this quantity and layer."""
    return [one.unit for one in found if (one.quantity, one.layer) == (quantity, layer)]

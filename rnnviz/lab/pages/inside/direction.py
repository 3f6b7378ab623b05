"""The choice of a direction in place of a unit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from rnnviz.figures.themes import ColourScale
from rnnviz.i18n import N_, _
from rnnviz.lab.analysis import directions
from rnnviz.lab.analysis.directions import Direction
from rnnviz.lab.pages.inside.page_view import PageView
from rnnviz.networks import model_card
from rnnviz.networks.model_card import Recorded
from rnnviz.page.shown_units import target_name
from rnnviz.ui.shell.fields import Field

_DIRECTIONS_KEY = (
    "inside.directions"  # a key of st.session_state: directions found under Units, by view and kind
)
UNIT, MEANS, PROBE, RANDOM = "unit", "means", "probe", "random"
CARD = "card:"  # before the target of a direction on the network's card
COLOURING = Field("inside.finding.what", UNIT, address="direction", title=N_("Direction"), brief=True)
MAX_RANDOM_SEED = 9999


class NamedDirection(NamedTuple):
    """A direction after its name on the page, and the finding of the network's card that it is of, if any."""

    name: str
    direction: Direction
    finding: Recorded | None = None


def keep(view: PageView, kind: str, target: str, direction: Direction) -> None:
    """Offer the direction found for `target` in all parts of the page; `kind` is MEANS or PROBE."""
    st.session_state.setdefault(_DIRECTIONS_KEY, {})[
        view.model_digest, view.layer, direction.quantity, kind
    ] = (
        target,
        direction,
    )


@dataclass(frozen=True, eq=False)
class DirectionChoice:
    """The choice of a direction in place of a unit.

    quantity     the states in which the direction lies
    key          its name among the page's fields
    unit_label   the entry for the unit
    usual        the entry at first
    with_random  whether random directions are offered too
    """

    view: PageView
    quantity: str
    key: str
    label: str
    unit_label: str
    usual: str = UNIT
    with_random: bool = False

    def render(self) -> NamedDirection | None:
        """Draw the choice. None if the reader chooses the unit, or if there is no direction to choose."""
        found_directions = self._list_found()
        names = {kind: direction.name for kind, direction in found_directions.items()}
        if self.with_random:
            names[RANDOM] = _("a random direction")
        # With the unit alone there is nothing to choose.
        if not names:
            return None
        field = COLOURING if self.key == "finding" else Field(f"inside.{self.key}.what", UNIT)
        # With directions on the card the default follows the search's target, which no address holds.
        field = replace(field, brief=not any(kind.startswith(CARD) for kind in found_directions))
        chosen = field.choose(
            self.label,
            {UNIT: self.unit_label} | names,
            self.usual,
            draw=st.selectbox,
            help=_(
                "A direction's value is a weighted sum of all units. A probe and a difference of means are "
                "offered here once a search under Units has found them."
            ),
        )
        if chosen in found_directions:
            return found_directions[chosen]
        # A seed makes the direction again, so none needs to be kept.
        return self._render_seed() if chosen == RANDOM else None

    def _list_found(self) -> dict[str, NamedDirection]:
        """The directions found in this network, layer and quantity, by kind."""
        # By network, layer and quantity: a direction means nothing among other units.
        kept_directions = st.session_state.get(_DIRECTIONS_KEY, {})
        keys = {
            kind: (self.view.model_digest, self.view.layer, self.quantity, kind) for kind in (MEANS, PROBE)
        }
        named = {
            CARD + finding.target: NamedDirection(
                _direction_name(CARD, finding.target), card_direction(finding), finding
            )
            for finding in card_sums(self.view.context.info.card, self.view.layer, self.quantity)
        }
        searched = {kind: kept_directions[key] for kind, key in keys.items() if key in kept_directions}
        return named | {
            kind: NamedDirection(_direction_name(kind, target), direction)
            for kind, (target, direction) in searched.items()
        }

    def _render_seed(self) -> NamedDirection:
        view, key = self.view, f"inside.{self.key}.random"
        seed = st.number_input(_("Seed"), 0, MAX_RANDOM_SEED, 0, key=key, persist_state="session")
        direction = directions.random_direction(view.H, seed, layer=view.layer, quantity=self.quantity)
        return NamedDirection(_("random direction {n}").format(n=seed), direction)


def card_sums(card: Mapping[str, Any], layer: int, quantity: str) -> list[Recorded]:
    """The weighted sums of a layer that a card names."""
    return [
        finding
        for finding in model_card.remembering(card)
        if finding.weighted and (finding.layer, finding.quantity) == (layer, quantity)
    ]


def card_direction(finding: Recorded) -> Direction:
    """The direction of a weighted sum on a card."""
    assert finding.weighted is not None
    return Direction(
        finding.target, finding.weighted.weights.astype(np.float64), finding.layer, finding.quantity
    )


def _direction_name(kind: str, target: str) -> str:
    words = _("the probe: {target}") if kind == PROBE else _("difference of means: {target}")
    words = _("the card's weights: {target}") if kind == CARD else words
    return words.format(target=target_name(target))


def centred_values(view: PageView, direction: Direction) -> tuple[np.ndarray[Any, Any], ColourScale]:
    """A direction's values along the page's text minus their mean, (T,), and the scale that holds them."""
    values = direction.along(view.trace)
    values = values - values.mean() if len(values) else values
    bound = float(np.nan_to_num(np.abs(values)).max(initial=0)) or 1.0
    # The scale ends at a round number: 1.234 becomes 1.3, and 0.0567 becomes 0.057.
    step = 10.0 ** np.floor(np.log10(bound) - 1)  # two digits
    bound = float(np.ceil(bound / step) * step)
    return values, ColourScale("diverging", -bound, bound)

"""The choice of a direction in place of a unit."""

from typing import Any

import numpy as np
import streamlit as st

from rnnviz.figures.themes import Scale
from rnnviz.i18n import _
from rnnviz.lab.analysis import directions
from rnnviz.lab.analysis.directions import Direction
from rnnviz.lab.pages.inside.view import View
from rnnviz.page.shown_units import target_name
from rnnviz.ui.shell.fields import Field

_FOUND = "inside.directions"  # a key of st.session_state: directions found under Units, by view and kind
UNIT, MEANS, PROBE, RANDOM = "unit", "means", "probe", "random"


def keep(view: View, kind: str, target: str, found: Direction) -> None:
    """Offer the direction `found` for `target` in all parts of the page; `kind` is MEANS or PROBE."""
    st.session_state.setdefault(_FOUND, {})[view.mark, view.layer, found.quantity, kind] = target, found


def pick(
    view: View, quantity: str, key: str, label: str, unit: str, *, random: bool = False
) -> tuple[str, Direction] | None:
    """The chosen direction after its name; None if the reader chooses the entry `unit`, or if there is no
    direction to choose. `random` adds random directions.
    """
    own = st.session_state.get(_FOUND, {})
    found: dict[str, tuple[str, Direction]] = {
        kind: own[view.mark, view.layer, quantity, kind]
        for kind in (MEANS, PROBE)
        if (view.mark, view.layer, quantity, kind) in own
    }
    offered = {UNIT: unit} | {kind: _name(kind, found) for kind in (*found, *([RANDOM] if random else []))}
    if len(offered) == 1:
        return None
    chosen = Field(f"inside.{key}.what", UNIT).choose(
        label,
        offered,
        draw=st.selectbox,
        help=_(
            "A direction's value is a weighted sum of all units. A probe and a difference of means are "
            "offered here once a search under Units has found them."
        ),
    )
    if chosen in found:
        return _name(chosen, found), found[chosen][1]
    if chosen != RANDOM:
        return None
    seed = st.number_input(_("Seed"), 0, 9999, 0, key=f"inside.{key}.random", persist_state="session")
    name = _("random direction {n}").format(n=seed)
    return name, directions.random_direction(view.H, seed, layer=view.layer, quantity=quantity)


def _name(kind: str, found: dict[str, tuple[str, Direction]]) -> str:
    if kind == RANDOM:
        return _("a random direction")
    target = target_name(found[kind][0])
    said = _("the probe: {target}") if kind == PROBE else _("difference of means: {target}")
    return said.format(target=target)


def coloured(view: View, along: Direction) -> tuple[np.ndarray[Any, Any], Scale]:
    """A direction's values along the page's text minus their mean, (T,), and the scale that holds them."""
    values = along.along(view.trace)
    values = values - values.mean() if len(values) else values
    far = float(np.nan_to_num(np.abs(values)).max(initial=0)) or 1.0
    step = 10.0 ** np.floor(np.log10(far) - 1)  # two digits
    far = float(np.ceil(far / step) * step)
    return values, Scale("diverging", -far, far)

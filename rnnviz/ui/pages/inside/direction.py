"""A direction in place of a unit: what there is to choose from, and which was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.figures.themes import Scale
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import words
from rnnviz.ui.pages.inside.common import View, kept
from rnnviz.ui.trouble import describe
from rnnviz.units import Direction, directions

_FOUND = "inside.directions"  # of st.session_state: those that Find the units has, by view and kind
UNIT, COMPONENT, MEANS, PROBE, RANDOM = "unit", "component", "means", "probe", "random"


def keep(view: View, kind: str, target: str, found: Direction) -> None:
    """Offer the direction of this kind in all parts of the page."""
    st.session_state.setdefault(_FOUND, {})[view.mark, view.layer, found.quantity, kind] = target, found


def pick(view: View, quantity: str, key: str, label: str, unit: str) -> tuple[str, Direction] | None:
    """The chosen direction and what to call it; None for what the word `unit` stands for, or where there is
    none, which is said.
    """
    own = st.session_state.get(_FOUND, {})
    found: dict[str, tuple[str, Direction]] = {
        kind: own[view.mark, view.layer, quantity, kind]
        for kind in (MEANS, PROBE)
        if (view.mark, view.layer, quantity, kind) in own
    }
    chosen = st.selectbox(
        label,
        [UNIT, COMPONENT, *found, RANDOM],
        key=f"inside.{key}.what",
        persist_state="session",
        format_func=lambda kind: unit if kind == UNIT else _name(kind, found),
        help=_(
            "A direction's value is a weighted sum of all units. A probe and a difference of means are "
            "offered here once Find the units has found them. Component 0 has the most variance."
        ),
    )
    if chosen in found:
        return _name(chosen, found), found[chosen][1]
    if chosen == UNIT or chosen is None:
        return None
    return _numbered(view, quantity, chosen, key)


def wanted(key: str) -> bool:
    """Whether a direction was chosen, even if there is none."""
    return st.session_state.get(f"inside.{key}.what", UNIT) not in (UNIT, None)


def _name(kind: str, found: dict[str, tuple[str, Direction]]) -> str:
    if kind in found:
        target = words.targets(python=True).get(found[kind][0], found[kind][0])
        said = _("the probe: {target}") if kind == PROBE else _("difference of means: {target}")
        return said.format(target=target)
    return _("a principal component") if kind == COMPONENT else _("a random direction")


def _numbered(view: View, quantity: str, kind: str, key: str) -> tuple[str, Direction] | None:
    label = _("Component, from 0") if kind == COMPONENT else _("Seed")
    number = int(
        st.number_input(label, 0, view.H - 1, 0, key=f"inside.{key}.{kind}", persist_state="session")
    )
    if kind == RANDOM:
        name = _("random direction {n}").format(n=number)
        return name, directions.random(view.H, number, layer=view.layer, quantity=quantity)
    try:
        every = kept(
            view.key("components", view.layer, quantity),
            lambda: directions.components(view.trace, layer=view.layer, quantity=quantity),
        )
        if number >= len(every):
            every = directions.components(view.trace, number + 1, layer=view.layer, quantity=quantity)
    except RnnvizError as error:
        st.warning(describe(error), icon=":material/error:")
        return None
    return _("principal component {n} of this text").format(n=number), every[number]


def coloured(view: View, along: Direction) -> tuple[np.ndarray[Any, Any], Scale]:
    """Its values over the page's text less their mean, (T,), and the scale that holds them."""
    values = along.along(view.trace)
    values = values - values.mean() if len(values) else values
    far = float(np.nan_to_num(np.abs(values)).max(initial=0)) or 1.0
    step = 10.0 ** np.floor(np.log10(far) - 1)  # two digits
    far = float(np.ceil(far / step) * step)
    return values, Scale("diverging", -far, far)


def reach(values: npt.NDArray[Any]) -> tuple[float, float]:
    """How far from 0 values go, rounded up, and the largest of them."""
    values = np.nan_to_num(values)
    far = max(0.1, float(np.abs(values).max(initial=0)))
    return float(np.ceil(far * 10) / 10), float(values.max(initial=0.0))

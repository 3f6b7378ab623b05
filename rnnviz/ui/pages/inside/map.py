"""A map of the units: those that do the same stand together, and the path of the state through its space."""

from __future__ import annotations

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.figures import heat, points
from rnnviz.figures.order import seriate
from rnnviz.figures.themes import Scale
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import board
from rnnviz.ui.pages.inside.board import Panel, Text
from rnnviz.ui.pages.inside.common import Look, cursor, guarded, kept, quantities, quantity

BOARD = "inside.map"


def kinds() -> list[str]:
    """The names of `points.KINDS`."""
    return [_("letter"), _("space"), _("line break"), _("punctuation or digit")]


@st.fragment
@guarded
def section(look: Look) -> None:
    """The whole sub-page."""
    ask = board.asked(BOARD)
    at = cursor(ask, look)
    with st.container(width=320):
        looked = quantity(look, "inside.map.quantity")
    key = (look.mark, look.text, look.layer, looked)
    values = units.activations(look.trace, layer=look.layer, quantity=looked)
    order = kept(("order", *key), lambda: seriate(values))
    seen = kept(("path", *key), lambda: units.project(look.trace, layer=look.layer, quantity=looked))
    scale = look.scale(looked)
    first = seen.points[:, 0]
    own = Scale("diverging", -1.0, 1.0)
    largest = float(np.abs(first).max(initial=0)) or 1.0
    board.mount(
        BOARD,
        texts=[
            Text(
                look.text,
                own.levels(first / largest),
                label=_("where the state stands along its widest axis"),
                values=first,
            )
        ],
        panels=[
            Panel(
                "clustered",
                _("{quantity}, units that move together side by side").format(quantity=quantities()[looked]),
                lambda theme: heat.table(
                    values.T[order], scale, x=_("character"), y=_("unit, in order of likeness"), theme=theme
                ),
                _(
                    "Bands of rows with one pattern are units that do the same: look for what switches a "
                    "band."
                ),
                _("that units far apart may be alike too: on a line each has only two neighbours."),
                height=420,
                width=3,
                link="x",
                pick="at",
            ),
            Panel(
                "path",
                _("The path of the state, seen along its two widest axes"),
                lambda theme: points.path(
                    seen.points,
                    points.kinds(look.text),
                    kinds(),
                    explained=seen.explained.tolist(),
                    axes=_("axis"),
                    theme=theme,
                ),
                _("States after spaces gather, wherever in the text they are; point at one to find it."),
                _(
                    "all other axes: points that lie together here may be far apart; {share} of the variance "
                    "is seen."
                ).format(share=f"{seen.explained.sum():.0%}"),
                height=420,
                width=3,
                link="points",
                pick="at",
            ),
        ],
        at=at if at is not None and at < len(look.text) else None,
        scale=("diverging", _("one end"), _("the other")),
    )

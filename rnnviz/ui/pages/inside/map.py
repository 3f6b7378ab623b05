"""A map of the units, similar ones together, and the path of the state through its space."""

from functools import partial

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.figures import charts
from rnnviz.figures.live import seriate
from rnnviz.figures.themes import Scale
from rnnviz.ui import dashboard
from rnnviz.ui.dashboard import Panel, painted
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside.common import View, cursor, fragment, heat_panel, kept, quantity
from rnnviz.ui.words import quantities

KEY = "inside.map"


def kinds() -> list[str]:
    return [_("letter"), _("space"), _("line break"), _("punctuation or digit")]


@fragment
def section(view: View) -> None:
    at = cursor(dashboard.asked(KEY), view, None)
    with st.container(width=320):
        looked = quantity(view, "inside.map.quantity")
    values = units.activations(view.trace, layer=view.layer, quantity=looked)
    order = kept(view.key("order", view.layer, looked), lambda: seriate(values))
    seen = kept(
        view.key("path", view.layer, looked),
        lambda: units.project(view.trace, layer=view.layer, quantity=looked),
    )
    first = seen.points[:, 0]
    largest = float(np.abs(first).max(initial=0)) or 1.0
    label = _("the state along principal component 0, the direction of most variance")
    dashboard.mount(
        KEY,
        texts=[painted(view.text, first, Scale("diverging", -largest, largest), label)],
        panels=[
            heat_panel(
                "clustered",
                _("{quantity}, units that move together side by side").format(quantity=quantities()[looked]),
                values[:, order],
                view.scale(looked),
                _(
                    "A band of similar rows is a group of units that move together: look for the characters "
                    "where a band changes colour."
                ),
                _("all similar units side by side: each row has only two neighbours."),
                height=420,
                width=3,
            ),
            Panel(
                "path",
                _("The path of the state along its first two principal components"),
                partial(
                    charts.path,
                    seen.points,
                    charts.kinds(view.text),
                    kinds(),
                    explained=seen.explained.tolist(),
                    axes=_("component"),
                ),
                _(
                    "Do states after the same kind of character lie together, wherever they are in the text? "
                    "Point at one to find it."
                ),
                _(
                    "the other components: points that lie together here may be far apart there. These two "
                    "hold {share} of the variance. Untrained networks group such states too."
                ).format(share=f"{seen.explained.sum():.0%}"),
                height=420,
                width=3,
                link="points",
                pick="at",
            ),
        ],
        at=at,
        scale=("diverging", f"−{largest:.2g}", f"{largest:.2g}"),
    )

"""Ablate each unit in turn: how much worse the network predicts without it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from rnnviz.figures import bars
from rnnviz.ui import choice
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import dashboard, sources
from rnnviz.ui.pages.inside.common import View, done_on_request, fragment
from rnnviz.ui.pages.inside.dashboard import Panel

if TYPE_CHECKING:
    from rnnviz.units.ablated import Ablation

KEY = "inside.ablation"
LISTED = 16


@fragment
def section(view: View) -> None:
    unit = dashboard.asked(KEY).pick(view.H)
    if unit is not None:
        st.session_state["inside.units"] = str(unit)
        st.session_state["inside.units.of"] = view.mark
        st.session_state["inside.unit"] = unit
        st.session_state["inside.way.next"] = "change"
        st.rerun()
    left, right = st.columns([1, 1], vertical_alignment="bottom")
    with left:
        source = sources.pick(view, "inside.ablate.source")
    words = {"zero": "0", "mean": _("its own mean")}
    with right:
        to = choice.pick(_("The missing unit is held at"), words, "inside.to", default="mean")
    if source is None:
        return
    found: Ablation | None = done_on_request(
        ("ablate", view.mark, view.layer, source.identity(view), to),
        _("Reading without each unit"),
        lambda check: sources.ablating(view, source, to),
        "ablate",
        label=_("Do without each of {n} units").format(n=view.H),
        icon=":material/content_cut:",
        said=_("Reads up to {n} characters once for each unit; it takes some seconds, or a minute.").format(
            n=f"{sources.ABLATED:,}"
        ),
    )
    if found is not None:
        _show(found)


def _show(found: Ablation) -> None:
    order = np.argsort(-found.loss, kind="stable")
    listed = order[:LISTED]
    share = float(np.maximum(found.loss[listed], 0).sum() / max(np.maximum(found.loss, 0).sum(), 1e-12))
    st.markdown(
        _(
            "On {n} characters the whole network has a perplexity of {baseline}. Without unit {unit}, the "
            "one it misses most, it is {without}."
        ).format(
            n=f"{found.characters:,}",
            baseline=f"{found.baseline:.3f}",
            unit=int(found.units[order[0]]),
            without=f"{found.perplexity[order[0]]:.3f}",
        )
    )
    dashboard.mount(
        KEY,
        panels=[
            Panel(
                "ablation",
                _("The units that are missed most"),
                partial(
                    bars.ranking,
                    [str(int(found.units[i])) for i in listed],
                    found.loss[listed],
                    errors=None if np.isnan(found.error).all() else found.error[listed],
                    x=_("nats that each character costs more without the unit"),
                ),
                _(
                    "These units carry {share} of all losses added up; if it is little, the work is spread "
                    "over many. Click a bar to change that unit."
                ).format(share=f"{share:.0%}"),
                _("what units do together: two that do the same are missed only when both are gone."),
                height=440,
                pick="bar",
                picks=[int(found.units[i]) for i in listed],
            )
        ],
        quiet=True,
    )

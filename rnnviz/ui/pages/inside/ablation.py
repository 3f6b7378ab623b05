"""Ablate each unit in turn: how much worse the network predicts without it."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from rnnviz.figures import charts
from rnnviz.ui import choice, dashboard
from rnnviz.ui.dashboard import Panel
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import sources
from rnnviz.ui.pages.inside.common import View, done_on_request, fragment
from rnnviz.ui.words import decimal
from rnnviz.units.ablated import REPLICATES

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
        to = choice.pick(_("An ablated unit is held at"), words, "inside.to", default="mean")
    if source is None:
        return
    found: Ablation | None = done_on_request(
        source.key(view, "ablate", view.layer, to),
        _("Ablating each unit"),
        lambda check: sources.ablating(view, source, to),
        "ablate",
        label=_("Ablate each of {n} units").format(n=view.H),
        icon=":material/content_cut:",
        said=_(
            "Reads up to {n} characters once for each unit, and stops as soon as both halves of what it has "
            "read rank the units alike. That takes minutes; you can cancel it."
        ).format(n=f"{sources.ABLATED:,}"),
    )
    if found is None:
        return
    if found.replicates:
        _show(found)
    else:
        st.info(_no_ranking(found), icon=":material/shuffle:")


def _no_ranking(found: Ablation) -> str:
    """Why there is none, and what might help, in Markdown."""
    n = f"{found.characters:,}"
    if math.isnan(found.replication):
        return _("A ranking needs at least three units and two passages of text: choose a longer text.")
    first = _(
        "No ranking is shown: the rank correlation between the two halves of these {n} characters is {r}. "
        "Below {least}, other units may lead on another text."
    ).format(n=n, r=decimal(found.replication), least=f"{REPLICATES:g}")
    if found.needed <= 1e7:
        return (
            first
            + " "
            + _("It takes at least about {needed} characters: choose a longer text.").format(
                needed=f"{float(f'{found.needed:.1g}'):,.0f}"
            )
        )
    return (
        first
        + " "
        + _("The two rankings have nothing in common, so the page can't say how much text would be enough.")
    )


def _show(found: Ablation) -> None:
    order = np.argsort(-found.loss, kind="stable")
    listed, drawn = order[:LISTED], found.interval
    errors = (drawn.high - drawn.low)[listed] / 2 if drawn.enough else None
    levels, beyond = {}, ""
    if found.random is not None:
        n = len(found.random.loss)
        levels[_("largest of {n} random directions").format(n=n)] = float(found.random.loss.max())
        if found.beyond is not None:
            beyond = " " + _(
                "{k} of {H} units cost more than every one of {n} random directions, by a lead whose 95 % "
                "interval excludes 0."
            ).format(k=found.beyond, H=len(found.units), n=n)
    st.markdown(
        _(
            "On {n} characters the whole network has a perplexity of {baseline}; without unit {unit}, which "
            "costs most, {without}. The rank correlation between the two halves of the text is {r} (1: the "
            "same ranking, 0: nothing in common)."
        ).format(
            n=f"{found.characters:,}",
            baseline=f"{found.baseline:.3f}",
            unit=int(found.units[order[0]]),
            without=f"{found.perplexity[order[0]]:.3f}",
            r=decimal(found.replication),
        )
        + beyond
    )
    dashboard.mount(
        KEY,
        panels=[
            Panel(
                "ablation",
                _("The units whose ablation costs most"),
                partial(
                    charts.ranking,
                    [str(int(found.units[i])) for i in listed],
                    found.loss[listed],
                    levels=levels,
                    errors=errors,
                    x=_("added loss, nats a character"),
                ),
                _(
                    "Whiskers are 95 % intervals: units whose whiskers overlap may change places on another "
                    "text; one whose whisker crosses the line isn't clearly above random directions. Click a "
                    "bar to change that unit."
                ),
                _("what units do together: if two do the same, ablating one alone costs little."),
                height=440,
                pick="bar",
                picks=[int(found.units[i]) for i in listed],
            )
        ],
        quiet=True,
    )

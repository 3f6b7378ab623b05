"""Match: the units that are on throughout a selected passage, and where else in a corpus most of them are."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from rnnviz import units
from rnnviz.figures import charts
from rnnviz.figures.frame import Figure
from rnnviz.figures.themes import Scale, Theme
from rnnviz.ui import dashboard
from rnnviz.ui.dashboard import Panel, ends, painted
from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.pages.inside import match_places
from rnnviz.ui.pages.inside.common import LONGEST, View, cursor, fragment
from rnnviz.ui.pages.inside.match_control import Asked
from rnnviz.ui.pages.inside.match_places import SHARE, SHOWN, SPAN
from rnnviz.units.matching import shares

if TYPE_CHECKING:
    from rnnviz.units import Pattern

KEY = "inside.match"
NAMED = 16  # rows of the heat map that have their number beside them, at most


@fragment
def section(view: View) -> None:
    ask = dashboard.asked(KEY)
    at = cursor(ask, view, None)
    start, stop = _span(view, ask)
    asked = _controls(view, stop - start)
    pattern = units.pattern(
        view.trace, start, stop, threshold=asked.threshold, edges=asked.edges, layer=view.layer
    )
    columns = [unit.unit for unit in pattern.units]
    states = units.activations(view.trace, layer=view.layer)
    on = shares(states[:, columns], pattern) if columns else (abs(states) >= asked.threshold).mean(axis=1)
    label = _("share of these units that are on") if columns else _("share of all units that are on")
    dashboard.mount(
        KEY,
        texts=[painted(view.text, on, SHARE, label)],
        panels=[_heat(view, pattern, states)],
        at=at,
        spans=[(start, stop)],
        select=True,
        scale=ends(SHARE),
    )
    if not columns:
        st.info(
            _(
                "No unit is on throughout the {n} selected characters and off for {k} on each side. Select "
                "fewer, lower the threshold, or set the margin to 0."
            ).format(n=stop - start, k=asked.edges)
            if asked.edges
            else _(
                "No unit is on throughout the {n} selected characters. Select fewer, or lower the threshold."
            ).format(n=stop - start),
            icon=":material/search_off:",
        )
        return
    st.markdown(
        ngettext(
            "**{n} unit** is on throughout the selected passage (+: above 0, −: below 0): {units}",
            "**{n} units** are on throughout the selected passage (+: above 0, −: below 0): {units}",
            len(columns),
        ).format(n=len(columns), units=_names(pattern))
    )
    match_places.section(view, pattern, asked, start)


def _span(view: View, ask: dashboard.Ask) -> tuple[int, int]:
    """The selected passage; before anything is selected a word that comes again, or else the last
    character.
    """
    new = ask.span(len(view.text))
    if new is not None:
        st.session_state[SPAN] = view.text, new
    text, span = st.session_state.get(SPAN, ("", None))
    if text == view.text and span is not None:
        return int(span[0]), int(span[1])
    words = list(re.finditer(r"\b\w{3,10}\b", view.text))
    often = Counter(word[0] for word in words)
    again = [word.span() for word in words if often[word[0]] > 1] or [word.span() for word in words]
    return again[-1] if again else (len(view.text) - 1, len(view.text))


def _controls(view: View, length: int) -> Asked:
    first, second, third, fourth = st.columns(4, vertical_alignment="bottom")
    usual = 0.3 if view.cell == "lstm" else 0.5
    threshold = first.slider(
        _("Threshold, distance from 0"),
        0.05,
        0.95,
        usual,
        0.05,
        key=f"inside.match.threshold.{usual}",
        persist_state="session",
        help=_(
            "A unit is on where its value is at least this far from 0. Throughout the passage it must be on, "
            "and on the same side of 0. Drag over the text below to select another passage."
        ),
    )
    edges = second.number_input(
        _("Margin with the units off"),
        0,
        20,
        0,
        key="inside.match.edges",
        persist_state="session",
        help=_("A unit must be off for so many characters on each side of the passage. 0: it need not be."),
    )
    share = third.slider(
        _("Units on in a match, at least"),
        25,
        100,
        75,
        5,
        format="%d %%",
        key="inside.match.share",
        persist_state="session",
    )
    least = fourth.number_input(
        _("Shortest match, in characters"),
        1,
        LONGEST,
        length,
        key=f"inside.match.least.{length}",
        persist_state="session",
    )
    return Asked(float(threshold), int(edges), share / 100, int(least), SHOWN)


def _heat(view: View, pattern: Pattern, states: Any) -> Panel:
    order = sorted(range(len(pattern)), key=lambda k: -pattern.signs[k])
    columns = [pattern.units[k].unit for k in order] or list(range(view.H))
    return Panel(
        "pattern",
        _("The units that are on throughout the passage, along the text")
        if len(pattern)
        else _("All units along the text: none is on throughout the passage"),
        partial(_table, states[:, columns].T, view.scale("hidden"), columns),
        _(
            "Inside the passage every row is strong and of one colour. Look for other places where most rows "
            "have those colours again."
        )
        if len(pattern)
        else _("No row is strong and of one colour throughout the passage, and weak in the margin, if any."),
        _("why they are on, and whether anything depends on them; that is what Cause asks."),
        height=260,
        link="x",
        pick="at",
    )


def _table(values: Any, scale: Scale, names: list[int], *, theme: Theme) -> Figure:
    """A heat map whose rows are called as the units are."""
    figure = charts.table(values, scale, x=_("character"), y=_("unit"), places="x", theme=theme)
    every = -(-len(names) // NAMED)
    shown = list(range(0, len(names), every))
    figure["layout"]["yaxis"].update(tickvals=shown, ticktext=[str(names[row]) for row in shown])
    return figure


def _names(pattern: Pattern) -> str:
    pairs = sorted(zip(pattern.units, pattern.signs, strict=True), key=lambda pair: pair[0])
    named = [f"{'+' if sign > 0 else '−'}{unit.unit}" for unit, sign in pairs]
    return ", ".join(named if len(named) <= 30 else [*named[:30], "…"])

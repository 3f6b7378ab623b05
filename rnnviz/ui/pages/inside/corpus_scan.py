"""A unit over a whole corpus: its highest and lowest places, its histogram, what moves it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from rnnviz.figures import charts
from rnnviz.text.characters import visible
from rnnviz.ui import dashboard
from rnnviz.ui.dashboard import Panel, Text
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import sources
from rnnviz.ui.pages.inside.common import View, done_on_request
from rnnviz.ui.words import decimal, signed

if TYPE_CHECKING:
    from rnnviz.figures.themes import Scale
    from rnnviz.units import ScanReport, UnitReport
    from rnnviz.units.scanning import Context


def section(view: View, quantity: str, unit: int, source: sources.Source | None) -> None:
    st.subheader(_("Unit {n} over the whole text").format(n=unit), anchor=False)
    if source is None:
        st.caption(_("Choose a text above."))
        return
    own = source.kind == sources.OWN
    report: ScanReport | None = done_on_request(
        source.key(view, "scan", view.layer, quantity),
        _("Reading the corpus"),
        lambda check: sources.scanning(view, source, quantity),
        "scan",
        label=_("Read the text on this page") if own else _("Read the corpus"),
        icon=":material/menu_book:",
        said=_("Reads up to {n} characters, for all units at once. It takes about ten seconds.").format(
            n=f"{sources.SCANNED:,}"
        ),
    )
    if report is not None:
        _show(view.scale(quantity), report[view.layer, unit], report.characters)


def _show(scale: Scale, found: UnitReport, characters: int) -> None:
    st.caption(
        _(
            "{n} characters read. The unit's mean is {mean}, its range {low} to {high}. The colours are its "
            "values; the frame marks the character where it is highest, or lowest."
        ).format(
            n=f"{characters:,}",
            mean=decimal(found.mean),
            low=decimal(found.lowest),
            high=decimal(found.highest),
        )
    )
    left, right = st.columns(2)
    with left:
        st.markdown(_("**Where it is highest**"))
        dashboard.mount("inside.top", texts=_contexts(scale, found.top), quiet=True)
    with right:
        st.markdown(_("**Where it is lowest**"))
        dashboard.mount("inside.bottom", texts=_contexts(scale, found.bottom), quiet=True)
    panels = [
        Panel(
            "histogram",
            _("How often each value occurs"),
            partial(charts.histogram, found.counts, found.edges, x=_("value"), y=_("share of characters")),
            _("Two peaks at the ends: a switch. One peak in the middle: gradual changes."),
            _("when they occur: the order of the text is lost."),
            height=250,
            width=3,
        )
    ]
    if found.moves:
        panels.append(
            Panel(
                "moves",
                _("The characters that change the unit most"),
                partial(
                    charts.ranking,
                    [visible(m.character) for m in found.moves],
                    [m.change for m in found.moves],
                    x=_("mean change of the unit when the character is read"),
                ),
                _(
                    "Those with the largest mean step, up or down, come first. Right: the unit rises on "
                    "average, left: it falls; short bars: it does both."
                ),
                _("characters rarer than one in 2,000; and these are means: one place may differ."),
                height=250,
                width=3,
            )
        )
    dashboard.mount("inside.scanned", panels=panels, quiet=True)


def _contexts(scale: Scale, found: Sequence[Context]) -> list[Text]:
    return [
        Text(
            one.text,
            scale.levels(one.values),
            palette=scale.kind,
            label=signed(one.value),
            at=one.at,
            linked=False,
        )
        for one in found
    ]

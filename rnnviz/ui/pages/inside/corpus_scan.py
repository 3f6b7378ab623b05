"""A unit over a whole corpus: its highest and lowest places, its histogram, what moves it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from rnnviz.figures import bars
from rnnviz.text.characters import visible
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import dashboard, sources
from rnnviz.ui.pages.inside.common import View, done_on_request
from rnnviz.ui.pages.inside.dashboard import Panel, Text

if TYPE_CHECKING:
    from rnnviz.figures.themes import Scale
    from rnnviz.units import ScanReport, UnitReport
    from rnnviz.units.scanning import Context


def section(view: View, quantity: str, unit: int, source: sources.Source | None) -> None:
    st.subheader(_("Unit {n} over a whole corpus").format(n=unit), anchor=False)
    if source is None:
        st.caption(_("Choose a text above."))
        return
    own = source.kind == sources.OWN
    report: ScanReport | None = done_on_request(
        ("scan", view.mark, view.layer, quantity, source.identity(view)),
        _("Reading the corpus"),
        lambda check: sources.scanning(view, source, quantity),
        "scan",
        label=_("Read the text on this page") if own else _("Read the corpus"),
        icon=":material/menu_book:",
        said=_("Follows all units at once over up to {n} characters; it takes some ten seconds.").format(
            n=f"{sources.SCANNED:,}"
        ),
    )
    if report is not None:
        _show(view.scale(quantity), report[view.layer, unit], report.characters)


def _show(scale: Scale, found: UnitReport, characters: int) -> None:
    st.caption(
        _(
            "{n} characters read: on average {mean}, from {low} to {high}. The frame is the character at "
            "which the unit is at its extreme; the colours are its values on the way there."
        ).format(
            n=f"{characters:,}",
            mean=f"{found.mean:.2f}",
            low=f"{found.lowest:.2f}",
            high=f"{found.highest:.2f}",
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
            _("How often it has which value"),
            partial(bars.histogram, found.counts, found.edges, x=_("value"), y=_("share of characters")),
            _("Two heaps at the ends are a switch; one heap in the middle is a matter of degree."),
            _("when it has them: the order of the text is lost here."),
            height=250,
            width=3,
        )
    ]
    if found.moves:
        panels.append(
            Panel(
                "moves",
                _("The characters that move it most"),
                partial(
                    bars.ranking,
                    [visible(m.character) for m in found.moves],
                    [m.change for m in found.moves],
                    x=_("mean change of the unit when the character is read"),
                ),
                _("A long bar is a character that switches the unit on (right) or off (left)."),
                _("characters rarer than one in 2,000, and that one may do otherwise in another place."),
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
            label=f"{one.value:+.2f}",
            at=one.at,
            linked=False,
        )
        for one in found
    ]

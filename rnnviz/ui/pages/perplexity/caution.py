"""Cautions about a figure: of what text it is, and whether the model knew that text."""

from __future__ import annotations

import streamlit as st

from rnnviz.ui.i18n import _
from rnnviz.ui.pages.perplexity.work import Scored

SHORT = 200  # characters
NOTABLE = 0.02  # share of a text that a model may have met before by chance: idioms, licences


def notes(scored: Scored) -> None:
    """What to know before quoting the number."""
    if scored.report.characters < SHORT:
        st.caption(
            _(
                "With {n} characters this is an anecdote: one odd word more or less moves the number a lot. "
                "From {short} characters on it begins to mean something."
            ).format(n=scored.report.characters, short=SHORT)
        )
    else:
        st.caption(
            _(
                "This is the figure of this text alone. Another passage of the same book has another one, "
                "and this one can't tell how different. So no margin of error is given."
            )
        )
    if scored.report.unsettled:
        st.caption(
            _(
                "**Rounding grows on this text.** Along {n} of its {all} characters the network magnified "
                "rounding errors instead of forgetting them. That may happen where a text is unlike all it "
                "was trained on. Another machine gives single characters there another cost, and may give "
                "the perplexity other last digits. `python -m rnnviz perplexity --precise` computes in "
                "float64."
            ).format(n=f"{scored.report.unsettled:,}", all=f"{scored.report.characters:,}")
        )
    overlap = scored.trained_on
    if overlap is not None and overlap.share - 2 * overlap.error >= NOTABLE:
        st.warning(
            _(
                "**About {share} of this text was in what the model was trained on.** It has seen these "
                "passages before, so the number says how well it remembers, not how well it predicts."
            ).format(share=f"{100 * overlap.share:.0f} %"),
            icon=":material/history_edu:",
        )

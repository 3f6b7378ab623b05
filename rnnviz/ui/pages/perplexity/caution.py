"""Cautions about a figure: of what text it is, and whether the model knew that text."""

from __future__ import annotations

import streamlit as st

from rnnviz.reports.interval import SHORTEST, Interval
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.words import rounded

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
        st.caption(beside(scored.interval))
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


def beside(interval: Interval) -> str:
    """What this figure tells of as many characters again, in a sentence or two."""
    if interval.low is not None and interval.high is not None:
        return _(
            "**The next {n} characters of the same text: {low} to {high}**, to judge by how far its own "
            "passages lie apart. That is to hold 95 times in 100; measured, it held 96 to 100 times in a "
            "novel and plays, 74 to 100 in manuals and programs. It says nothing of other texts."
        ).format(n=f"{interval.characters:,}", low=rounded(interval.low), high=rounded(interval.high))
    if interval.reason == "drifts" and interval.halves is not None:
        first, second = map(rounded, interval.halves)
        return _(
            "Its first half comes to {first}, its second to {second}: further apart than the passages within "
            "them would make one expect. This text drifts, so it can't tell what the next passage costs, and "
            "no range is given."
        ).format(first=first, second=second)
    if interval.reason == "uneven":
        return _(
            "The passages of this text differ so much that the next one could come to anything. So no range "
            "is given."
        )
    return _(
        "This is the figure of this text alone. The next passage has another one; from {shortest} characters "
        "on, the page says within what range."
    ).format(shortest=f"{SHORTEST:,}")

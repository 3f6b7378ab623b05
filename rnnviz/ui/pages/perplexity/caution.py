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
                "was trained on. On another machine, single characters there may cost something else, and "
                "the last digits of the perplexity may differ. `python -m rnnviz perplexity --precise` "
                "computes in float64."
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
            "**The next {n} characters of the same text: perplexity {low} to {high}**, judging by how much "
            "its passages differ. The range should hold 95 times in 100. Measured on texts new to the model, "
            "it held 96 to 100 times in a novel and plays, but 74 to 100 in manuals and programs. It says "
            "nothing about other texts."
        ).format(n=f"{interval.characters:,}", low=rounded(interval.low), high=rounded(interval.high))
    if interval.reason == "drifts" and interval.halves is not None:
        first, second = map(rounded, interval.halves)
        return _(
            "The perplexity of its first half is {first}, of its second half {second}: more of a difference "
            "than its shorter passages lead one to expect. This text drifts, so it doesn't show what comes "
            "next, and no range is given."
        ).format(first=first, second=second)
    if interval.reason == "uneven":
        return _(
            "The passages of this text differ so much that the next one could have almost any perplexity, so "
            "no range is given."
        )
    return _(
        "This is the perplexity of this text alone; its next passage will have another. From {shortest} "
        "characters on, the page gives a range for it."
    ).format(shortest=f"{SHORTEST:,}")

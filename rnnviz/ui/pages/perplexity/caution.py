"""Cautions about a figure: how far chance moves it, and whether the model knew the text."""

from __future__ import annotations

import streamlit as st

from rnnviz.ui.i18n import _
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.words import rounded

SHORT = 200  # characters
NOTABLE = 0.02  # share of a text that a model may have met before by chance: idioms, licences


def notes(scored: Scored) -> None:
    """What to know before quoting the number."""
    lines = []
    interval = scored.interval
    if interval.low is not None and interval.high is not None:
        lines.append(
            _(
                "**{low} to {high}** is where it would lie 95 times in 100 if the text were put together "
                "anew from its own {blocks}: the longer and more even the text, the narrower."
            ).format(
                low=rounded(interval.low),
                high=rounded(interval.high),
                blocks=_("lines") if "line" in interval.block_kind else _("stretches"),
            )
        )
    elif scored.report.characters >= SHORT:
        lines.append(
            _(
                "**How far chance moves this number can't be said:** one stretch of the text is unlike all "
                "others, and from a single one nobody knows how many another such text would have."
            )
        )
    if scored.report.characters < SHORT:
        lines.append(
            _(
                "With {n} characters this is an anecdote: one odd word more or less moves the number a lot. "
                "From {short} characters on it begins to mean something."
            ).format(n=scored.report.characters, short=SHORT)
        )
    for line in lines:
        st.caption(line)
    overlap = scored.trained_on
    if overlap is not None and overlap.share - 2 * overlap.error >= NOTABLE:
        st.warning(
            _(
                "**About {share} of this text was in what the model was trained on.** It has seen these "
                "passages before, so the number says how well it remembers, not how well it predicts."
            ).format(share=f"{100 * overlap.share:.0f} %"),
            icon=":material/history_edu:",
        )

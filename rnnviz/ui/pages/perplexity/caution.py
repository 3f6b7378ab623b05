"""Cautions about a figure, a line each: how far it goes, and whether the model knew the text."""

import math
from collections.abc import Callable

import streamlit as st

from rnnviz.i18n import _
from rnnviz.reports.interval import SHORTEST, Interval
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.words import percent, rounded

SHORT = 200  # characters
NOTABLE = 0.02  # share of a text that a model may have met before by chance: idioms, licences


def notes(scored: Scored) -> None:
    """What to know before quoting the number, a line each."""
    st.caption(beside(scored.interval))
    overlap = scored.trained_on
    if overlap is not None and overlap.share - 2 * overlap.error >= NOTABLE:
        st.warning(
            _(
                "**About {share} of this text was in the training text.** "
                "So a low number doesn't show how well the model predicts new text."
            ).format(share=percent(overlap.share)),
            icon=":material/history_edu:",
        )
    if scored.report.unsettled:
        st.caption(_("The last digits may differ on another machine; Details say why."))


def beside(interval: Interval) -> str:
    """The range for as many characters again, or why there is none."""
    n = interval.characters
    if n < SHORT:
        return _("Short text ({n} characters): one unusual word changes this number a lot.").format(n=n)
    if interval.low is not None and interval.high is not None:
        return _("As many characters more would probably score between **{low}** and **{high}**.").format(
            low=two_digits(interval.low, math.floor), high=two_digits(interval.high, math.ceil)
        )
    if interval.reason == "drifts" and interval.halves is not None:
        first, second = map(rounded, interval.halves)
        return _(
            "The first half scores {first}, the second {second}: too far apart to say how more of this text "
            "would score."
        ).format(first=first, second=second)
    if interval.reason == "uneven":
        return _("Its passages differ too much to say how more of this text would score.")
    return _("From {shortest} characters on, this line says how more of the same text would score.").format(
        shortest=f"{SHORTEST:,}"
    )


def two_digits(value: float, rounding: Callable[[float], int]) -> str:
    """A perplexity with its first two digits: a range that is rounded outward still holds."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return rounded(rounding(value / step) * step, 1 if value < 10 else 0)


def explained(scored: Scored) -> list[str]:
    """What stands behind the lines of `notes`, a paragraph each."""
    interval, said = scored.interval, []
    if interval.low is not None and interval.high is not None:
        said.append(
            _(
                "**The range**, {low}–{high}, is for the next {n} characters of the same text. "
                "It follows from how much the passages of this text differ. "
                "It should hold 95 times in 100. Tested on new text, it held 96 to 100 times in 100 in a "
                "novel and plays, and 74 to 100 in manuals and programs. It says nothing about other texts."
            ).format(n=f"{interval.characters:,}", low=rounded(interval.low), high=rounded(interval.high))
        )
    elif interval.reason == "drifts":
        said.append(
            _(
                "**No range**: the two halves differ more than the shorter passages suggest. "
                "The text changes along the way, so it doesn't show what comes next."
            )
        )
    elif interval.reason == "uneven":
        said.append(_("**No range**: the next passage could have almost any perplexity."))
    else:
        said.append(
            _("**No range**: this is the perplexity of this text alone. Its next passage will have another.")
        )
    if scored.report.unsettled:
        said.append(
            _(
                "**Rounding grows on this text.** Along {n} of its {all} characters the network magnified "
                "rounding errors. This can happen on text unlike its training text. "
                "Another machine may give other last digits. "
                "`python -m rnnviz perplexity --precise` computes in float64."
            ).format(n=f"{scored.report.unsettled:,}", all=f"{scored.report.characters:,}")
        )
    return said

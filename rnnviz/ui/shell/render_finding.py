"""Findings on a page: sentences as Markdown, pictures as panels, both in the session's language."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from rnnviz import findings, sentences
from rnnviz.figures.pictures import draw
from rnnviz.findings import Finding, Sentence
from rnnviz.i18n import _, language
from rnnviz.page.formatting import spoken, together
from rnnviz.ui.shell.dashboard import DashboardPanel
from rnnviz.ui.shell.error_messages import plain


def finding_markdown(value: object) -> str:
    """A finding's sentence, words or number in the session's language, safe as Markdown."""
    return sentences.describe(value, language(), plain)


def join_sentences(said_sentences: Sequence[Sentence], *levels: str) -> str:
    """The sentences of these levels ("said" by default), joined, safe as Markdown."""
    chosen_levels = levels or ("said",)
    return together(
        finding_markdown(sentence)
        for sentence in said_sentences
        if sentences.level(sentence) in chosen_levels
    )


def show_finding(finding: Finding) -> None:
    """Draw a finding's sentences: the verdict and its grounds, cautions in a box, asides small, details
    folded.
    """
    # Once: sentences are computed from the finding's data at each call.
    finding_sentences = finding.sentences()
    if text := join_sentences(finding_sentences):
        st.markdown(text)
    if text := join_sentences(finding_sentences, "caution"):
        st.warning(text, icon=":material/warning:")
    if text := join_sentences(finding_sentences, "aside", "hint"):
        st.caption(text)
    if text := join_sentences(finding_sentences, "detail"):
        with st.expander(_("Details")):
            st.markdown(text)


def finding_panel(picture_panel: findings.Panel, **layout: Any) -> DashboardPanel:
    """A finding's picture as a panel of a dashboard."""
    return DashboardPanel(
        picture_panel.name,
        spoken(picture_panel.title),
        partial(draw, picture_panel.picture, spoken),
        together(map(spoken, picture_panel.notice)),
        spoken(picture_panel.limits),
        link=picture_panel.link,
        pick=picture_panel.pick,
        picks=picture_panel.picks,
        **layout,
    )

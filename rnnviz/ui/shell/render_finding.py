"""Findings on a page: sentences as Markdown, pictures as panels, both in the session's language."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from rnnviz import sentences
from rnnviz.figures.pictures import draw
from rnnviz.findings import Finding, Sentence
from rnnviz.findings import Panel as Found
from rnnviz.i18n import _, language
from rnnviz.page.formatting import spoken, together
from rnnviz.ui.shell.dashboard import Panel
from rnnviz.ui.shell.error_messages import plain


def tell(value: object) -> str:
    """A finding's sentence, words or number in the session's language, safe as Markdown."""
    return sentences.describe(value, language(), plain)


def told(said: Sequence[Sentence], *levels: str) -> str:
    """The sentences of these levels ("said" by default), joined, safe as Markdown."""
    wanted = levels or ("said",)
    return together(tell(one) for one in said if sentences.level(one) in wanted)


def show(finding: Finding) -> None:
    """Draw a finding's sentences: the verdict and its grounds, cautions in a box, asides small, details
    folded.
    """
    said = finding.sentences()
    if text := told(said):
        st.markdown(text)
    if text := told(said, "caution"):
        st.warning(text, icon=":material/warning:")
    if text := told(said, "aside", "hint"):
        st.caption(text)
    if text := told(said, "detail"):
        with st.expander(_("Details")):
            st.markdown(text)


def panel(found: Found, **layout: Any) -> Panel:
    """A finding's picture as a panel of a dashboard."""
    return Panel(
        found.name,
        spoken(found.title),
        partial(draw, found.picture, spoken),
        together(map(spoken, found.notice)),
        spoken(found.limits),
        link=found.link,
        pick=found.pick,
        picks=found.picks,
        **layout,
    )

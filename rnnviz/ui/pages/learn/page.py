"""The Learn page: a title with its formula, and the component that holds the scene.

The page is one fragment, so that what the lecturer does reruns nothing else.
"""

from __future__ import annotations

from functools import cache
from html import escape
from typing import Any

import streamlit as st

from rnnviz.figures.themes import THEMES
from rnnviz.ui import presenting
from rnnviz.ui.browser.component import Component
from rnnviz.ui.browser.themes import themes
from rnnviz.ui.i18n import _, language
from rnnviz.ui.pages.learn import scenes
from rnnviz.ui.pages.learn.session import Lecture
from rnnviz.ui.trouble import describe

KEY = "learn"
_component = Component("learn")
LEVELS = 41
"""Colours of each scale in the browser."""

_ASK, _LECTURE = "learn.ask", "learn.lecture"


def page() -> None:
    """Draw the page."""
    if _LECTURE not in st.session_state:
        st.session_state[_LECTURE] = Lecture(st.query_params.to_dict())
    _scene()


@st.fragment
def _scene() -> None:
    lecture: Lecture = st.session_state[_LECTURE]
    wish: Any = st.session_state.pop(_ASK, None)
    static = {"titles": scenes.titles(), "words": words(), "language": language(), "themes": colours()}
    data = lecture.answer(wish, static, plainly)
    st.html(f"<style>{_STYLE}{_PRESENT if lecture.present else ''}</style>")
    with st.container(key="learn-page", gap=None):
        with st.container(key="learn-head", horizontal=True, vertical_alignment="center", gap="large"):
            title = escape(scenes.titles()[lecture.number - 1])
            st.html(f"<h1><b>{lecture.number}</b>{title}</h1>", width="content")
            st.latex(lecture.scene.formula(lecture.state), width="content")
        _component.mount(data, key=KEY, on_ask=_take)


def _take() -> None:
    st.session_state[_ASK] = _component.asked(KEY)


def words() -> dict[str, str]:
    """The words around every scene, by the browser modules' names; the browser fills in the braces."""
    return {
        "scenes": _("Scenes"),
        "notice": _("Notice"),
        "step": _("Step {n} of {count}"),
        "next": _("Next step (Space)"),
        "back": _("Step back (↑)"),
        "scene.next": _("Next scene (→)"),
        "scene.back": _("Previous scene (←)"),
        **presenting.words(),
        "late": _("The answer takes longer than usual …"),
        "edit": _("row {i}, column {j}: {value}; press Enter to change it"),
    }


def plainly(error: Exception) -> str:
    """An error as plain text: the component shows no Markdown."""
    return describe(error).replace("\\", "")


@cache
def colours() -> dict[str, Any]:
    """Both themes as the browser's kit reads them."""
    found = themes(diverging=LEVELS, sequential=LEVELS, surprisal=LEVELS)
    for name, theme in THEMES.items():
        kinds = ("mlp", theme.uniform), ("ngram", theme.ngram), ("rnn", theme.model), ("gru", theme.pinned)
        found[name]["cells"] = {**dict(kinds), "lstm": theme.text}
    return found


# One screen: a head of fixed height, and the component takes the rest.
_STYLE = """
[data-testid="stMainBlockContainer"] { padding: 0.4rem 1.5rem 0; max-width: none; }
[data-testid="stHeader"] { background: transparent; pointer-events: none; height: 2.4rem; min-height: 0; }
[data-testid="stHeader"] button { pointer-events: auto; }
[data-testid="stMain"] { overflow: hidden; }
.st-key-learn-head { height: 3.6rem; padding-right: 2.4rem; flex-wrap: nowrap; }
.st-key-learn-head { justify-content: space-between; }
.st-key-learn-head h1 { margin: 0; padding: 0; font-size: 1.55rem; font-weight: 650; white-space: nowrap; }
.st-key-learn-head h1 b { margin-right: 0.55em; color: light-dark(#0b6a88, #5cc0de); }
.st-key-learn-head div:has(.katex), .st-key-learn-head .katex-display { overflow: visible !important; }
.st-key-learn-head .katex-display { margin: 0; position: relative; top: -0.25rem; }
.st-key-learn-head .katex { font-size: 1.3rem; white-space: nowrap; }
body:has([data-testid="stExpandSidebarButton"]) .st-key-learn-head { padding-left: 4.4rem; }
@media (max-width: 700px) {
  .st-key-learn-head { height: auto; min-height: 3.6rem; flex-wrap: wrap; gap: 0 1rem;
    padding-bottom: 0.9rem; }
  .st-key-learn-head h1 { font-size: 1.2rem; white-space: normal; }
  .st-key-learn-head .katex { font-size: 0.85rem; }
  .st-key-learn-head .katex-display { top: 0; padding: 0.3rem 0; }
}
"""
_PRESENT = """
[data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stExpandSidebarButton"] { display: none; }
[data-testid="stMainBlockContainer"] { padding: 0.4rem 1.5rem 0; }
body .st-key-learn-head.st-key-learn-head { height: 4.6rem; padding: 0; }
.st-key-learn-head h1 { font-size: clamp(1.9rem, 2.6vw, 3.2rem); }
.st-key-learn-head .katex { font-size: clamp(1.6rem, 2.1vw, 2.8rem); }
"""

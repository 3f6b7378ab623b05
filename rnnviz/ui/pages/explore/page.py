"""The Explore page: type, and look inside the network while it reads. A keystroke reruns one fragment with
one component: the callback takes the browser's ask, the session's LiveSession answers in bytes.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from rnnviz.ui.browser.component import Component
from rnnviz.ui.context import Context
from rnnviz.ui.i18n import language
from rnnviz.ui.pages.explore.fixed import fixed, opening
from rnnviz.ui.pages.explore.session import Ask, LiveSession

KEY = "live"
TEMPERATURE = 1.0  # at first, the bars are the network's own
_component = Component("live")
_ASK, _SESSION, _OFFERED = "explore.ask", "explore.session", "explore.offered"


def page(context: Context) -> None:
    st.html(f"<style>{_STYLE}</style>")
    _live(context)


@st.fragment
def _live(context: Context) -> None:
    state = st.session_state
    session = state.get(_SESSION)
    if session is None or session.model is not context.model or session.yardstick is not context.yardstick:
        first = opening(context.model)
        text, (offer, offered) = session.text if session else None, state.get(_OFFERED, (0, None))
        if text is None or (text == offered and first != offered):  # nobody has written anything yet
            text, offer = first, offer + 1
            state[_OFFERED] = (offer, first)
        session = state[_SESSION] = LiveSession(context.network, context.yardstick)
        session.text = text
    static, digest = _static(context, session)
    # Without an ask this is a full run of the page: send everything, the text too.
    ask: Ask = state.pop(_ASK, None) or Ask(fresh=True)
    extra: dict[str, object] = {}
    if ask.fresh:
        ask = Ask(client=ask.client, seq=ask.seq, text=session.text)
        extra = {"text": session.text, "offer": state[_OFFERED][0]}
    data = session.answer(ask, static, digest, temperature=TEMPERATURE, **extra)
    _component.mount(data, key=KEY, on_ask=_take)


def _take() -> None:
    st.session_state[_ASK] = Ask.from_json(_component.asked(KEY))


def _static(context: Context, session: LiveSession) -> tuple[dict[str, Any], str]:
    """What the browser needs once: words, colours, symbols, axes; and its digest."""
    mark = (session, language())
    kept = st.session_state.get("explore.static")
    if kept is None or kept[0] != mark:
        kept = (mark, *fixed(context.network, context.yardstick, TEMPERATURE))
        st.session_state["explore.static"] = kept
    return kept[1], kept[2]


# The view fills the page, to fit a projector; its first line stands between the buttons of Streamlit's bar.
_STYLE = """
[data-testid="stMainBlockContainer"] { padding: 0.5rem 1.5rem 0.25rem; }
[data-testid="stHeader"] { background: transparent; pointer-events: none; height: 2.4rem; min-height: 0; }
[data-testid="stHeader"] button { pointer-events: auto; }
body { --rv-indent: 0px; }
body:has([data-testid="stExpandSidebarButton"]) { --rv-indent: 2.2rem; }
"""

"""What stands where on the page Inside: the text, and the six ways of looking at it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import streamlit as st

from rnnviz.ui import address, examples
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside.common import LONGEST, look
from rnnviz.ui.trouble import show

if TYPE_CHECKING:
    from rnnviz.ui.context import Context

PARTS = ("units", "map", "gates", "memory", "cause", "compare")
_OFFERED, _TEXT = "inside.offered", "inside.text"


def parts() -> dict[str, str]:
    """The names of the sub-pages."""
    return {
        "units": _("Find the units"),
        "map": _("Map"),
        "gates": _("Gates"),
        "memory": _("Connectivity"),
        "cause": _("Cause"),
        "compare": _("Compare"),
    }


def page(context: Context) -> None:
    """Draw the page."""
    st.html(f"<style>{_STYLE}</style>")
    st.title(_("Inside the network"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = parts()
        address.adopt("part", PARTS, PARTS[0])
        part = st.segmented_control(
            _("What to look at"),
            PARTS,
            required=True,
            key="part",
            persist_state="session",
            on_change=address.keep,
            args=("part",),
            format_func=names.__getitem__,
            label_visibility="collapsed",
        )
        text = _text(context)
        layer = _layer(context)
    if not text.strip():
        st.info(_("There is no text to look at: write one under **Text**."), icon=":material/edit:")
        return
    seen = look(context, text, layer)
    try:
        importlib.import_module(f"rnnviz.ui.pages.inside.{part or PARTS[0]}").section(seen)
    except Exception as error:
        show(error)


def _text(context: Context) -> str:
    """The text that is looked at: the model's own example, until somebody writes another."""
    state = st.session_state
    opening = examples.example(context.model.card)[:LONGEST]
    kept = state.get("inside.kept-text", "")
    if not kept or (kept == state.get(_OFFERED) and kept != opening):  # nobody has written anything yet
        kept = state[_OFFERED] = opening
        state[_TEXT] = opening
    elif _TEXT not in state:
        state[_TEXT] = kept
    with st.popover(_("Text"), icon=":material/edit:"):
        text = st.text_area(
            _("The text that all of this page looks at, at most {n} characters").format(n=f"{LONGEST:,}"),
            key=_TEXT,
            height=280,
            width=640,
            max_chars=LONGEST,
        )
        st.button(_("The example again"), on_click=_example, args=(opening,), icon=":material/replay:")
    state["inside.kept-text"] = text
    return text


def _example(opening: str) -> None:
    st.session_state[_TEXT] = st.session_state[_OFFERED] = opening


def _layer(context: Context) -> int:
    layers = int(context.network.config.layers)
    if layers < 2:
        return 0
    return st.selectbox(
        _("Layer"),
        range(layers),
        key=f"inside.layer.{layers}",
        persist_state="session",
        format_func=lambda n: _("layer {n}").format(n=n + 1),
        width=140,
    )


_STYLE = """
[data-testid="stMainBlockContainer"] { padding: 1.2rem 2.2rem 3rem; max-width: 92rem; }
[data-testid="stHeader"] { background: transparent; pointer-events: none; }
[data-testid="stHeader"] button { pointer-events: auto; }
"""

"""The layout of the Inside page: the text, and one of its four parts."""

import importlib
from dataclasses import dataclass

import streamlit as st

from rnnviz.i18n import N_, _
from rnnviz.lab.pages.inside.view import LAYER, LONGEST, TEXT, view
from rnnviz.networks import model_card
from rnnviz.ui.jobs.pending import working
from rnnviz.ui.shell import example_text, sidebar
from rnnviz.ui.shell.error_messages import show_error
from rnnviz.ui.shell.fields import Field
from rnnviz.ui.shell.model_cache import ModelContext

PART = Field("part", "units", address="part", title=N_("What to look at"), check=str.lower)


@dataclass(frozen=True)
class Look:
    """A part of the page: its name, its question, and a sentence on where to look and what to do next."""

    name: str
    question: str
    next: str


def looks() -> dict[str, Look]:
    """The parts by their names in the address; each is a module of that name with a `section`."""
    return {
        "units": Look(
            _("Units"),
            _("What does a single unit tell?"),
            _(
                "The colours are one number of the network at each character. Choose another unit, or look "
                "below for one that follows something."
            ),
        ),
        "memory": Look(
            _("Memory"),
            _("What does it still know of earlier characters?"),
            _(
                "The stronger a character's colour, the more the prediction in view rests on it. Click "
                "another one to see what its prediction rests on."
            ),
        ),
        "match": Look(
            _("Match"),
            _("Where else are the same units on?"),
            _("Drag over a passage: the units that are on throughout are looked for elsewhere."),
        ),
        "cause": Look(
            _("Cause"),
            _("What happens if I change it?"),
            _(
                "Change units, a letter or a whole state, and see which predictions move. Random changes of "
                "the same size stand beside it."
            ),
        ),
    }


def page(context: ModelContext) -> None:
    st.html(f"<style>{_STYLE}{sidebar.HEADER_CSS}</style>")
    st.title(_("Inside the network"))
    parts = looks()
    names = {key: look.name for key, look in parts.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        part = PART.choose(_("What to look at"), names, label_visibility="collapsed")
        text = _text(context)
        layer = _layer(context)
    st.markdown(f"**{parts[part].question}** {parts[part].next}")
    if not text.strip():
        st.info(_("There is no text to look at: write one under **Text**."), icon=":material/edit:")
        return
    with working("inside"):
        try:
            importlib.import_module(f"rnnviz.lab.pages.inside.{part}").section(view(context, text, layer))
        except Exception as error:
            show_error(error)


def _text(context: ModelContext) -> str:
    text = TEXT.resolve(usual=example_text.example(context.model.card)[:LONGEST])
    with st.popover(_("Text"), icon=":material/edit:"):
        st.text_area(
            _("The text that all of this page looks at, at most {n} characters").format(n=f"{LONGEST:,}"),
            height=280,
            width=640,
            max_chars=LONGEST,
            **TEXT.widget,
        )
        st.button(_("The example again"), on_click=TEXT.request, args=(None,), icon=":material/replay:")
    return text


def _layer(context: ModelContext) -> int:
    layers = int(context.network.config.layers)
    known = max(model_card.remembering(context.info.card), key=lambda one: one.lead, default=None)
    offered = {n: _("layer {n}").format(n=n) for n in range(layers)}
    usual = known.layer if known else 0
    if layers == 1:
        return LAYER.resolve(offered)
    return LAYER.choose(_("Layer"), offered, usual, draw=st.selectbox, width=140)


_STYLE = """
[data-testid="stMainBlockContainer"] { padding: 1.2rem 2.2rem 3rem; max-width: 92rem; }
[data-testid="stHeader"] { background: transparent; pointer-events: none; }
[data-testid="stHeader"] button { pointer-events: auto; }
"""

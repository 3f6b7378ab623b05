"""The layout of the Inside page: the text, and one of its four parts."""

import streamlit as st

from rnnviz.i18n import N_, _
from rnnviz.lab.pages.inside.cause import CausePart
from rnnviz.lab.pages.inside.match import MatchPart
from rnnviz.lab.pages.inside.memory import MemoryPart
from rnnviz.lab.pages.inside.page_view import LAYER, MAX_TEXT_CHARS, TEXT, PagePart, page_view
from rnnviz.lab.pages.inside.units import UnitsPart
from rnnviz.networks import model_card
from rnnviz.ui.jobs.pending import working
from rnnviz.ui.shell import example_text, sidebar
from rnnviz.ui.shell.error_messages import show_error
from rnnviz.ui.shell.fields import Field
from rnnviz.ui.shell.model_cache import ModelContext

PART = Field("part", "units", address="part", title=N_("What to look at"), parse=str.lower)
PARTS: dict[str, type[PagePart]] = {part.key: part for part in (UnitsPart, MemoryPart, MatchPart, CausePart)}


def page(context: ModelContext) -> None:
    st.html(f"<style>{_STYLE}{sidebar.HEADER_CSS}</style>")
    st.title(_("Inside the network"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        labels = {key: _(part.label) for key, part in PARTS.items()}
        part = PARTS[PART.choose(_("What to look at"), labels, label_visibility="collapsed")]
        text = _render_text(context)
        layer = _render_layer(context)
    question, hint = _(part.question), _(part.hint)
    st.markdown(f"**{question}** {hint}")
    if not text.strip():
        st.info(_("There is no text to look at: write one under **Text**."), icon=":material/edit:")
        return
    # All parts ask for their jobs in this context: those of the part that was left are dropped at its end.
    with working("inside"):
        try:
            part(page_view(context, text, layer)).render()
        # Streamlit's own st.rerun and st.stop pass: they derive from BaseException.
        except Exception as error:
            show_error(error)


def _render_text(context: ModelContext) -> str:
    """Draw the field of the text, folded; return the text."""
    text = TEXT.resolve(usual=example_text.example(context.model.card)[:MAX_TEXT_CHARS])
    with st.popover(_("Text"), icon=":material/edit:"):
        st.text_area(
            _("The text for all of this page, at most {n} characters").format(n=f"{MAX_TEXT_CHARS:,}"),
            height=280,
            width=640,
            max_chars=MAX_TEXT_CHARS,
            **TEXT.widget,
        )
        st.button(_("The example again"), on_click=TEXT.request, args=(None,), icon=":material/replay:")
    return text


def _render_layer(context: ModelContext) -> int:
    """Draw the choice of a layer, if there are several: at first the one of the card's clearest finding."""
    # A layer in the address, or chosen before, wins over the card's.
    layers = int(context.network.config.layers)
    clearest = max(model_card.remembering(context.info.card), key=lambda finding: finding.lead, default=None)
    offered = {n: _("layer {n}").format(n=n) for n in range(layers)}
    usual = clearest.layer if clearest else 0
    if layers == 1:
        return LAYER.resolve(offered)
    return LAYER.choose(_("Layer"), offered, usual, draw=st.selectbox, width=140)


# Streamlit's header lies over the page's first line: clicks go through it, except on its buttons.
_STYLE = """
[data-testid="stMainBlockContainer"] { padding: 1.2rem 2.2rem 3rem; max-width: 92rem; }
[data-testid="stHeader"] { background: transparent; pointer-events: none; }
[data-testid="stHeader"] button { pointer-events: auto; }
"""

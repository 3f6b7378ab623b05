"""A text that is foreign to the chosen model: why, and another model that reads it better, a click away."""

import streamlit as st

from rnnviz.i18n import _
from rnnviz.reading.scoring import Report
from rnnviz.reports.contamination import why
from rnnviz.ui import better, model_cache, sidebar
from rnnviz.ui.context import Context
from rnnviz.ui.jobs.worker import OVER, Job
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.trouble import plain
from rnnviz.ui.words import title, titles

PATIENCE = 0.3  # seconds that the page waits for the other models; they read a few lines


def offer(context: Context, text: Text, report: Report) -> None:
    """Offer the network that reads a foreign text better; nothing where there is none."""
    bits = report.bits_per_character
    foreign = why(context.info.card, report.characters, report.unknown, bits)
    if not foreign or context.info.kind == "ngram":
        return
    job = better.glance(context.info, beginning(text, report), PATIENCE)
    if job.state not in OVER:
        _watch(job)
    found = job.result
    if found is None or found.name is None:
        return
    names = titles(model_cache.listed()[0])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_("{model} hasn't learnt this kind of text.").format(model=plain(title(context.info))))
        st.button(
            _("Use {name}?").format(name=plain(names.get(found.name, found.name))),
            key="perplexity.better",
            on_click=st.session_state.__setitem__,
            args=(sidebar.WANTED, found.name),
        )


@st.fragment(run_every=1.0)
def _watch(job: Job) -> None:
    """Draw the page anew when the others have read the text."""
    if job.state in OVER:
        st.rerun()


def beginning(text: Text, report: Report) -> str:
    """The first characters; of a file, in the encoding that was found."""
    if text.data is None:
        return (text.text or "")[: better.READ]
    try:
        return text.data[: 4 * better.READ].decode(report.encoding or "utf-8", "ignore")[: better.READ]
    except LookupError:
        return ""

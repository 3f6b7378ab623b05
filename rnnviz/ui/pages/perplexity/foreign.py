"""Which model reads a text best, where that matters: the page leads with it, and with one button."""

import streamlit as st

from rnnviz.i18n import _
from rnnviz.reading.scoring import Report
from rnnviz.reports.contamination import why
from rnnviz.ui import better, model_cache, sidebar
from rnnviz.ui.context import Context
from rnnviz.ui.jobs.worker import OVER, Job
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.trouble import plain
from rnnviz.ui.words import title, titles, together

PATIENCE = 0.3  # seconds that the page waits for the other models, where a text is foreign to the chosen one


def lead(context: Context, text: Text, report: Report) -> None:
    """That a text is foreign to the chosen model, and the network that reads it much better; else nothing."""
    foreign = why(context.info.card, report.characters, report.unknown, report.bits_per_character)
    job = better.glance(context.info, beginning(text, report), PATIENCE if foreign else 0.0)
    if job.state not in OVER:
        _watch(job)
    found, said = job.result, []
    if foreign:
        said.append(
            _("**{model} hasn't learnt this kind of text.**").format(model=plain(title(context.info)))
        )
    if found is None or found.name is None:
        if foreign and found is not None:
            said.append(_("No other model here reads it better."))
        st.markdown(together(said))
        return
    name = plain(titles(model_cache.listed()[0]).get(found.name, found.name))
    said.append(
        _("**{name}** reads its beginning best: {bits} bits per character, not {own}.").format(
            name=name, bits=f"{found.bits:.2f}", own=f"{found.own:.2f}"
        )
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(together(said))
        st.button(
            _("Use {name}?").format(name=name),
            key="perplexity.better",
            type="primary" if foreign else "secondary",
            on_click=st.session_state.__setitem__,
            args=(sidebar.WANTED, found.name),
        )


@st.fragment(run_every=0.5)
def _watch(job: Job) -> None:
    """Draw the page anew when the others have read the text, if that tells anything."""
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

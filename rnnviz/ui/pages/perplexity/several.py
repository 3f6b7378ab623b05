"""Several texts: one table, their averages, and one click to each."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from rnnviz.i18n import _
from rnnviz.reading.scoring import Report
from rnnviz.reports.interval import averages
from rnnviz.reports.score import averaged
from rnnviz.ui.findings import tell
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.words import rounded

CLOSER = "closer"  # the number of the text that is looked at
TABLE = "texts"


def show(done: Sequence[tuple[Text, Scored]], *, all_known: bool) -> tuple[Text, Scored]:
    """All texts in a table, sortable by its column heads, and the averages. Returns the one to look at."""
    reports = [scored.report for _text, scored in done]
    table(reports)
    if all_known:
        summary(reports)
    else:
        st.caption(_("The averages follow when all texts are scored."))
    index = st.selectbox(
        _("Text shown below"),
        range(len(done)),
        key=CLOSER,
        width=420,
        format_func=lambda i: done[i][0].name if i < len(done) else "",
    )
    return done[min(index or 0, len(done) - 1)]


def table(reports: Sequence[Report]) -> None:
    """A row for each text; a click on it shows that text below."""

    def go() -> None:
        cells = st.session_state[TABLE].selection.cells
        if cells and cells[0][0] < len(reports):
            st.session_state[CLOSER] = cells[0][0]

    column = st.column_config
    most = max(r.bits_per_character for r in reports)
    st.caption(_("Click a row to see that text below, or a column head to sort."))
    figures = pd.DataFrame(
        {
            _("Text"): [r.file for r in reports],
            _("Perplexity"): [r.perplexity for r in reports],
            _("Bits per character"): [r.bits_per_character for r in reports],
            _("Unknown"): [r.unknown / r.characters for r in reports],
            _("Characters"): [r.characters for r in reports],
        }
    )
    st.dataframe(
        figures.style.format({_("Perplexity"): rounded}),  # sorted as numbers, written as in the answer
        hide_index=True,
        width="stretch",
        key=TABLE,
        alt=_("The texts with their perplexity; {name} has the lowest.").format(
            name=min(reports, key=lambda r: r.perplexity).file
        ),
        on_select=go,
        selection_mode="single-cell",
        column_config={
            _("Text"): column.TextColumn(width="medium"),
            _("Bits per character"): column.ProgressColumn(format="%.2f", min_value=0.0, max_value=most),
            _("Unknown"): column.NumberColumn(format="percent"),
            _("Characters"): column.NumberColumn(format="localized"),
        },
    )


def summary(reports: Sequence[Report]) -> None:
    """Both averages, and how they count."""
    found = averages(reports)
    st.markdown(
        tell(averaged(found)),
        help=_(
            "Micro: all {texts} texts as one, so that long texts count more. "
            "Macro: the geometric mean of their perplexities, so that every text counts the same."
        ).format(texts=found.texts),
    )

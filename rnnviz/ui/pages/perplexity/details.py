"""Details of the answer: other figures, unknown characters, the range, the encoding, how it was read."""

import streamlit as st

from rnnviz import telling
from rnnviz.i18n import _
from rnnviz.reading.scoring import Report
from rnnviz.text.characters import visible
from rnnviz.ui.findings import tell
from rnnviz.ui.pages.perplexity import encodings
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.words import named, percent, rounded


def show(text: Text, scored: Scored) -> None:
    """Closed at first, but where the encoding is a guess, which the reader should check."""
    report = scored.report
    doubtful = report.certainty == "guessed" or text.encoding is not None
    with st.expander(_("Details"), expanded=doubtful, icon=":material/info:"):
        columns = st.columns(5)
        for column, (label, value, about) in zip(columns, figures(report), strict=True):
            column.markdown(f":small[:gray[{label}]]  \n**{value}**", help=about)
        if report.unknown:
            with columns[3], st.popover(_("Show them"), type="tertiary"):
                unknown(scored)
        for one in scored.sentences():
            if telling.level(one) == "detail":
                st.caption(tell(one))
        if report.encoding is not None:
            encodings.control(text, report.encoding, report.certainty)


def figures(report: Report) -> list[tuple[str, str, str]]:
    """Name, value and explanation of the figures beside the perplexity."""
    known = report.perplexity_known
    return [
        (
            _("Bits per character"),
            f"{report.bits_per_character:.3f}",
            _("The base-2 logarithm of the perplexity."),
        ),
        (
            _("Bits per byte"),
            f"{report.bits_per_byte:.3f}",
            _("The same per byte of the text in UTF-8. Stored as it is, a byte takes 8 bits."),
        ),
        (
            _("Characters"),
            f"{report.characters:,}",
            _("Every character counts, the first one, spaces and line breaks too."),
        ),
        (
            _("Unknown characters"),
            f"{report.unknown:,}"
            + (f" ({percent(report.unknown / report.characters)})" if report.unknown else ""),
            _("Characters outside the model's vocabulary. Each costs extra, to say which character it is."),
        ),
        (
            _("Perplexity without unknown"),
            "–" if known is None else rounded(known) if report.unknown else _("the same"),
            _("The perplexity over the known characters alone."),
        ),
    ]


def unknown(scored: Scored) -> None:
    """The characters outside the vocabulary, with counts and code points."""
    st.dataframe(
        {
            _("Character"): [visible(c) for c, _n in scored.unknown],
            _("Count"): [n for _c, n in scored.unknown],
            _("Code point"): [f"U+{ord(c):04X}" for c, _n in scored.unknown],
            _("Name"): [named(c) for c, _n in scored.unknown],
        },
        hide_index=True,
        key="unknown",
    )
    if scored.kinds_unknown > len(scored.unknown):
        st.caption(
            _("The {shown} most frequent of {all} different ones.").format(
                shown=f"{len(scored.unknown):,}", all=f"{scored.kinds_unknown:,}"
            )
        )

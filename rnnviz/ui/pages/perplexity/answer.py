"""The answer: the perplexity of one text, on a scale, with a sentence; the rest is in its details."""

from collections.abc import Hashable

import streamlit as st

from rnnviz import telling
from rnnviz.i18n import _
from rnnviz.reading.scoring import Report
from rnnviz.ui.context import Context
from rnnviz.ui.findings import tell
from rnnviz.ui.jobs import progress
from rnnviz.ui.jobs.worker import Jobs
from rnnviz.ui.pages.perplexity import details, foreign, scale
from rnnviz.ui.pages.perplexity.second import Second
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.pages.perplexity.texts import STOPPED
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.trouble import plain
from rnnviz.ui.words import percent, rounded

SAME = 0.005  # share of bits by which two models may differ and still be called alike


def show(context: Context, jobs: Jobs, text: Text, scored: Scored, second: Second | None) -> None:
    report = scored.report
    with st.container(border=True, key="answer"):
        if text.most is not None:
            cut(text)
        foreign.lead(context, text, report)
        number = rounded(report.perplexity)
        st.html(f"<style>{scale.STYLE}{_STYLE % (3.4 if len(number) < 8 else 2.2)}</style>")
        large, rest = st.columns([3, 8], vertical_alignment="top", gap="medium")
        with large:
            st.metric(
                _("Perplexity of {name}").format(name=plain(report.file)),
                number,
                help=_("exp of the average surprise per character. Every character counts."),
            )
            if second is not None and second.scored is not None:
                other = rounded(second.scored.report.perplexity)
                st.markdown(
                    _("**{perplexity}** with {model}").format(perplexity=other, model=plain(second.name))
                )
        with rest:
            levels = [(one, telling.level(one)) for one in scored.sentences()]
            st.markdown("  \n".join(tell(one) for one, level in levels if level == "said"))
            st.html(
                scale.html(
                    report.perplexity,
                    context.model.vocabulary.size,  # as everywhere; what is unknown is said beside it
                    scale.usual(context.info.card),
                    (second.name, second.scored.report.perplexity) if second and second.scored else None,
                )
            )
            if second is not None:
                beside(jobs, report, second)
            for one, level in levels:  # what to know before quoting the number, a line each
                if level in ("aside", "hint"):
                    st.caption(tell(one))
                if level == "caution":
                    st.warning(tell(one), icon=":material/history_edu:")
        details.show(text, scored)


def cut(text: Text) -> None:
    """That a text was read in part, and a button that reads it all."""

    def whole(identity: Hashable) -> None:
        st.session_state[STOPPED].pop(identity)

    with st.container(horizontal=True, vertical_alignment="center"):
        said = _("These are its first {n} characters, where you stopped.").format(n=f"{text.most:,}")
        st.markdown(said)
        st.button(_("Read all of it"), key="whole", on_click=whole, args=(text.identity,))


def beside(jobs: Jobs, report: Report, second: Second) -> None:
    """How the second model did, in a sentence, or how far it is."""
    if second.scored is None:
        if second.job is not None:
            progress.without_result(jobs, second.job, "second")
        return
    theirs = second.scored.report.bits_per_character
    more = theirs / report.bits_per_character - 1 if report.bits_per_character else 0.0
    if abs(more) < SAME:
        line = _("**{model}** needs about as many bits per character.")
    elif more > 0:
        line = _("**{model}** needs {share} more bits per character.")
    else:
        line = _("**{model}** needs {share} fewer bits per character.")
    st.markdown(line.format(model=plain(second.name), share=percent(abs(more))))


_STYLE = """
.st-key-answer [data-testid="stMetricValue"] { font-size: %srem; line-height: 1.15; font-weight: 650; }
.st-key-answer [data-testid="stMetricValue"] * { white-space: normal; overflow: visible; }
.st-key-answer [data-testid="stExpander"] { margin-top: 0.5rem; }
"""

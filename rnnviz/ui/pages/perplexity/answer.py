"""The answer: the perplexity of one text, on a scale, with a sentence; the rest is in its details."""

import streamlit as st

from rnnviz.i18n import _
from rnnviz.reading.scoring import Report
from rnnviz.ui.context import Context
from rnnviz.ui.jobs import progress
from rnnviz.ui.jobs.worker import Jobs
from rnnviz.ui.pages.perplexity import caution, details, foreign, scale
from rnnviz.ui.pages.perplexity.second import Second
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.trouble import plain
from rnnviz.ui.words import choices, percent, rounded

MANY = 0.1  # share of unknown characters from which on the sentence speaks of them alone
MATTERS = 1.01  # times the perplexity of the known characters, from which on unknown ones are mentioned
SAME = 0.005  # share of bits by which two models may differ and still be called alike


def show(context: Context, jobs: Jobs, text: Text, scored: Scored, second: Second | None) -> None:
    report = scored.report
    with st.container(border=True, key="answer"):
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
            st.markdown("  \n".join(meaning(context, report)))
            st.html(
                scale.html(
                    report.perplexity,
                    scale.uniform(context.model.vocabulary, report),
                    scale.usual(context.info.card),
                    (second.name, second.scored.report.perplexity) if second and second.scored else None,
                )
            )
            if second is not None:
                beside(jobs, report, second)
            caution.notes(scored)
            foreign.offer(context, text, report)
        details.show(text, scored)


def meaning(context: Context, report: Report) -> list[str]:
    """What the perplexity says: a sentence, and one more where unknown characters matter."""
    said = []
    share = report.unknown / report.characters
    known = report.perplexity_known
    if known is None or report.perplexity > MATTERS * known:
        line = _("**{share} of its characters are unknown to this model.**").format(share=percent(share))
        if known is None:
            line += " " + _("Choose a model that knows them.")
        else:
            line += " " + _("On the others its perplexity is **{perplexity}**.").format(
                perplexity=rounded(known)
            )
        said.append(line)
    if share < MANY:
        line = _("On average the model hesitated between about **{n}** characters each time.")
        said.insert(0, line.format(n=choices(report.perplexity)))
    if report.perplexity > scale.uniform(context.model.vocabulary, report):
        said.append(_("A uniform guess would have done better than this model."))
    return said


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

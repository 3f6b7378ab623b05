"""The layout of the Perplexity page."""

from collections.abc import Sequence
from dataclasses import replace
from textwrap import shorten
from threading import Event

import streamlit as st

from rnnviz.i18n import N_, _
from rnnviz.page.formatting import title
from rnnviz.text.row_files import is_packed_rows
from rnnviz.ui.jobs import clear_data, pending
from rnnviz.ui.jobs.pending import Pending, request, working
from rnnviz.ui.jobs.worker import Jobs, of_session
from rnnviz.ui.pages.perplexity import (
    answer,
    download,
    model_comparison,
    scoring_jobs,
    surprise,
    text_sources,
)
from rnnviz.ui.pages.perplexity.scoring_jobs import TextScore
from rnnviz.ui.pages.perplexity.text_sources import ReaderText
from rnnviz.ui.shell import error_messages, sidebar
from rnnviz.ui.shell.error_messages import describe, plain
from rnnviz.ui.shell.fields import Field
from rnnviz.ui.shell.model_cache import ModelContext

SECTION = Field("section", "origin", address="section", title=N_("Section"), parse=str.lower)


TextResult = tuple[ReaderText, Pending[TextScore]]


def page(context: ModelContext) -> None:
    jobs = of_session("perplexity")
    st.html(f"<style>{_STYLE}{sidebar.HEADER_CSS}</style>")
    st.title(_("Perplexity of your texts"))
    st.markdown(
        _(
            "How well does **{model}** predict your text? It reads one character at a time and predicts the "
            "next. The better it predicts, the lower the **perplexity**."
        ).format(model=plain(title(context.info)))
    )
    with working("perplexity"):
        chosen, all_texts = text_sources.choose_texts()
        if chosen:
            clear_data.button()
        else:
            chosen = [text_sources.apply_choices(text_sources.example(context.model.card))]
            sentence = _("**An example**, until you choose a text: *{beginning} …*")
            beginning = shorten(chosen[0].text or "", 80, placeholder="") or (chosen[0].text or "")[:80]
            st.markdown(sentence.format(beginning=plain(beginning)))
        # A job for a text goes on while the reader looks at another one.
        request(*(scoring_jobs.record_key(context.info, text) for text in all_texts))
        _results(context, jobs, _score(context, jobs, chosen))


def _score(context: ModelContext, jobs: Jobs, chosen: Sequence[ReaderText]) -> list[TextResult]:
    """Every text with its result or job; jobs that are missing are started.

    A text that its reader has stopped becomes the shorter text that was read.
    """
    info, texts = context.info, list[ReaderText]()
    # A job that "Stop here and show" has ended is still under the whole text's key. Its result is under the
    # shorter text's: from here on the page asks for that one.
    for text in chosen:
        key = scoring_jobs.record_key(info, text)
        job = jobs.get(key)
        if job is not None and job.state == "done" and job.result.stopped_at != text.stopped_at:
            text = replace(text, stopped_at=job.result.stopped_at)
            st.session_state.setdefault(text_sources.STOPPED, {})[text.identity] = text.stopped_at
            jobs.forget([key])
        texts.append(text)

    # All are started before the page waits, once: with a wait for each, fifty texts would take half a minute.
    started = [scoring_jobs.ask_score(info, text, text.name, Event(), patience=0) for text in texts]
    jobs.wait([result.job.key for result in started if result.job is not None], scoring_jobs.SCORE_PATIENCE_S)
    return [(text, scoring_jobs.ask_score(info, text, text.name, pressed=False)) for text in texts]


def _results(context: ModelContext, jobs: Jobs, results: Sequence[TextResult]) -> None:
    """Draw the results so far: progress, errors, the answer of one text and its section."""
    done = [(text, result.value.with_name(text.name)) for text, result in results if result.value is not None]
    # A job done without a value was stopped just now; with it in `busy`, the bar reruns the page.
    waiting = [result.job for _text, result in results if result.value is None and result.job is not None]
    busy = list(dict.fromkeys(job.key for job in waiting if job.state in ("waiting", "running", "done")))
    if busy:
        pending.progress_bar(jobs, busy, "scoring")
    refused = [
        (text, result)
        for text, result in results
        if result.value is None and result.job and result.job.key not in busy
    ]
    _without_figures(context, refused)
    if not done:
        return
    text, text_score = done[0] if len(done) == 1 else answer.show_texts(done, all_known=not busy)
    second = model_comparison.second_model(context, text)
    answer.show(context, text, text_score, second)
    _section(context, jobs, done, text, text_score, second)


def _section(
    context: ModelContext,
    jobs: Jobs,
    done: Sequence[tuple[ReaderText, TextScore]],
    text: ReaderText,
    text_score: TextScore,
    second: model_comparison.SecondModel | None,
) -> None:
    """Draw the chosen section for `text`, one of the texts that are `done`."""
    words = {
        "origin": _("Where the surprise is"),
        "against": _("Compare models"),
        "sum": _("How it's calculated"),
        "compression": _("Perplexity as compression"),
        "take": _("Download"),
    }
    chosen = SECTION.choose(_("Section"), words, label_visibility="collapsed")
    # The record may have made room for other texts. The number is kept: only sections that need every
    # character are left out.
    if not text_score.has_record:
        surprise.offer_reading(jobs, scoring_jobs.record_key(context.info, text), text.name)
    if chosen == "against":
        model_comparison.show(context, jobs, text, text_score)
    elif chosen == "sum":
        answer.show_calculation(context, text_score)
    elif chosen == "take":
        download.show([text_score.score for _text, text_score in done], text, text_score)
    elif chosen == "compression" and text_score.has_record:
        download.show_compressed(context, text, text_score)
    elif chosen == "origin":
        model_comparison.pick_second(context, text, text_score.score)
        if text_score.has_record:
            surprise.show(context, jobs, text, text_score, second)


def _without_figures(context: ModelContext, results: Sequence[TextResult]) -> None:
    """Draw why these texts have no figures: all errors in one box, then the remedies."""
    messages, unread = list[str](), list[ReaderText]()
    for text, result in results:
        name = plain(text.name)
        if result.job is None or (error := result.job.error) is None:
            result.show(f"text-{text.name}")
        elif is_packed_rows(text.name):
            row = _("{name} isn't plain text; this command scores it row by row:")
            answer.row_by_row(context, text, row.format(name=f"**{name}**"))
        else:
            reason = describe(error, text.name)
            messages.append(reason if reason.startswith(name) else f"**{name}**: {reason}")
            unread.append(text)
    error_messages.show_errors(messages)
    for text in unread:
        text_sources.mend_encoding(text)


# Curves and text use a projector's full width.
_STYLE = """
[data-testid="stMainBlockContainer"] { padding: 1.2rem 2.2rem 3rem; max-width: 86rem; }
[data-testid="stHeader"] { background: transparent; pointer-events: none; }
[data-testid="stHeader"] button { pointer-events: auto; }
.katex-display { padding: 0.3rem 4px; }  /* else it would scroll by two pixels */
/* Without a mouse a table's tools are always there, above it. */
@media (hover: none) { .stElementContainer:has([data-testid="stDataFrame"]) { margin-top: 1.5rem; } }
@media (max-width: 700px) { [data-testid="stMainBlockContainer"] { padding: 3.8rem 1.2rem 3rem; }
  .katex-display > .katex { font-size: 0.92em; } }
"""

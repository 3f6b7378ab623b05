"""What stands where on the Perplexity page."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from rnnviz.ui import model_cache
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.jobs.worker import Check, Job, Jobs, presence
from rnnviz.ui.pages.perplexity import answer, encodings, sections, texts, work
from rnnviz.ui.trouble import describe, plain
from rnnviz.ui.words import rounded

if TYPE_CHECKING:
    from rnnviz.ui.context import Context
    from rnnviz.ui.pages.perplexity.texts import Text
    from rnnviz.ui.pages.perplexity.work import Scored

PATIENCE = 0.6  # seconds that the page waits for short texts before it shows a progress bar
_JOBS = "perplexity.jobs"


@dataclass(frozen=True)
class Outcome:
    """What became of one text: its figures, or the job that is at them or came to nothing."""

    text: Text
    key: Hashable
    scored: Scored | None
    job: Job | None


def page(context: Context) -> None:
    """Draw the page."""
    jobs = session_jobs()
    st.html(f"<style>{_STYLE}</style>")
    st.title(_("Perplexity of your texts"))
    st.markdown(
        _(
            "How well does **{model}** predict a text it has never seen? It reads character by character and "
            "says before each one how likely every character is. The less it is surprised, the lower the "
            "**perplexity**: 1 means it always knew what comes; {symbols} means it guessed blindly."
        ).format(model=plain(context.info.path.stem), symbols=f"{context.model.vocabulary.size:,}")
    )
    chosen = texts.chosen(jobs)
    if not chosen:
        chosen = [texts.example(context.model.card)]
        st.markdown(
            _(
                "**An example**, until you upload a file, paste a text or pick a corpus: *{beginning} …*"
            ).format(beginning=plain(beginning(chosen[0].text or "")))
        )
    outcomes = score(context, jobs, chosen)
    wanted = [o.key for o in outcomes] + results(context, jobs, outcomes)
    jobs.retain([*wanted, *(("fetch", name) for name in [st.session_state.get("corpus")])])


def beginning(text: str, longest: int = 80) -> str:
    """The first words of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[:longest].rsplit(" ", 1)[0]


def session_jobs() -> Jobs:
    """The jobs of this session."""
    if _JOBS not in st.session_state:
        st.session_state[_JOBS] = Jobs(presence())
    found: Jobs = st.session_state[_JOBS]
    return found


def score(context: Context, jobs: Jobs, chosen: Sequence[Text]) -> list[Outcome]:
    """What is known of every text; what isn't is set to work."""
    kept, digest = store.shared(), model_cache.digest(context.info)
    asked = []
    for text in chosen:
        key = (work.full_key(digest, text), text.name)
        if kept.get(key[0]) is None:

            def make(check: Check, text: Text = text) -> work.Steps:
                return work.scoring(kept, digest, lambda: context.scorer, context.info.path, text, check)

            jobs.ask(key, text.name, make)
            asked.append(key)
    jobs.wait(asked, PATIENCE)
    return [outcome(jobs, digest, text) for text in chosen]


def outcome(jobs: Jobs, digest: str, text: Text) -> Outcome:
    """What has become of a text by now."""
    key = (work.full_key(digest, text), text.name)
    job = jobs.get(key)  # asked first: if it is done, the result is there
    scored: Scored | None = store.shared().get(key[0])
    return Outcome(text, key, scored.called(text.name) if scored else None, job)


def results(context: Context, jobs: Jobs, outcomes: Sequence[Outcome]) -> list[Hashable]:
    """All that can be said by now. Returns the jobs that its sections want."""
    busy = [o.key for o in outcomes if o.scored is None and o.job is not None and jobs.busy([o.key])]
    if busy:
        progress.bar(jobs, busy, "scoring")
    done = [o for o in outcomes if o.scored is not None]
    if len(done) > 1:
        overview(done)
    for one in outcomes:
        if one.scored is None and one.key not in busy:
            without(jobs, one)
    if not done:
        return []
    shown = done[0] if len(done) == 1 else pick(done)
    assert shown.scored is not None
    answer.show(context, shown.text, shown.scored)
    return sections.show(context, jobs, [(o.text, o.scored) for o in done if o.scored], shown.text)


def without(jobs: Jobs, one: Outcome) -> None:
    """A text that has no figures: why, and what can be done."""
    name = plain(one.text.name)
    if one.job is not None and one.job.error is not None:
        reason = describe(one.job.error, one.text.name)
        words = reason if reason.startswith(name) else f"**{name}**  \n{reason}"
        st.error(words, icon=":material/error:")
        encodings.mend(one.text)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(_("**{name}**: cancelled, so it has no figures.").format(name=name), icon=":material/cancel:")
        st.button(
            _("Score it after all"),
            key=f"again-{hash(one.key)}",
            icon=":material/replay:",
            on_click=jobs.forget,
            args=([one.key],),
        )


def pick(done: Sequence[Outcome]) -> Outcome:
    """Which of several texts is looked at closely."""
    index = st.selectbox(
        _("Look closer at"),
        range(len(done)),
        key="closer",
        width=420,
        format_func=lambda i: done[i].text.name if i < len(done) else "",
    )
    return done[min(index or 0, len(done) - 1)]


def overview(done: Sequence[Outcome]) -> None:
    """All texts in one table, which a click on a column's head sorts."""
    reports = [o.scored.report for o in done if o.scored]
    number = st.column_config.NumberColumn
    st.dataframe(
        {
            _("Text"): [r.file for r in reports],
            _("Perplexity"): [r.perplexity for r in reports],
            _("Without unknown"): [r.perplexity_known for r in reports],
            _("Bits per character"): [r.bits_per_character for r in reports],
            _("Bits per byte"): [r.bits_per_byte for r in reports],
            _("Characters"): [r.characters for r in reports],
            _("Unknown"): [r.unknown for r in reports],
            _("Encoding"): [
                f"{r.encoding}, {encodings.how_known(r.certainty)}" if r.encoding else "–" for r in reports
            ],
        },
        hide_index=True,
        width="stretch",
        column_config={
            _("Perplexity"): number(format="%.3f"),
            _("Without unknown"): number(format="%.3f"),
            _("Bits per character"): number(format="%.3f"),
            _("Bits per byte"): number(format="%.3f"),
            _("Characters"): number(format="localized"),
            _("Unknown"): number(format="localized"),
        },
    )
    best = min(reports, key=lambda r: r.bits_per_character)
    st.caption(
        _("**{name}** surprised the model least: {perplexity}.").format(
            name=plain(best.file), perplexity=rounded(best.perplexity)
        )
    )


# Figures and text need the width that a projector has.
_STYLE = """
[data-testid="stMainBlockContainer"] { padding: 1.2rem 2.2rem 3rem; max-width: 86rem; }
[data-testid="stHeader"] { background: transparent; pointer-events: none; }
[data-testid="stHeader"] button { pointer-events: auto; }
"""

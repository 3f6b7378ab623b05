"""The layout of the Perplexity page."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Event

import streamlit as st

from rnnviz.i18n import N_, _
from rnnviz.ui import address, forgetting, sidebar
from rnnviz.ui.context import Context
from rnnviz.ui.fields import Field
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.jobs.pending import want, working
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import OVER, Job, Jobs, of_session
from rnnviz.ui.pages.perplexity import (
    answer,
    calculation,
    comparison,
    compression,
    download,
    encodings,
    origin,
    rows,
    texts,
    work,
)
from rnnviz.ui.pages.perplexity.texts import Text
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.trouble import describe, plain
from rnnviz.ui.words import title

SECTION = Field("section", "origin", address="section", title=N_("Section"), check=str.lower)
_FILES = "perplexity.held"  # the checksums of the files in view
_LEARNS = "perplexity.learns"  # what an address of 1.0.0 asked for: "mix", "dynamic" or "mix,dynamic"


@dataclass(frozen=True)
class Outcome:
    """One text's figures, or the job that computes them or failed to."""

    text: Text
    key: Key
    scored: Scored | None
    job: Job | None


def page(context: Context) -> None:
    jobs = of_session("perplexity")
    st.html(f"<style>{_STYLE}{sidebar.BAR}</style>")
    st.title(_("Perplexity of your texts"))
    st.markdown(
        _(
            "How well does **{model}** predict your text? It reads one character at a time and predicts the "
            "next. The better it predicts, the lower the **perplexity**."
        ).format(model=plain(title(context.info)))
    )
    _learning(context)
    with working("perplexity"):
        chosen, there = texts.chosen(jobs)
        if chosen:
            forgetting.button()
        else:
            chosen = [texts.example(context.model.card)]
            said = _("**An example**, until you choose a text: *{beginning} …*")
            st.markdown(said.format(beginning=plain(_beginning(chosen[0].text or ""))))
        _hold([*there, *chosen])
        want(texts.download(st.session_state.get("corpus")))
        want(*(work.full_key(context.info, text) for text in there))  # a look at another stops none
        tables = [text for text in chosen if rows.is_one(text)]
        _results(context, jobs, _score(context, jobs, [text for text in chosen if text not in tables]))
        rows.show(context, jobs, tables)


def _learning(context: Context) -> None:
    """What to do where the address asks for a model that learns while it reads."""
    address.say(learns=None)
    if address.arrived():
        st.session_state[_LEARNS] = (address.asked("learns") or "").split(",")
    ngram = "NAME" if context.yardstick is None else context.yardstick.name
    options = {"mix": f" --mix {ngram}", "dynamic": " --dynamic"}
    wanted = "".join(said for way, said in options.items() if way in st.session_state.get(_LEARNS, []))
    if wanted:
        said = _("On this page no model learns while it reads; in a terminal this does: {command}")
        command = f"`python -m rnnviz perplexity FILE --model {context.info.path.stem}{wanted}`"
        st.warning(said.format(command=command), icon=":material/swap_horiz:")


def _beginning(text: str, longest: int = 80) -> str:
    """The first words of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[:longest].rsplit(" ", 1)[0]


def _score(context: Context, jobs: Jobs, chosen: Sequence[Text]) -> list[Outcome]:
    """What is known of every text; starts what isn't."""
    kept, stops = store.shared(), _stopping()
    keys = [work.full_key(context.info, text) for text in chosen]
    want(*keys)
    for text, key in zip(chosen, keys, strict=True):
        if kept.get(key) is None:  # perhaps it was there, and has made room
            make = partial(work.scoring, context.info, text, stops.setdefault(key, Event()))
            jobs.ask(key, text.name, make, again=work.NOT_KEPT, size=text.size)
    jobs.wait(keys, work.PATIENCE)
    outcomes = []
    for text, key in zip(chosen, keys, strict=True):
        job = jobs.get(key)  # asked first: if it is done, the result is there
        if job is not None and job.state in OVER:
            stops.pop(key, None)
        if job is not None and job.state == "done" and job.result.most != text.most:
            text = replace(text, most=job.result.most)
            st.session_state.setdefault(texts.STOPPED, {})[text.identity] = text.most
            jobs.forget([key])
            key = work.full_key(context.info, text)
        scored: Scored | None = kept.get(key)
        outcomes.append(Outcome(text, key, scored and scored.called(text.name), job))
    return outcomes


def _stopping() -> dict[Hashable, Event]:
    """What ends the reading of a text where it is, by its job's key."""
    stops: dict[Hashable, Event] = st.session_state.setdefault("perplexity.stopping", {})
    return stops


def _hold(chosen: Sequence[Text]) -> None:
    """Keep what is found of the chosen texts, as long as this session lasts; forget files taken back."""
    kept, holder, now = store.shared(), store.holder(), {text.content for text in chosen}
    kept.hold(holder, now)
    kept.release(holder, st.session_state.get(_FILES, set()) - now)
    st.session_state[_FILES] = {text.content for text in chosen if text.data is not None}


def _results(context: Context, jobs: Jobs, outcomes: Sequence[Outcome]) -> None:
    """All that is known by now."""
    busy = list({o.key: None for o in outcomes if o.scored is None and jobs.busy([o.key])})
    if busy:
        progress.bar(jobs, busy, "scoring", _stopping())
    done = [(o.text, o.scored) for o in outcomes if o.scored is not None]
    for one in outcomes:
        if one.scored is None and one.key not in busy:
            _without_figures(jobs, one)
    if not done:
        return
    text, scored = done[0] if len(done) == 1 else answer.several(done, all_known=not busy)
    second = comparison.second(context, text)
    answer.show(context, text, scored, second)
    _section(context, jobs, done, text, scored, second)


def _section(
    context: Context,
    jobs: Jobs,
    done: Sequence[tuple[Text, Scored]],
    text: Text,
    scored: Scored,
    second: comparison.Second | None,
) -> None:
    """The chosen section for one of the texts that are `done`."""
    words = {
        "origin": _("Where the surprise is"),
        "against": _("Compare models"),
        "sum": _("How it's calculated"),
        "compression": _("Perplexity as compression"),
        "take": _("Download"),
    }
    chosen = SECTION.choose(_("Section"), words, label_visibility="collapsed")
    if not scored.complete:
        origin.offer_reading(jobs, work.full_key(context.info, text), text.name)
    if chosen == "against":
        comparison.show(context, jobs, done, text)
    elif chosen == "sum":
        calculation.show(context, scored)
    elif chosen == "take":
        download.show([s.report for _text, s in done], text, scored)
    elif chosen == "compression" and scored.complete:
        compression.show(context, text, scored)
    elif chosen == "origin":
        comparison.pick_second(context)
        if scored.complete:
            origin.show(context, jobs, text, scored, second)


def _without_figures(jobs: Jobs, one: Outcome) -> None:
    name = plain(one.text.name)
    if one.job is not None and one.job.error is not None:
        reason = describe(one.job.error, one.text.name)
        words = reason if reason.startswith(name) else f"**{name}**  \n{reason}"
        st.error(words, icon=":material/error:")
        encodings.mend(one.text)
        return
    said = _("**{name}**: cancelled, so it has no perplexity.").format(name=name)
    again = partial(jobs.forget, [one.key])  # Streamlit keeps it: without the text
    progress.offer(said, _("Score it again"), f"again-{one.text.name}", again)


# Figures and text need a projector's full width.
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

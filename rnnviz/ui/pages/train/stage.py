"""The stage: the run in view, followed while it goes on, with its actions."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from rnnviz.i18n import _
from rnnviz.runs import queue
from rnnviz.runs.folder import RunFolder
from rnnviz.ui.browser.component import Component
from rnnviz.ui.pages.train import toolbar
from rnnviz.ui.pages.train import words as say
from rnnviz.ui.pages.train.subject import Subject, find
from rnnviz.ui.pages.train.watch import Watch

KEY = "training"
_component = Component("training")
EVERY = 0.5  # seconds between two looks at a run that is going on
_WATCH, _ASK, _FRESH = "train.watch", "train.ask", "train.fresh"


def show(id: str, explore: Any, *, started: int = 0) -> None:
    """The stage of the run of this id. `started`: another number each time that it is started, else 0."""
    st.session_state[_FRESH] = True
    subject = find(id)
    alive = subject is not None and subject.alive
    st.fragment(_stage, run_every=EVERY if alive else None, key="train-stage")(id, explore, started)


def _stage(id: str, explore: Any, started: int) -> None:
    state = st.session_state
    fresh = state.pop(_FRESH, False)
    subject = find(id)
    if subject is None:
        if state.pop("train.again", False):
            st.rerun()  # it was deleted here: the page chooses another
        st.info(_("This run is not there any more."), icon=":material/delete:")
        return
    watch = state.get(_WATCH)
    if not isinstance(watch, Watch) or (watch.id, watch.born) != (id, subject.born):
        watch = state[_WATCH] = Watch(id, subject.born)
        fresh = True
    watch.refresh(subject)
    toolbar.show(subject, explore)
    facts = {**said(subject, watch), "started": started}
    start = watch.last("start")
    words = say.words(
        measured(subject, watch),
        steps=watch.last("progress").get("counted") == "steps",
        uniform=start.get("uniform") is not None or not start,
        watched=bool(subject.description.get("probe")),
    )
    data = watch.answer(subject, words, facts, ask=state.pop(_ASK, {}), fresh=fresh)
    _component.mount(data, key=KEY, on_ask=_take)
    was, state["train.alive"] = state.get("train.alive"), (id, subject.alive)
    if not fresh and was is not None and was != (id, subject.alive):
        st.rerun()  # it ended, or was resumed: from here on it needs more looks, or none


def _take() -> None:
    asked = _component.asked(KEY)
    st.session_state[_ASK] = dict(asked) if isinstance(asked, Mapping) else {}


def measured(subject: Subject, watch: Watch) -> str:
    """Which perplexities this run has beside that of its training text."""
    unmeasured = watch.last("start").get("validation_characters") == 0
    together = subject.config.get("train_on") == "train+validation"
    return say.AT_THE_END if unmeasured or together else say.VALIDATION


def said(subject: Subject, watch: Watch) -> dict[str, Any]:
    """What the view says about the run: numbers, progress, what it writes."""
    last, report, start = (watch.last(kind) for kind in ("progress", "report", "start"))
    end = watch.last("failed" if subject.state == "failed" else "finished")
    held_out, lines = None, ["validation", "train"]
    if measured(subject, watch) == say.AT_THE_END:
        held_out = watch.last("finished").get("held_out")
        lines = [*(["end"] if held_out else []), "train"]
    sampled = ""
    if report.get("characters") and report.get("sample"):
        counted = _("after {n} steps") if last.get("counted") == "steps" else _("after {n} characters")
        sampled = counted.format(n=say.millions(report["characters"]))
    return {
        "numbers": {
            "validation": report.get("validation_perplexity"),
            "held_out": held_out,
            "train": say.training_perplexity(last, report),
            "speed": last.get("characters_per_second"),
            "clipped": last.get("clipped"),
            "rate": last.get("learning_rate"),
        },
        "lines": lines,
        "counted": start.get("ngram") is not None,
        "seconds": last.get("seconds", 0.0),
        "fraction": 1.0
        if subject.state == "finished"
        else say.share(last, start.get("total_characters")) or 0.0,
        "line": say.line(
            subject.state,
            reason=subject.reason or say.ended(watch.last("stopped")),
            ahead=queue.ahead(RunFolder(subject.run.path))
            if subject.run and subject.state == "waiting"
            else 0,
            start=start,
            last=last or report,
            end=end,
            measuring=bool(watch.events) and watch.events[-1]["event"] == "measuring",
        ),
        "passed": say.passed(watch.last("passed"), start.get("ngram_order", 6)),
        "sample": str(report.get("sample") or ""),
        "sampled": sampled,
    }

"""The view of one run, followed while it goes on: its mount, and what it says."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from rnnviz.i18n import _
from rnnviz.runs import queue
from rnnviz.runs.folder import RunFolder
from rnnviz.ui.browser.component import Component
from rnnviz.ui.pages.train import words as say
from rnnviz.ui.pages.train.shown import Shown, find
from rnnviz.ui.pages.train.watch import Watch
from rnnviz.ui.trouble import sentence
from rnnviz.ui.words import duration, rounded

KEY = "training"
_component = Component("training")
EVERY = 0.5  # seconds between two looks at a run that is going on
_WATCH, _ASK = "train.watch", "train.ask"


def show(shown: Shown, *, started: int = 0) -> None:
    """The view of this run. `started`: another number each time that it is started, else 0."""
    every = EVERY if shown.alive else None
    st.fragment(_follow, run_every=every, key="train-stage")(shown.id, shown.state, started)


def _follow(id: str, state: str, started: int) -> None:
    if (shown := find(id)) is None:
        st.info(_("This run is not there any more."), icon=":material/delete:")
        return
    watch = st.session_state.get(_WATCH)
    if not isinstance(watch, Watch) or (watch.id, watch.born) != (id, shown.born):
        watch = st.session_state[_WATCH] = Watch(id, shown.born)
    watch.refresh(shown)
    start = watch.last("start")
    words = say.words(
        measured(shown, watch),
        steps=watch.last("progress").get("counted") == "steps",
        uniform=start.get("uniform") is not None or not start,
        watched=bool(shown.description.get("probe")),
    )
    facts = {**said(shown, watch), "started": started}
    data = watch.answer(shown, words, facts, ask=st.session_state.pop(_ASK, {}))
    _component.mount(data, key=KEY, on_ask=_take)
    if shown.state != state:
        st.rerun()  # what can be done with it is another matter now


def _take() -> None:
    asked = _component.asked(KEY)
    st.session_state[_ASK] = dict(asked) if isinstance(asked, Mapping) else {}


def measured(shown: Shown, watch: Watch) -> str:
    """Which perplexities this run has beside that of its training text."""
    unmeasured = watch.last("start").get("validation_characters") == 0
    together = shown.config.get("train_on") == "train+validation"
    return say.AT_THE_END if unmeasured or together else say.VALIDATION


def said(shown: Shown, watch: Watch) -> dict[str, Any]:
    """What the view says about the run: numbers, progress, what it writes."""
    last, report, start = (watch.last(kind) for kind in ("progress", "report", "start"))
    held_out, lines = None, ["validation", "train"]
    if measured(shown, watch) == say.AT_THE_END:
        held_out = watch.last("finished").get("held_out")
        lines = [*(["end"] if held_out else []), "train"]
    sampled = ""
    if report.get("characters") and report.get("sample"):
        counted = _("after {n} steps") if last.get("counted") == "steps" else _("after {n} characters")
        sampled = counted.format(n=say.millions(report["characters"]))
    share = 1.0 if shown.state == "finished" else say.share(last, start.get("total_characters"))
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
        "fraction": share or 0.0,
        "line": line(shown, watch),
        "passed": say.passed(watch.last("passed"), start.get("ngram_order", 6)),
        "sample": str(report.get("sample") or ""),
        "sampled": sampled,
    }


def line(shown: Shown, watch: Watch) -> str:
    """One line on how far the run is, from its newest events."""
    state, run = shown.state, shown.run
    last, total = watch.last("progress") or watch.last("report"), watch.last("start").get("total_characters")
    read, seconds, eta = (say.number(last.get(name)) for name in ("characters", "seconds", "eta"))
    if state == "waiting" and run is not None:
        return _("Waiting: {place}. It starts by itself.").format(
            place=say.place(queue.ahead(RunFolder(run.path)))
        )
    if state == "starting" or (state == "running" and read is None):
        return _("Starting: it reads the text and counts its sequences …")
    unit = _("{read} steps") if last.get("counted") == "steps" else _("{read} characters")
    far = unit.format(read=say.millions(read or 0))
    if state in ("finished", "shipped"):
        took = duration(seconds) if seconds is not None else ""
        done = _("Trained for {time}: {far}").format(time=took, far=far)
        held_out = say.number(watch.last("finished").get("held_out"))
        if held_out is None:
            return done
        return f"{done} · " + _("held-out perplexity {p}").format(p=rounded(held_out))
    if read is not None and (share := say.share(last, total)) is not None:
        of = _("{read} of {total}").format(read=say.millions(read), total=say.millions(total))
        far = _("{percent} % · {far}").format(percent=f"{100 * share:.0f}", far=unit.format(read=of))
    if state == "running":
        if watch.events[-1]["event"] == "measuring":
            return _("Trained. Measuring it on text it never read, up to a minute …")
        return far if eta is None else _("{far} · {time} left").format(far=far, time=duration(eta))
    words = say.ended(state)
    if read is not None:
        words = _("{state} at {far}").format(state=words, far=far)
    reason = sentence(run.error) if run is not None and run.error else ""
    reason = (
        say.reason(state, watch.last("failed" if state == "failed" else "stopped").get("cause")) or reason
    )
    return f"{words}. {reason}" if reason else _("{said}. What was learnt is saved.").format(said=words)

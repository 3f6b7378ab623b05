"""A result's placeholder: a progress bar with Cancel, or the reason why there is no result."""

import math
from collections.abc import Hashable, Sequence
from threading import Event
from typing import Any

import streamlit as st

from rnnviz.i18n import _, ngettext
from rnnviz.page.formatting import duration, rounded
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.worker import Job, Jobs
from rnnviz.ui.shell.error_messages import plain

EVERY = 0.4  # seconds between two looks at a running job
FIRST = 0.8  # seconds until the perplexity so far is shown
SURE = 3.0  # seconds until the time left is shown, however small the share done
SELDOM = 2.0  # seconds between two looks at a job that waits for others: a whole class may wait


def bar(jobs: Jobs, keys: Sequence[Hashable], name: str) -> None:
    """Draw these jobs' progress; rerun the page when one begins or ends. `name` is unique on the page."""
    busy = jobs.busy(keys)
    waits = all(job.state == "waiting" for job in busy)
    st.fragment(_bar, run_every=SELDOM if waits else EVERY, key=f"progress-{name}")(
        jobs, keys, name, len(keys), waits
    )


def _bar(jobs: Jobs, keys: Sequence[Hashable], name: str, drawn: int, waits: bool) -> None:
    busy = jobs.busy(keys)
    now = next((job for job in busy if job.state == "running"), busy[0]) if busy else None
    if now is None or len(busy) < drawn or (waits and now.state == "running"):
        st.rerun()
    left, right = st.columns([6, 1], vertical_alignment="center")
    left.progress(min(max(now.step.fraction, 0.0), 1.0), text=words(now, len(busy) - 1))
    right.button(
        _("Cancel"),
        key=f"cancel-{name}",
        icon=":material/close:",
        on_click=jobs.cancel,
        args=([job.key for job in busy],),
        width="stretch",
    )
    if now.stop is not None and now.step.perplexity is not None and now.seconds > FIRST:
        _so_far(now, name, now.stop)


def _so_far(job: Job, name: str, stop: Event) -> None:
    """Draw a job's perplexity so far, and a button that sets `stop`: the job ends with that result."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.metric(_("Perplexity so far"), rounded(job.step.perplexity or math.inf), width="content")
        st.button(
            _("Stop here and show"),
            key=f"stop-{name}",
            icon=":material/stop_circle:",
            on_click=stop.set,
            disabled=stop.is_set(),
            help=_("Finishes the current passage, then shows the perplexity so far."),
        )


def offer(jobs: Jobs, key: Any, said: str, label: str, name: str, icon: str = ":material/cancel:") -> None:
    """Draw the sentence `said` on a missing result, beside a button `label` that starts its job again.

    `name` is unique on the page.
    """

    def again() -> None:
        store.shared().forget(key)
        jobs.forget([key])

    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(said, icon=icon)
        st.button(label, key=name, icon=":material/replay:", on_click=again)


def words(job: Job, waiting: int) -> str:
    """A job's title, progress, speed and time left; for a waiting one, its place in the queue.

    `waiting` is the number of further jobs.
    """
    step, parts = job.step, list[str]()
    if step.characters:
        parts.append(_("{count} characters").format(count=f"{step.characters:,}"))
        if job.seconds > 0.5:
            parts.append(_("{speed} a second").format(speed=f"{step.characters / job.seconds:,.0f}"))
    if step.fraction > (0.01 if job.seconds < SURE else 0) and job.seconds > 0.5:
        parts.append(_("{time} left").format(time=duration(job.seconds / step.fraction - job.seconds)))
    if step.perplexity is not None:
        parts.append(_("perplexity so far {perplexity}").format(perplexity=rounded(step.perplexity)))
    if not parts:
        parts.append(_("waiting for its turn") if job.state == "waiting" else _("looking at it"))
    if (before := job.of.places.before(job)) is not None:
        parts.append(place(before))
    if waiting:
        parts.append(ngettext("{n} more to do", "{n} more to do", waiting).format(n=waiting))
    return f"**{plain(job.title)}** · " + " · ".join(parts)


def place(before: int) -> str:
    """A place in the queue of all sessions, in words."""
    if not before:
        return _("yours is next")
    return ngettext("{n} before yours", "{n} before yours", before).format(n=before)

"""Results that take a while. A page asks for one in a line, wherever it needs it.

    found = ask(Key("probe", checksum(text), (mark, layer)), _("Probing"), work)
    if (probe := found.show("probe")) is not None: ...

`ask` returns a kept result; otherwise it starts a job of the session, waits a moment and looks again. A page
needs no list of its jobs: a job that the next run doesn't ask for again is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Any, Generic, TypeVar, cast

import streamlit as st

from rnnviz.i18n import _, ngettext
from rnnviz.networks.progress import Progress
from rnnviz.page.formatting import duration, rounded
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import END_STATES, Job, Jobs, Kind, State, of_session
from rnnviz.ui.shell.error_messages import describe, plain

POLL_S = 0.4  # seconds between two looks at a running job
PERPLEXITY_AFTER_S = 0.8  # seconds until the perplexity so far is shown
# Seconds until the time left is shown, however small the share done. Before, a hundredth must be done, as
# the first reports jump; but of an hour's job a hundredth takes half a minute.
ETA_AFTER_S = 3.0
# Seconds between two looks at a job that waits for others: a whole class may wait, and each look costs the
# server a run.
POLL_SLOW_S = 2.0


def progress_bar(jobs: Jobs, keys: Sequence[Hashable], name: str) -> None:
    """Draw these jobs' progress; rerun the page when one begins or ends. `name` is unique on the page."""
    busy = jobs.busy(keys)
    # A fragment: only the bar runs every POLL_S seconds, not the page above it. `run_every` is fixed once the
    # fragment is drawn, so the bar notes whether it was drawn for waiting jobs alone.
    all_wait = all(job.state == "waiting" for job in busy)
    st.fragment(_progress_bar, run_every=POLL_SLOW_S if all_wait else POLL_S, key=f"progress-{name}")(
        jobs, keys, name, len(keys), all_wait
    )


def _progress_bar(
    jobs: Jobs, keys: Sequence[Hashable], name: str, busy_before: int, all_waited: bool
) -> None:
    busy = jobs.busy(keys)
    current = next((job for job in busy if job.state == "running"), busy[0]) if busy else None
    # Whatever changes more than the bar needs the page: an end brings a result, and a begin the faster pace.
    if current is None or len(busy) < busy_before or (all_waited and current.state == "running"):
        st.rerun()
    left, right = st.columns([6, 1], vertical_alignment="center")
    left.progress(min(max(current.share.fraction, 0.0), 1.0), text=progress_words(current, len(busy) - 1))
    right.button(
        _("Cancel"),
        key=f"cancel-{name}",
        icon=":material/close:",
        on_click=jobs.cancel,
        args=([job.key for job in busy],),
        width="stretch",
    )
    if (
        current.stop is not None
        and current.share.perplexity is not None
        and current.seconds > PERPLEXITY_AFTER_S
    ):
        _partial_result(current, name, current.stop)


def _partial_result(job: Job, name: str, stop: Event) -> None:
    """Draw a job's perplexity so far, and a button that sets `stop`: the job ends with that result."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.metric(_("Perplexity so far"), rounded(job.share.perplexity or math.inf), width="content")
        st.button(
            _("Stop here and show"),
            key=f"stop-{name}",
            icon=":material/stop_circle:",
            on_click=stop.set,
            disabled=stop.is_set(),
            help=_("Finishes the current passage, then shows the perplexity so far."),
        )


def offer(jobs: Jobs, key: Any, message: str, label: str, name: str, icon: str = ":material/cancel:") -> None:
    """Draw the sentence `message` on a missing result, beside a button `label` that starts its job again.

    `name` is unique on the page.
    """

    def again() -> None:
        store.shared().forget(key)
        jobs.forget([key])

    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(message, icon=icon)
        st.button(label, key=name, icon=":material/replay:", on_click=again)


def progress_words(job: Job, waiting: int) -> str:
    """A job's title, progress, speed and time left; for a waiting one, its place in the queue.

    `waiting` is the number of further jobs.
    """
    share, parts = job.share, list[str]()
    if share.characters:
        parts.append(_("{count} characters").format(count=f"{share.characters:,}"))
        if job.seconds > 0.5:
            parts.append(_("{speed} a second").format(speed=f"{share.characters / job.seconds:,.0f}"))
    if share.fraction > (0.01 if job.seconds < ETA_AFTER_S else 0) and job.seconds > 0.5:
        parts.append(_("{time} left").format(time=duration(job.seconds / share.fraction - job.seconds)))
    if share.perplexity is not None:
        parts.append(_("perplexity so far {perplexity}").format(perplexity=rounded(share.perplexity)))
    if not parts:
        parts.append(_("waiting for its turn") if job.state == "waiting" else _("working on it"))
    if (jobs_ahead := job.page_jobs.slots.jobs_ahead(job)) is not None:
        parts.append(queue_position(jobs_ahead))
    if waiting:
        parts.append(ngettext("{n} more to do", "{n} more to do", waiting).format(n=waiting))
    return f"**{plain(job.title)}** · " + " · ".join(parts)


def queue_position(jobs_ahead: int) -> str:
    """A place in the queue of all sessions, in words."""
    if not jobs_ahead:
        return _("yours is next")
    return ngettext("{n} before yours", "{n} before yours", jobs_ahead).format(n=jobs_ahead)


R = TypeVar("R")
# Seconds that a page waits for short work before it shows a bar, which would appear and go like a flash.
BAR_AFTER_S = 0.3
# Keys of st.session_state: the job keys that a page's parts want, and the newest result's key by `Key.kind`.
_REQUESTED, _NEWEST = "pending.wanted", "pending.newest"


@dataclass(frozen=True)
class Pending(Generic[R]):
    """A result or its absence.

    value  the result, or None
    job    the job that makes it: waiting, running, done, failed or cancelled; None if nobody has pressed the
           button yet
    """

    value: R | None
    job: Job | None

    @property
    def waits(self) -> bool:
        """Whether the job waits or runs."""
        return self.job is not None and self.job.state not in END_STATES

    def show(self, name: str) -> R | None:
        """Return the value; without one, draw the job's state and return None.

        A running job shows its progress and Cancel, a failed one its error, a cancelled one a button that
        starts it again. `name` is unique on the page.
        """
        job = self.job
        if self.value is not None or job is None:
            return self.value
        if job.error is not None:
            st.error(describe(job.error), icon=":material/error:")
        elif job.state == "cancelled":
            message = _("**{name}**: cancelled.").format(name=plain(job.title))
            offer(job.page_jobs, job.key, message, _("Start again"), f"again-{name}")
        else:
            progress_bar(job.page_jobs, [job.key], name)
        return None


def ask(
    key: Key,
    title: str,
    work: Callable[[Progress], R],
    *,
    pressed: bool | None = None,
    patience: float = BAR_AFTER_S,
    shared: bool = False,
    kind: Kind = "work",
    stop: Event | None = None,
    size: int = 0,
) -> Pending[R]:
    """The result of `key`, or the job that makes it.

    title       the job's name on the page
    work        returns the result; its argument is called with the share done, and raises once the job is
                unwanted
    pressed     True: the button was pressed just now, which starts the job even after a failure or a cancel;
                False: only look; None: start it without a button, once
    patience    seconds to wait for a short job before the page shows a bar
    shared      keep the result for all sessions; otherwise a session keeps the newest for each `key.kind`
    kind, stop, size  see `Job`
    """
    jobs, results = _jobs(), store.shared()
    request(key)
    # The job before the store, in this order: a job that is done by now has its result there, unless the
    # result was evicted since. Asked the other way round, a job that ends in between would look evicted.
    last_job = jobs.get(key)
    value = results.get(key) if shared else None
    if value is None and pressed is not False:
        # Only a press begins a failed or cancelled job again; else each run of the page would.
        evicted = shared and last_job is not None and last_job.state == "done"
        restart_states: Collection[State] = (
            END_STATES if pressed else ("reader_gone", "done") if evicted else ("reader_gone",)
        )
        job_work = partial(_store_result, key, work) if shared else work
        jobs.ask(key, title, job_work, restart_states=restart_states, kind=kind, stop=stop, size=size)
        jobs.wait([key], patience)
    job = jobs.get(key)
    if value is None and job is not None and job.state == "done":
        value = results.get(key) if shared else job.result
        if not shared:
            # One result for each kind: a reader who moves a slider asks for many, and looks at the last.
            newest = st.session_state.setdefault(_NEWEST, {})
            if newest.get(key.kind, key) != key:
                jobs.forget([newest[key.kind]])
            newest[key.kind] = key
    return Pending(value, job)


def request(*keys: Key) -> None:
    """Keep these jobs, which the part of the page has started without `ask`."""
    if context := _page_context.get():
        context.requested[context.name].update(keys)


def _store_result(key: Key, work: Callable[[Progress], R], progress: Progress) -> R:
    """The result of `work`, which goes into the shared store, unless another session has put one there."""
    if (stored := store.shared().get(key)) is not None:
        return cast(R, stored)
    result = work(progress)
    # Two sessions may have begun the same work: `put` decides whose result stays.
    # A job that a reader has stopped returns a shorter text's result, which has another key.
    return store.shared().put(getattr(result, "key", key), result, getattr(result, "folder", None))


@dataclass
class _PageContext:
    page: str
    name: str
    requested: dict[str, set[Key]]  # by the names of parts


_page_context: ContextVar[_PageContext | None] = ContextVar("page_context", default=None)


@contextmanager
def working(page: str, name: str = "") -> Iterator[None]:
    """The context in which a page, or a fragment `name` of it, asks for jobs.

    At the end, jobs that the last run asked for and this one doesn't are dropped. A run that is cut off drops
    none: the missing asks may have come later in it.
    """
    outer_context, requested_key = _page_context.get(), f"{_REQUESTED}.{page}"
    # A run of the page collects all keys anew. A fragment runs without the page: it replaces its own keys and
    # keeps those of the other parts, whose jobs it must not drop.
    requested = (
        outer_context.requested
        if outer_context
        else {}
        if name == ""
        else dict(st.session_state.get(requested_key, {}))
    )
    requested[name] = set()
    token = _page_context.set(_PageContext(page, name, requested))
    try:
        yield
        if outer_context is None:
            st.session_state[requested_key] = requested
            _jobs().retain(set[Hashable]().union(*requested.values()))
    finally:
        _page_context.reset(token)


def _jobs() -> Jobs:
    context = _page_context.get()
    return of_session(context.page if context else "shell")

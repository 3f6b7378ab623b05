"""Jobs in background threads: one at a time for each page of a session, the smallest first (`Slots`).

A job's work is a function of a progress callback. Each call of the callback checks that the job is still
wanted and its reader present, and raises Cancelled otherwise.

Threads are daemons, not those of `concurrent.futures`: Python joins the latter at exit, so Ctrl-C would wait
for the job.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rnnviz.errors import RnnvizError
from rnnviz.networks import threads
from rnnviz.networks.progress import Cancelled, Progress, Share
from rnnviz.ui.jobs import store

log = logging.getLogger("rnnviz")

Kind = Literal["work", "trial", "download", "glance"]
State = Literal["waiting", "running", "done", "failed", "cancelled", "reader_gone"]
# A page asks for its jobs at every run, so a failed or cancelled one must not begin again by itself. A job
# that stopped because its reader was away does: the page asks again only once the reader is back.
END_STATES: tuple[State, ...] = ("done", "failed", "cancelled", "reader_gone")
RESTARTED_STATES: tuple[State, ...] = ("reader_gone",)
QUEUED_KINDS = ("work", "trial")  # kinds that wait for one of `Slots`
# Seconds until an absent browser's jobs stop: a network may falter.
ABSENCE_GRACE_S = 5.0
# Ended jobs that a page remembers: each keeps its result in memory.
MAX_ENDED_JOBS = 500

Work = Callable[[Progress], Any]


@dataclass(eq=False)
class Job:
    """A job.

    title  its name on the page: a file or a model
    size   of its work, such as a text's bytes: of waiting jobs the smallest comes first
    work   returns the result, and calls its argument with the share done, which raises Cancelled once the job
           is unwanted. An ended job drops `work`, and so the file that it refers to.
    stop   an event that ends the job early, with its result so far; None: it can't
    state  "reader_gone": stopped because the reader was away
    began  when it got a thread, by time.monotonic(); 0.0 before
    """

    key: Hashable
    title: str
    work: Work | None = field(repr=False)
    page_jobs: Jobs = field(repr=False)
    kind: Kind = "work"
    stop: threading.Event | None = None
    size: int = 0
    state: State = "waiting"
    share: Share = field(default=Share(0.0))
    began: float = 0.0
    result: Any = None
    error: Exception | None = None

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began if self.began else 0.0

    def end(self, state: State, result: Any = None, error: Exception | None = None) -> None:
        """End the job for its callers, unless it has ended before; its thread may go on for a moment."""
        if self.state not in END_STATES:
            self.state, self.result, self.error, self.work = state, result, error, None

    def is_over(self) -> bool:
        """Whether the job has ended. Ends it first if its reader has left."""
        if not self.page_jobs.alive():
            self.end("reader_gone")
        return self.state in END_STATES


class Slots:
    """The queue of all sessions' jobs, and the places at the processor.

    count      jobs at work at a time, of the kinds in QUEUED_KINDS. A download takes no slot; nor does a
               glance, which ends within a second.
    exclusive  kinds of which one job at most is at work
    on_change  called with the number of slots taken, whenever it changes

    The smallest job comes first, then the oldest: a glance at a short text waits for no long one.
    """

    def __init__(
        self,
        count: int,
        exclusive: Collection[str] = (),
        on_change: Callable[[int], None] = lambda taken: None,
    ) -> None:
        self.count, self._exclusive, self._on_change = count, exclusive, on_change
        self.changed = threading.Condition()
        """The lock of all jobs' state, a condition: notified whenever a job begins or ends."""
        self._jobs: list[Job] = []  # waiting ones in the order of the queue, and those at work

    def add(self, job: Job) -> None:
        """Queue a job; it begins once there is a place and its page has no other at work."""
        with self.changed:
            self._jobs.append(job)
            self.begin_next_jobs()

    def at_work(self) -> list[Job]:
        """The jobs with a thread; a cancelled one has it until its next report."""
        return [job for job in self._jobs if job.began]

    def jobs_ahead(self, job: Job) -> int | None:
        """The number of jobs before this one in the queue; None if it isn't in it."""
        with self.changed:
            order = self._prune_queue()
            return order.index(job) if job in order else None

    def _in_slots(self) -> list[Job]:
        return [job for job in self.at_work() if job.kind in QUEUED_KINDS]

    def _prune_queue(self) -> list[Job]:
        """Remove waiting jobs that have ended; return the next job of each page without one at work."""
        for job in self._jobs[:]:
            if not job.began and job.is_over():
                self._jobs.remove(job)
        # Fair between pages: each has one job here, so fifty texts on one page don't keep others waiting.
        # Jobs at work come first, which takes their pages out of the queue. `sorted` is stable: jobs of one
        # size keep the order in which they were asked for.
        next_ones: dict[Jobs, Job] = {}
        for job in (*self.at_work(), *sorted(self._jobs, key=lambda job: job.size)):
            next_ones.setdefault(job.page_jobs, job)
        return [job for job in next_ones.values() if not job.began]

    def _next(self) -> Job | None:
        kinds = [job.kind for job in self._in_slots()]
        busy = QUEUED_KINDS if len(kinds) >= self.count else set(kinds) & set(self._exclusive)
        # A job that must wait for its kind is passed over, so that a download behind it begins at once.
        return next((job for job in self._prune_queue() if job.kind not in busy), None)

    def begin_next_jobs(self) -> None:
        """Begin every job that has a place, and notify the waiting threads. The caller holds the lock."""
        while (job := self._next()) is not None:
            # Before the thread starts: `_next` counts the job as at work by `began`.
            job.state, job.began = "running", time.monotonic()
            self._on_change(len(self._in_slots()))
            try:
                threading.Thread(target=self._run, args=(job,), name="rnnviz-jobs", daemon=True).start()
            except RuntimeError as error:  # the system has no thread left: the job fails and frees its place
                job.end("failed", error=error)
                self._jobs.remove(job)
                self._on_change(len(self._in_slots()))  # others may use its threads again
        self.changed.notify_all()

    def _run(self, job: Job) -> None:
        state: State = "done"
        result, error = None, None
        try:
            result = _run_work(job)
        except Cancelled:
            state = "cancelled"
        except BaseException as raised:  # even a Rust library's panic must free the place
            state, error = "failed", raised if isinstance(raised, Exception) else RuntimeError(repr(raised))
            if not isinstance(raised, RnnvizError):
                log.error("%s failed", job.title, exc_info=raised)
            raised.__traceback__ = None  # its frames would keep the job's text in memory
        with self.changed:
            job.end(state, result, error)
            self.changed.notify_all()
        # The page has its result by now, but the slot is free only when the system has the job's memory back:
        # the next job brings a text of its own.
        try:
            store.give_back_memory()
        finally:
            with self.changed:
                self._jobs.remove(job)
                self._on_change(len(self._in_slots()))
                self.begin_next_jobs()


@cache
def shared() -> Slots:
    """The server's places: half as many as it has cores; the other half serves the pages.

    A job alone uses several cores' threads, several jobs use one each (`threads.share`). Trials run one at a
    time: each measures a recipe's speed, which another trial would distort.
    """
    return Slots(max(1, (os.cpu_count() or 1) // 2), ("trial",), threads.share)


class Jobs:
    """The jobs of one page of one session.

    alive  whether the reader is still there, asked from any thread
    slots  the queue of all sessions; None: one place for these jobs alone
    """

    def __init__(self, alive: Callable[[], bool] = lambda: True, slots: Slots | None = None) -> None:
        self.alive = alive
        self.slots = slots or Slots(1)
        self._changed = self.slots.changed
        self._jobs: dict[Hashable, Job] = {}

    def get(self, key: Hashable) -> Job | None:
        """The job of this key, in any state."""
        return self._jobs.get(key)

    def ask(
        self,
        key: Hashable,
        title: str,
        work: Work,
        *,
        restart_states: Collection[State] = RESTARTED_STATES,
        kind: Kind = "work",
        stop: threading.Event | None = None,
        size: int = 0,
    ) -> Job:
        """The job of this key. A new one is queued if there is none, or if it ended in one of
        `restart_states`.
        """
        with self._changed:
            job = self._jobs.get(key)
            if job is None or job.state in restart_states:
                job = self._jobs[key] = Job(key, title, work, self, kind, stop, size)
                for old in [k for k, j in self._jobs.items() if j.state in END_STATES][:-MAX_ENDED_JOBS]:
                    del self._jobs[old]
                self.slots.add(job)
            return job

    def busy(self, keys: Iterable[Hashable] | None = None) -> list[Job]:
        """The waiting and running jobs of these keys; None: of all."""
        with self._changed:
            chosen = list(self._jobs.values()) if keys is None else [self._jobs.get(k) for k in keys]
        return [job for job in chosen if job is not None and job.state not in END_STATES]

    def cancel(self, keys: Iterable[Hashable]) -> None:
        """End these jobs for their callers at once; a running one's thread stops at its next report."""
        with self._changed:
            for job in self.busy(keys):
                job.end("cancelled")
            self.slots.begin_next_jobs()  # a cancelled job may have blocked its page's next one

    def forget(self, keys: Iterable[Hashable]) -> None:
        """Cancel these jobs and remove them, with their results."""
        keys = list(keys)
        with self._changed:
            self.cancel(keys)
            for key in keys:
                self._jobs.pop(key, None)

    def retain(self, keys: Iterable[Hashable]) -> None:
        """Cancel and remove the waiting and running jobs whose keys are not among these."""
        retained = set(keys)
        self.forget([job.key for job in self.busy() if job.key not in retained])

    def wait(self, keys: Iterable[Hashable], timeout: float) -> bool:
        """Wait until all these jobs have ended, for at most `timeout` seconds; returns whether they have."""
        keys = list(keys)
        with self._changed:
            return self._changed.wait_for(lambda: not self.busy(keys), timeout)

    def wait_until_idle(self, timeout: float) -> bool:
        """Wait until no thread works on these jobs, at most `timeout` seconds; returns whether none does."""
        with self._changed:
            at_work = self.slots.at_work
            return self._changed.wait_for(
                lambda: all(job.page_jobs is not self for job in at_work()), timeout
            )


def _run_work(job: Job) -> Any:
    """Do a job's work and return its result. Raises Cancelled once the job is unwanted."""

    def progress(share: Share) -> None:
        job.share = share
        if job.is_over():
            raise Cancelled

    # The work refers to a whole file. From here on the job doesn't, however long a page remembers it.
    work, job.work = job.work, None
    progress(Share(0.0))
    assert work is not None  # only an ended job has none, and for that `progress` has raised
    return work(progress)


def session_id() -> str:
    """The id of the session that runs the script; "" outside of a run."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def of_session(page: str) -> Jobs:
    """This session's jobs on one of the app's pages."""
    key = f"{page}.jobs"
    if key not in st.session_state:
        st.session_state[key] = Jobs(_presence_check(), shared())
    jobs: Jobs = st.session_state[key]
    return jobs


def _presence_check() -> Callable[[], bool]:
    """A function that says whether this session has a browser, from any thread; without a server, always."""
    session = session_id()
    if not session or not runtime.exists():
        return lambda: True
    # When the browser was first found absent. Reports, which ask for it, may be far apart: a grace counted
    # from the last presence could be over at the first absence.
    absent_since: float | None = None

    def is_present() -> bool:
        nonlocal absent_since
        if runtime.exists() and runtime.get_instance().is_active_session(session):
            absent_since = None
            return True
        absent_since = absent_since or time.monotonic()
        return time.monotonic() - absent_since <= ABSENCE_GRACE_S

    return is_present

"""Work in the background: of each session and page one job at a time, in the order asked for; sessions take
turns (`Slots`). A job is a generator that yields its progress and returns its result; at each step its thread
checks whether it is still wanted and its reader present. Threads are daemons of our own: Python waits for
those of `concurrent.futures` before it exits, so Ctrl-C would wait for the job.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Generator, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit import runtime

from rnnviz.errors import RnnvizError
from rnnviz.networks import threads
from rnnviz.ui.hosting import permissions, user
from rnnviz.ui.jobs import free_memory

log = logging.getLogger("rnnviz")

Kind = Literal["work", "trial", "download", "glance"]
State = Literal["waiting", "running", "done", "failed", "cancelled", "left"]
OVER: tuple[State, ...] = ("done", "failed", "cancelled", "left")
LEFT: tuple[State, ...] = ("left",)
TURNS = ("work", "trial")  # kinds that wait for a place at the processor
GRACE = 5.0  # seconds a browser may be away, as when its network falters, before its work stops
FINISHED = 500  # jobs remembered after their end

R = TypeVar("R")


class Cancelled(Exception):
    """Raised inside a job whose result is no longer wanted."""


@dataclass(frozen=True)
class Step:
    """A job's progress: a share from 0 to 1, characters done, and the perplexity so far if it has one."""

    fraction: float
    characters: int = 0
    perplexity: float | None = None


Check = Callable[[], None]
Steps = Generator[Step, None, R]
Make = Callable[[Check], Steps[Any]]


@dataclass(eq=False)
class Job:
    """One piece of work on `title`, a file or a model. `make` starts it and is given a function that raises
    Cancelled once the job is unwanted, for work that can't yield. State "left": stopped because its reader
    was away. A job that is over drops `make`, and so the file it was to read. Where it has a `stop`,
    that ends it early, with what it has found so far.
    """

    key: Hashable
    title: str
    make: Make | None = field(repr=False)
    of: Jobs = field(repr=False)
    kind: Kind = "work"
    stop: threading.Event | None = None
    state: State = "waiting"
    step: Step = Step(0.0)
    began: float = 0.0
    result: Any = None
    error: Exception | None = None

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began if self.began else 0.0

    def end(self, state: State, result: Any = None, error: Exception | None = None) -> None:
        """It is over for those who asked, unless it was before."""
        if self.state not in OVER:
            self.state, self.result, self.error, self.make = state, result, error, None

    def is_over(self) -> bool:
        """Whether nobody waits for it any more; so it is once its reader has left."""
        if not self.of.alive():
            self.end("left")
        return self.state in OVER


class Slots:
    """How many jobs are at work at a time, of all sessions together, and who is next: the lecturer of a
    hosted app, then who has the fewest at work, then who came first. As a page's next job goes to the end of
    the queue when one is over, one reader's many files don't keep another waiting.

    There are so many `places`, of which each kind in `alone` takes one at most. A download, and a glance,
    which is over within a second, take none. `computing` hears how many are taken.
    """

    def __init__(
        self,
        places: int,
        alone: Collection[str] = (),
        computing: Callable[[int], None] = lambda taken: None,
    ) -> None:
        self.places, self._alone, self._say = places, alone, computing
        self.changed = threading.Condition()
        """The lock of the state of all jobs; told whenever one begins or ends."""
        self._jobs: list[Job] = []  # that wait, in the order in which they came, and those at work

    def add(self, job: Job) -> None:
        """Begin a job once it has a place, and its page no other at work."""
        with self.changed:
            self._jobs.append(job)
            self.begin()

    def at_work(self) -> list[Job]:
        """The jobs that have a thread, unwanted ones too until they notice it."""
        return [job for job in self._jobs if job.began]

    def before(self, job: Job) -> int | None:
        """How many that wait will have a place before this one; None if it isn't waiting for one."""
        with self.changed:
            order = self._queue()
            return order.index(job) if job in order else None

    def _placed(self) -> list[Job]:
        return [job for job in self.at_work() if job.kind in TURNS]

    def _queue(self) -> list[Job]:
        """The next job of each page that has none at work, in the order of their turns."""
        for job in self._jobs[:]:
            if not job.began and job.is_over():
                self._jobs.remove(job)
        next_ones: dict[Jobs, Job] = {}
        for job in (*self.at_work(), *self._jobs):
            next_ones.setdefault(job.of, job)
        owners = [job.of.owner for job in self._placed()]
        waiting = [job for job in next_ones.values() if not job.began]
        return sorted(waiting, key=lambda job: (not job.of.first, owners.count(job.of.owner)))

    def _next(self) -> Job | None:
        placed = [job.kind for job in self._placed()]
        busy = TURNS if len(placed) >= self.places else set(placed) & set(self._alone)
        return next((job for job in self._queue() if job.kind not in busy), None)

    def begin(self) -> None:
        """Begin what has a place by now, and tell that something may have changed."""
        while (job := self._next()) is not None:
            job.state, job.began = "running", time.monotonic()
            self._say(len(self._placed()))
            try:
                threading.Thread(target=self._run, args=(job,), name="rnnviz-jobs", daemon=True).start()
            except RuntimeError as error:  # the system has no thread left; the place is for the next
                job.end("failed", error=error)
                self._jobs.remove(job)
        self.changed.notify_all()

    def _run(self, job: Job) -> None:
        state: State = "done"
        result, error = None, None
        try:
            result = _finish(job)
        except Cancelled:
            state = "cancelled"
        except BaseException as raised:  # a library's panic, say: the place is given back all the same
            state, error = "failed", raised if isinstance(raised, Exception) else RuntimeError(repr(raised))
            if not isinstance(raised, RnnvizError):
                log.error("%s failed", job.title, exc_info=raised)
            raised.__traceback__ = None  # its frames would hold on to what the job read
        with self.changed:
            job.end(state, result, error)
            self.changed.notify_all()
        try:
            free_memory.give_back()
        finally:
            with self.changed:
                self._jobs.remove(job)
                self._jobs.sort(key=lambda other: other.of is job.of)
                self._say(len(self._placed()))
                self.begin()


@cache
def shared() -> Slots:
    """The server's places: half as many as it has cores, so that the pages have the others. One job alone may
    use more than one, several take one each. A trial of a recipe's speed would measure another trial.
    """
    return Slots(max(1, (os.cpu_count() or 1) // 2), ("trial",), threads.share)


class Jobs:
    """The jobs of one page of one session. `alive` says whether its reader is still there; `places` whose
    turn it is, of all sessions; the `owner` is the session, or a visitor with all of theirs; `first` whether
    their turns come before those of others.
    """

    def __init__(
        self,
        alive: Callable[[], bool] = lambda: True,
        places: Slots | None = None,
        owner: Hashable = None,
        first: bool = True,
    ) -> None:
        self.alive, self.owner, self.first = alive, owner, first
        self.places = places or Slots(1)
        self._changed = self.places.changed
        self._jobs: dict[Hashable, Job] = {}

    def get(self, key: Hashable) -> Job | None:
        """The job of this key, in any state."""
        return self._jobs.get(key)

    def ask(
        self,
        key: Hashable,
        title: str,
        make: Make,
        *,
        again: Collection[State] = LEFT,
        kind: Kind = "work",
        stop: threading.Event | None = None,
    ) -> Job:
        """The job of this key, started if there is none or if it ended in a state among `again`."""
        with self._changed:
            job = self._jobs.get(key)
            if job is None or job.state in again:
                job = self._jobs[key] = Job(key, title, make, self, kind, stop)
                for old in [k for k, j in self._jobs.items() if j.state in OVER][:-FINISHED]:
                    del self._jobs[old]
                self.places.add(job)
            return job

    def busy(self, keys: Iterable[Hashable] | None = None) -> list[Job]:
        """The jobs, of these keys or all, that are waiting or running."""
        with self._changed:
            chosen = list(self._jobs.values()) if keys is None else [self._jobs.get(k) for k in keys]
        return [job for job in chosen if job is not None and job.state not in OVER]

    def cancel(self, keys: Iterable[Hashable]) -> None:
        """End these jobs for their callers at once; what is at work stops at its next step."""
        with self._changed:
            for job in self.busy(keys):
                job.end("cancelled")
            self.places.begin()  # what stood behind one that waited

    def forget(self, keys: Iterable[Hashable]) -> None:
        """Drop these jobs, as if never asked for."""
        keys = list(keys)
        with self._changed:
            self.cancel(keys)
            for key in keys:
                self._jobs.pop(key, None)

    def retain(self, keys: Iterable[Hashable]) -> None:
        """Drop the waiting and running jobs that are not among these: nobody will look at them."""
        wanted = set(keys)
        self.forget([job.key for job in self.busy() if job.key not in wanted])

    def wait(self, keys: Iterable[Hashable], timeout: float) -> bool:
        """Whether all these are over, after at most `timeout` seconds."""
        keys = list(keys)
        with self._changed:
            return self._changed.wait_for(lambda: not self.busy(keys), timeout)

    def stopped(self, timeout: float) -> bool:
        """Whether nothing of it is at work any more, after at most `timeout` seconds."""
        with self._changed:
            at_work = self.places.at_work
            return self._changed.wait_for(lambda: all(job.of is not self for job in at_work()), timeout)


def _finish(job: Job) -> Any:
    """What a job returns. Raises Cancelled once nobody waits for it."""

    def check() -> None:
        if job.is_over():
            raise Cancelled

    make, job.make = job.make, None
    check()
    assert make is not None  # whoever cancels it has said so first
    steps = make(check)
    try:
        while True:
            job.step = next(steps)
            check()
    except StopIteration as end:
        return end.value
    finally:
        steps.close()


def of_session(page: str) -> Jobs:
    """This session's jobs on one of the app's pages."""
    key = f"{page}.jobs"
    if key not in st.session_state:
        owner = permissions.whose() or user.session() or None
        st.session_state[key] = Jobs(_presence(), shared(), owner, permissions.everything())
    jobs: Jobs = st.session_state[key]
    return jobs


def _presence() -> Callable[[], bool]:
    """Whether this session has a browser, asked from any thread; always true without a server."""
    session = user.session()
    if not session or not runtime.exists():
        return lambda: True
    missing: float | None = None  # since when: nobody may have asked for long before

    def there() -> bool:
        nonlocal missing
        if runtime.exists() and runtime.get_instance().is_active_session(session):
            missing = None
            return True
        missing = missing or time.monotonic()
        return time.monotonic() - missing <= GRACE

    return there

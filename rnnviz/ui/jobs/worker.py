"""Work in the background: one worker per session and page, one job at a time, in the order asked for;
workers take turns (`Slots`). A job is a generator that yields its progress and returns its result; at each
step the worker checks whether it is still wanted and its reader present. The worker is a daemon thread of
our own: Python waits for those of `concurrent.futures` before it exits, so Ctrl-C would wait for the job.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit import runtime

from rnnviz.errors import RnnvizError
from rnnviz.networks import threads
from rnnviz.ui.hosting import allowed, person
from rnnviz.ui.jobs import memory
from rnnviz.ui.jobs.store import Key

log = logging.getLogger("rnnviz")

Kind = Literal["work", "trial", "download", "glance"]
State = Literal["waiting", "running", "done", "failed", "cancelled", "left"]
OVER: tuple[State, ...] = ("done", "failed", "cancelled", "left")
LEFT: tuple[State, ...] = ("left",)
TURNS = ("work", "trial")  # kinds that wait for a place at the processor
GRACE = 5.0  # seconds a browser may be away, as when its network falters, before its work stops
FINISHED = 500  # jobs remembered after their end
LOOK = 0.2  # seconds between two looks whether a waiting job is still wanted
SHARE = 0.05  # of a job that must be done before its pace counts: what comes first takes longer, or no time
WORKS = 1000  # kinds of work whose pace is remembered, at most

P = TypeVar("P")
R = TypeVar("R")


class Cancelled(Exception):
    """Raised inside a job whose result is no longer wanted."""


class _Left(Exception):
    """The reader has left."""


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
    was away. Its text has `size` bytes or characters, 0 if unknown. A job that is over drops `make`, and so
    the file it was to read. A download, and a glance, which is over within a second, have no need to wait for
    the processor's turn; others wait by their `owner`, a session or a visitor with all of theirs, and those
    that are `first` before the others.
    """

    key: Hashable
    title: str
    make: Make | None = field(repr=False)
    kind: Kind = "work"
    size: int = 0
    owner: Hashable = None
    first: bool = True
    state: State = "waiting"
    step: Step = Step(0.0)
    began: float = 0.0
    result: Any = None
    error: Exception | None = None
    unwanted: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began if self.began else 0.0

    @property
    def work(self) -> Hashable:
        """What is done, on whatever text."""
        return replace(self.key, text="") if isinstance(self.key, Key) else self.key

    @property
    def pace(self) -> float | None:
        """Seconds a byte or character so far; None before there is enough to tell."""
        done = self.step.fraction * self.size
        return self.seconds / done if self.began and done and self.step.fraction >= SHARE else None


class Slots:
    """How many jobs are at work at a time, of all sessions together, and who is next: the lecturer of a
    hosted app, then who has the fewest at work, then who came first. As a session asks for its next turn when
    a job is over, one reader's many files don't keep another waiting.

    There are so many `places`, of which each kind in `alone` takes one at most. `changed` hears how many are
    at work.
    """

    def __init__(
        self,
        places: int,
        alone: Collection[str] = (),
        changed: Callable[[int], None] = lambda working: None,
    ) -> None:
        self.places, self._alone, self._say = places, alone, changed
        self._waiting: list[Job] = []
        self._working: list[Job] = []
        self._paces: dict[Hashable, float] = {}  # of the last job of each kind of work
        self._changed = threading.Condition()

    @contextmanager
    def taking(self, job: Job, check: Check) -> Iterator[None]:
        """A place while this is open. Waits for it, and raises what `check` raises meanwhile."""
        with self._changed:
            self._waiting.append(job)
        try:
            while not self._taken(job):
                check()
            yield
        finally:
            with self._changed:
                if (pace := job.pace) is not None:
                    if len(self._paces) >= WORKS:
                        self._paces.clear()
                    self._paces[job.work] = pace
                (self._working if job in self._working else self._waiting).remove(job)
                self._say(len(self._working))
                self._changed.notify_all()

    def before(self, job: Job) -> int | None:
        """How many that wait will have a place before this one; None if it isn't waiting for one."""
        with self._changed:
            order = self._order()
            return order.index(job) if job in order else None

    def seconds(self, job: Job) -> float | None:
        """How long it will wait, at the pace that such work had here; None where nothing like it was
        measured yet.
        """
        with self._changed:
            order, left = self._order(), 0.0
            if job not in order:
                return None
            paces = self._paces | {one.work: pace for one in self._working if (pace := one.pace)}
            for one in (*self._working, *order[: order.index(job)]):
                pace = paces.get(one.work)
                if pace is None or not one.size:
                    return None
                left += pace * one.size * max(0.0, 1 - one.step.fraction)
            return left / self.places

    def _taken(self, job: Job) -> bool:
        with self._changed:
            if not self._changed.wait_for(lambda: self._next() is job, LOOK):
                return False
            self._waiting.remove(job)
            self._working.append(job)
            self._say(len(self._working))
            self._changed.notify_all()  # there may be a place for another one
            return True

    def _next(self) -> Job | None:
        if len(self._working) >= self.places:
            return None
        busy = {job.kind for job in self._working} & set(self._alone)
        return next((job for job in self._order() if job.kind not in busy), None)

    def _order(self) -> list[Job]:
        owners = [job.owner for job in self._working]
        return sorted(self._waiting, key=lambda job: (not job.first, owners.count(job.owner)))


@cache
def shared() -> Slots:
    """The server's places: half as many as it has cores, so that the pages have the others. One job alone may
    use more than one, several take one each. A trial of a recipe's speed would measure another trial.
    """
    return Slots(max(1, (os.cpu_count() or 1) // 2), ("trial",), threads.share)


class Jobs:
    """The jobs of one session, or of a visitor's several, the `owner`. `alive` says whether its reader is
    still there; `places` whose turn it is, of all sessions; `first` whether their turns come before those of
    others.
    """

    def __init__(
        self,
        alive: Callable[[], bool] = lambda: True,
        places: Slots | None = None,
        owner: Hashable = None,
        first: bool = True,
    ) -> None:
        self._jobs: dict[Hashable, Job] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._alive, self._places, self._owner = alive, places or Slots(1), owner
        self._first = first

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
        size: int = 0,
    ) -> Job:
        """The job of this key, started if there is none or if it ended in a state among `again`."""
        with self._changed:
            job = self._jobs.get(key)
            if job is None or job.state in again:
                job = self._jobs[key] = Job(key, title, make, kind, size, self._owner, self._first)
                for old in [k for k, j in self._jobs.items() if j.state in OVER][:-FINISHED]:
                    del self._jobs[old]
                if self._thread is None:
                    self._thread = threading.Thread(target=self._work, name="rnnviz-jobs", daemon=True)
                    self._thread.start()
            return job

    def busy(self, keys: Iterable[Hashable] | None = None) -> list[Job]:
        """The jobs, of these keys or all, that are waiting or running."""
        with self._changed:
            chosen = list(self._jobs.values()) if keys is None else [self._jobs.get(k) for k in keys]
        return [job for job in chosen if job is not None and job.state not in OVER]

    def before(self, job: Job) -> int | None:
        """How many jobs of other sessions come before this one; None if it isn't waiting for them."""
        return self._places.before(job)

    def seconds(self, job: Job) -> float | None:
        """How long they will take, by what was measured; None where that isn't known."""
        return self._places.seconds(job)

    def cancel(self, keys: Iterable[Hashable]) -> None:
        """End these jobs for their callers at once; the worker drops a running one at its next step."""
        with self._changed:
            for job in self.busy(keys):
                job.state, job.make = "cancelled", None
                job.unwanted.set()
            self._changed.notify_all()

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
        """Whether the worker has ended, after at most `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self._thread is None, timeout)

    def _work(self) -> None:
        while True:
            with self._changed:
                job = next((j for j in self._jobs.values() if j.state == "waiting"), None)
                if job is None:
                    self._thread = None
                    self._changed.notify_all()
                    return
            self._run(job)
            memory.give_back()

    def _check(self, job: Job) -> None:
        if job.unwanted.is_set():
            raise Cancelled
        if not self._alive():
            raise _Left

    def _run(self, job: Job) -> None:
        state: State = "done"
        result, error, check = None, None, partial(self._check, job)
        try:
            with self._places.taking(job, check) if job.kind in TURNS else nullcontext():
                result = _finish(job, self._begin(job), check)
        except Cancelled:
            state = "cancelled"
        except _Left:
            state = "left"
        except Exception as raised:
            state, error = "failed", raised
            if not isinstance(raised, RnnvizError):
                log.error("%s failed", job.title, exc_info=raised)
            raised.__traceback__ = None  # its frames would hold on to what the job read
        with self._changed:
            if job.state not in OVER:
                job.result, job.error, job.state, job.make = result, error, state, None
                if state == "left":  # nobody will look at the others either
                    for other in self.busy():
                        other.state, other.make = "left", None
            self._changed.notify_all()

    def _begin(self, job: Job) -> Make:
        with self._changed:
            make, job.make = job.make, None
            if make is None:  # it was cancelled just now
                raise Cancelled
            job.state, job.began = "running", time.monotonic()
            return make


def _finish(job: Job, make: Make, check: Check) -> Any:
    check()
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
        owner = allowed.whose() or person.session() or None
        st.session_state[key] = Jobs(_presence(), shared(), owner, allowed.everything())
    jobs: Jobs = st.session_state[key]
    return jobs


def _presence() -> Callable[[], bool]:
    """Whether this session has a browser, asked from any thread; always true without a server."""
    session = person.session()
    if not session or not runtime.exists():
        return lambda: True
    seen = time.monotonic()

    def there() -> bool:
        nonlocal seen
        now = time.monotonic()
        if runtime.exists() and runtime.get_instance().is_active_session(session):
            seen = now
        return now - seen <= GRACE

    return there

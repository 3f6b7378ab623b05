"""Results that take a while. A page asks for one in a line, wherever it needs it.

    found = ask(Key("probe", checksum(text), (mark, layer)), _("Probing"), make)
    if (probe := found.show("probe")) is not None: ...

`ask` returns a kept result; otherwise it starts a job of the session, waits a moment and looks again. A page
needs no list of its jobs: a job that the next run doesn't ask for again is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Generic, TypeVar, cast

import streamlit as st

from rnnviz.i18n import _
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import OVER, Check, Job, Jobs, Kind, Make, State, Steps, of_session
from rnnviz.ui.shell.error_messages import describe, plain

R = TypeVar("R")
PATIENCE = 0.3  # seconds that a page waits for short work before it shows a bar
# Keys of st.session_state: the job keys that a page's parts want, and the newest result's key by `Key.what`.
_WANTED, _NEWEST = "pending.wanted", "pending.newest"


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
        return self.job is not None and self.job.state not in OVER

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
            said = _("**{name}**: cancelled.").format(name=plain(job.title))
            progress.offer(job.of, job.key, said, _("Start again"), f"again-{name}")
        else:
            progress.bar(job.of, [job.key], name)
        return None


def ask(
    key: Key,
    title: str,
    make: Callable[[Check], Steps[R]],
    *,
    pressed: bool | None = None,
    patience: float = PATIENCE,
    shared: bool = False,
    kind: Kind = "work",
    stop: Event | None = None,
    size: int = 0,
) -> Pending[R]:
    """The result of `key`, or the job that makes it.

    title       the job's name on the page
    make        a generator function of steps; its argument is a check that raises once the job is unwanted
    pressed     True: the button was pressed just now, which starts the job even after a failure or a cancel;
                False: only look; None: start it without a button, once
    patience    seconds to wait for a short job before the page shows a bar
    shared      keep the result for all sessions; otherwise a session keeps the newest for each `key.what`
    kind, stop, size  see `Job`
    """
    jobs, kept = _jobs(), store.shared()
    want(key)
    before = jobs.get(key)  # before the store: a job done by now has its result there, unless evicted
    value = kept.get(key) if shared else None
    if value is None and pressed is not False:
        gone = shared and before is not None and before.state == "done"
        again: Collection[State] = OVER if pressed else ("left", "done") if gone else ("left",)
        work = cast(Make, partial(_keeping, key, make)) if shared else make
        jobs.ask(key, title, work, again=again, kind=kind, stop=stop, size=size)
        jobs.wait([key], patience)
    job = jobs.get(key)
    if value is None and job is not None and job.state == "done":
        value = kept.get(key) if shared else job.result
        if not shared:
            newest = st.session_state.setdefault(_NEWEST, {})
            if newest.get(key.what, key) != key:
                jobs.forget([newest[key.what]])
            newest[key.what] = key
    return Pending(value, job)


def want(*keys: Key) -> None:
    """Keep these jobs, which the part of the page has started without `ask`."""
    if part := _part.get():
        part.wanted[part.name].update(keys)


def _keeping(key: Key, make: Callable[[Check], Steps[R]], check: Check) -> Steps[R]:
    """The steps of `make`, whose result goes into the shared store; none if another session has made it."""
    if (found := store.shared().get(key)) is not None:
        return cast(R, found)
    made = yield from make(check)
    # A job that a reader has stopped returns a shorter text's result, which has another key.
    return store.shared().put(getattr(made, "key", key), made, getattr(made, "folder", None))


@dataclass
class _Part:
    page: str
    name: str
    wanted: dict[str, set[Key]]  # by the names of parts


_part: ContextVar[_Part | None] = ContextVar("part", default=None)


@contextmanager
def working(page: str, name: str = "") -> Iterator[None]:
    """The context in which a page, or a fragment `name` of it, asks for jobs.

    At the end, jobs that the last run asked for and this one doesn't are dropped. A run that is cut off drops
    none: the missing asks may have come later in it.
    """
    outer, state = _part.get(), f"{_WANTED}.{page}"
    wanted = outer.wanted if outer else {} if name == "" else dict(st.session_state.get(state, {}))
    wanted[name] = set()
    token = _part.set(_Part(page, name, wanted))
    try:
        yield
        if outer is None:
            st.session_state[state] = wanted
            _jobs().retain(set[Hashable]().union(*wanted.values()))
    finally:
        _part.reset(token)


def _jobs() -> Jobs:
    part = _part.get()
    return of_session(part.page if part else "shell")

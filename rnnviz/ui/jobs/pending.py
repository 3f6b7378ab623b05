"""Results that take a while: asked for in one line, wherever a page needs one.

    found = ask(Key("probe", checksum(text), (mark, layer)), _("Probing"), make)
    if (probe := found.show("probe")) is not None: ...

`ask` looks whether the result is kept, else has the session's worker make it, waits a moment, and looks
again. No page lists its jobs: what a part of it asked for before and doesn't ask for again is dropped.
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
from rnnviz.ui.error_messages import describe, plain
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import OVER, Check, Job, Jobs, Kind, Make, State, Steps, of_session

R = TypeVar("R")
PATIENCE = 0.3  # seconds that a page waits for short work before it shows a bar
_WANTED, _NEWEST = "pending.wanted", "pending.newest"  # of st.session_state: keys by parts of pages


@dataclass(frozen=True)
class Pending(Generic[R]):
    """A result, or why it isn't there: its `value`; or a `job` that waits, runs, failed or was cancelled; or
    neither, where nobody has pressed the button yet.
    """

    value: R | None
    job: Job | None

    @property
    def waits(self) -> bool:
        """Whether its job isn't over."""
        return self.job is not None and self.job.state not in OVER

    def show(self, name: str) -> R | None:
        """The value; else its progress with Cancel, why it failed, or that it was cancelled, with a button
        that starts it again. `name` is unique on the page.
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
) -> Pending[R]:
    """The result of this key, never None once it is there. `make` is a generator of steps, given a check that
    raises once its work is unwanted. `pressed`: whether its button was pressed just now, which starts it even
    after a failure or a cancel; False only looks; None starts it by itself, and not again after those.
    `shared` results are kept for all sessions, of others a session keeps the newest of what it is. `kind`
    and `stop` as a `Job` has them.
    """
    jobs, kept = _jobs(), store.shared()
    want(key)
    before = jobs.get(key)  # first: if it is done, its result is there, unless that had to make room
    value = kept.get(key) if shared else None
    if value is None and pressed is not False:
        gone = shared and before is not None and before.state == "done"
        again: Collection[State] = OVER if pressed else ("left", "done") if gone else ("left",)
        work = cast(Make, partial(_keeping, key, make)) if shared else make
        jobs.ask(key, title, work, again=again, kind=kind, stop=stop)
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
    """Work that this part of the page has asked the worker for by itself, and wants."""
    if part := _part.get():
        part.wanted[part.name].update(keys)


def _keeping(key: Key, make: Callable[[Check], Steps[R]], check: Check) -> Steps[R]:
    """The work, unless another session has done it meanwhile; what it returns is kept for all."""
    if (found := store.shared().get(key)) is not None:
        return cast(R, found)
    made = yield from make(check)
    # Work that a reader has stopped is another result than was asked for: it says which.
    return store.shared().put(getattr(made, "key", key), made, getattr(made, "folder", None))


@dataclass
class _Part:
    page: str
    name: str
    wanted: dict[str, set[Key]]  # by the names of parts


_part: ContextVar[_Part | None] = ContextVar("part", default=None)


@contextmanager
def working(page: str, name: str = "") -> Iterator[None]:
    """A page, or a part of it that is a fragment, asks for work in here. Work that it asked for before and
    doesn't ask for now is dropped, unless the run is cut off: then nobody knows what it would have asked for.
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

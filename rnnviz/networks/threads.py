"""Numbers of threads: the one that proves fastest on the work itself, tried again when the work slows.

Threads wait for one another at every product. Where another program uses one thread's core, all threads stand
still until it lets go: four may read a hundredth of what one reads.

Threads of rnnviz share the rows of a batch, and each computes all steps of its rows: see
`rnnviz.networks.batched_scoring`. Torch's own share each product: see `rnnviz.lab.engines.torch_threads`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

SPIN_COUNT = "30000"
"""How often a thread of libgomp looks for more work before it sleeps. libgomp's default, 300,000 times, keeps
the core from other programs."""

TRY_S, RETRY_S, WATCH_S = 0.05, 0.2, 0.5
"""Seconds of work: for the first try of a number of threads; for a later try, as threads that have just woken
up are slow; and from one look at the speed to the next."""

MIN_PAUSE_S, MAX_PAUSE_S = 10.0, 80.0
"""Seconds of work before the numbers are tried again: the first time, and at most while the choice stands."""

GOOD_SHARE = 0.97
"""The share of the best speed that is good enough: fewer threads leave more to other programs."""

HOPELESS_SHARE = 0.8
"""The share of the best speed below which no larger number is tried."""


# How a number is found. A `Threads` belongs to one kind of work, such as the batches of one scorer, and
# learns from the work itself:
#
#     trying      each number gets pieces of the work until TRY_S of it are measured, fewest threads first; a
#                 number that is much slower than the best so far ends the trial, as more would wait more
#     settled     the fewest threads that are nearly as fast as the best
#     again       when the speed falls to half (another program has come), or after a pause that doubles each
#                 time the same number wins, up to MAX_PAUSE_S
#
# The first piece on a new number is not counted: threads that have slept take a while to wake up.
def spin_briefly() -> None:
    """Make waiting threads sleep soon; takes effect if called before torch is first imported."""
    # Whoever has chosen a policy knows better.
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)


def leave_a_core() -> None:
    """Limit this process and its children to all cores but one, as a server needs a core for its pages.

    Takes effect if called before torch is first imported; OMP_NUM_THREADS, if set, wins.
    """
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores() - 1)))


def cores() -> int:
    """The number of processor cores that this process may use."""
    # A container or `taskset` may leave a process fewer cores than the machine has; macOS has no such count.
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, count or 1)


fixed = 0  # the number that all computations take, neither more nor fewer; 0 if it is free
_jobs = 1  # jobs that compute at the same time


def fix(count: int) -> None:
    """Make numpy's computations of this process take `count` threads, neither more nor fewer."""
    global fixed
    fixed = count


def share(jobs: int) -> None:
    """Set the number of jobs that compute side by side from now on; of several, each takes one thread."""
    global _jobs
    _jobs = jobs


def worth_trying_alone() -> list[int]:
    """Numbers of threads for numpy, ascending: up to all cores, or to OMP_NUM_THREADS if fewer."""
    if fixed:
        return [fixed]
    setting = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return up_to(min(cores(), int(setting)) if setting.isdecimal() and int(setting) else cores())


def up_to(count: int) -> list[int]:
    """1, 2, 4 …, all but one, and all of `most` threads, ascending."""
    return sorted({*(2**n for n in range(count.bit_length())), max(1, count - 1), count})


# BLAS has one number of threads for the whole process, and several of ours may compute at the same time. They
# all want the same limit of 1, so it is counted: the lock is held while the limit is set or lifted, not
# meanwhile.
_lock = threading.Lock()
_alone = 0  # threads inside `ours` now
_limit: Any = None  # the limit that the first of them has set


@contextmanager
def single_blas_thread(count: int) -> Iterator[None]:
    """Do each of numpy's products on the thread that asks for it; the caller starts `count` such threads.

    BLAS has one limit for all threads: the first to come sets it, and the last to leave restores it.
    """
    global _alone, _limit
    with _lock:
        if not _alone:
            _limit = _libraries().limit(limits=1, user_api="blas")
        _alone += 1
    try:
        yield
    finally:
        with _lock:
            _alone -= 1
            if not _alone:
                _limit.restore_original_limits()


def blas(count: int) -> AbstractContextManager[Any]:
    """Let `count` threads of numpy's BLAS share each product."""
    return _libraries().limit(limits=count, user_api="blas")  # type: ignore[no-any-return]


@cache
def _libraries() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController  # looks through every library that is loaded

    return ThreadpoolController()


class Threads:
    """The number of threads for one work that is done in pieces.

    Each of `counts`, ascending, is tried on the first pieces, unless their `speeds` are known. All are tried
    again when the speed falls to half, and now and then. `use` sets a number for a piece.

    >>> threads = Threads([1, 2, 3], use=blas)
    >>> while threads.trying:  # 1,000 characters a second and thread
    ...     threads.took(1000 * threads.now, 1.0)
    >>> threads.now, threads.speed
    (3, 3000.0)
    """

    def __init__(
        self,
        counts: Sequence[int],
        speeds: Mapping[int, float] | None = None,
        *,
        use: Callable[[int], AbstractContextManager[None]],
    ) -> None:
        self.counts, self.trying, self._on = counts, False, use
        self.now, self.speed, self._fresh = 0, 0.0, True
        self.speeds: dict[int, float] = dict(speeds or {})
        """The speeds last tried, by number of threads: characters, or the like, a second."""
        # Since the last look: the size done and its seconds. `_work` are all seconds, the clock of the
        # pauses.
        self._size = self._seconds = self._work = 0.0
        self._settled, self._again, self._pause = 0, 0.0, MIN_PAUSE_S
        if self.speeds:
            self._settle()
        else:
            self._try()

    @property
    def allowed(self) -> int:
        """`now`, or 1 while several jobs compute; a single given number stays."""
        return 1 if _jobs > 1 and len(self.counts) > 1 else self.now

    @contextmanager
    def piece(self, size: int | None = None) -> Iterator[None]:
        """Do a piece of the work inside the block, of `size` characters or the like; None: not timed."""
        # Read once: another thread may change the number, or the count of jobs, during the piece.
        count = self.allowed
        with self._on(count):
            began = perf_counter()
            yield
        # A piece that was done on another number than the one under trial would be put down to that one.
        if size is not None and count == self.now == self.allowed:
            self.took(size, perf_counter() - began)

    def took(self, size: float, seconds: float) -> None:
        """Take into account that a piece of `size` took `seconds` on `now` threads."""
        # Pauses are counted in seconds of work, not of the clock: an idle program tries nothing.
        self._work += seconds
        fresh, self._fresh = self._fresh, False
        if fresh and seconds < WATCH_S:  # the first piece on so many threads has to start them
            return
        self._size += size
        self._seconds += seconds
        if self._seconds < (WATCH_S if not self.trying else RETRY_S if self._settled else TRY_S):
            return
        speed = self._size / self._seconds
        self._size = self._seconds = 0.0
        if self.trying:
            self._tried(speed)
        elif len(self.counts) > 1 and (speed < self.speed / 2 or self._work > self._again):
            self._try()

    def _try(self) -> None:
        self.trying, self.speeds = True, {}
        self._use(self.counts[0])

    def _tried(self, speed: float) -> None:
        self.speeds[self.now] = speed
        larger = [count for count in self.counts if count > self.now]
        if larger and speed >= HOPELESS_SHARE * max(self.speeds.values()):
            self._use(larger[0])
        else:
            self._settle()

    def _settle(self) -> None:
        # The fewest threads among those nearly as fast: the others' cores are free for the reader's other
        # programs.
        good = GOOD_SHARE * max(self.speeds.values())
        best = min(count for count, speed in self.speeds.items() if speed >= good)
        # A choice that stands is questioned less and less; a new one soon, as it may have been a moment's.
        self._pause = min(2 * self._pause, MAX_PAUSE_S) if best == self._settled else MIN_PAUSE_S
        self._again = self._work + self._pause
        self._use(best)
        self.trying, self._settled, self.speed = False, best, self.speeds[best]

    def _use(self, count: int) -> None:
        self._fresh = count != self.now
        self.now = count
        self._size = self._seconds = 0.0

"""How a run is asked to end: SIGTERM, Ctrl-C, the file `stop` in its folder, or the end of its time. The
request raises `Stopped`; while training it lets the step finish and the state be saved. A process that the
app started exits after 1.6 seconds in any case: a step or a disk may be slow, and a user is waiting.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

from rnnviz.training.folder import RunFolder

LOOK = 0.1
"""Seconds between two looks at the file and the clock."""

PATIENCE = 1.6
"""Seconds from the request until a queued run's process ends, saved or not."""

EXIT_INTERRUPTED = 130


class Stopped(BaseException):
    """A request to end the run. No Exception, so that no handler on the way takes it for an error."""


class StopRequest:
    """Requests to end one run, heeded while open. Main thread only. `at_last` is called from another thread
    when a queued run's time is up, just before its process exits.

    seen    whether it was asked to end
    end     time.monotonic() at which it is asked by itself
    gentle  while there is one, what a request calls instead of raising Stopped; it must end the work soon
    """

    def __init__(self, folder: RunFolder, *, at_last: Callable[[], None] | None = None) -> None:
        self._folder, self._at_last = folder, at_last
        self.gentle: Callable[[], None] | None = None
        self.seen, self.end = False, math.inf

    @property
    def left(self) -> float:
        """Seconds until its time is over."""
        return self.end - time.monotonic()

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Heed requests while open."""
        before = {s: signal.signal(s, self._handle) for s in (signal.SIGINT, signal.SIGTERM)}
        over = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(over,), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            self.seen = True  # what is asked for from here on comes too late
            over.set()
            watcher.join()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _watch(self, over: threading.Event) -> None:
        # A thread of its own: the main thread hears of nothing during a long matrix product.
        while not (self.seen or self.left <= 0 or self._folder.stop.exists()):
            if over.wait(LOOK):
                return
        signal.raise_signal(signal.SIGTERM)  # so that all requests are heeded in one way, in the main thread
        if self._at_last is not None and not over.wait(PATIENCE):
            with contextlib.suppress(OSError):
                self._at_last()
            os._exit(EXIT_INTERRUPTED)

    def _handle(self, number: int, frame: object) -> None:
        if self.seen:
            if number == signal.SIGINT:  # Ctrl-C once more
                raise KeyboardInterrupt
            return
        self.seen = True
        if self.gentle is None:
            raise Stopped
        self.gentle()

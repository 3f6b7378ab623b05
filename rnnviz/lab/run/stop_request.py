"""Requests to end a run: SIGTERM, Ctrl-C, or the file `stop` in its folder.

A request raises `Stopped`; during training the step finishes and the state is saved first. A process that the
app started exits after 1.6 seconds in any case: a step or a disk may be slow, and a user is waiting.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator

from rnnviz.lab.run.folder import RunFolder

LOOK = 0.1
"""Seconds between two polls of the file."""

PATIENCE = 1.6
"""Seconds from the request until a queued run's process exits, saved or not."""

EXIT_INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""


class Stopped(BaseException):
    """A request to end the run. A BaseException, so that no handler on the way takes it for an error."""


class StopRequest:
    """Requests to end one run, heeded while open. Main thread only. `at_last` is called from another thread
    when PATIENCE is over, just before a queued run's process exits.

    seen    whether a request came
    gentle  called by a request instead of raising Stopped, if set; it must end the work soon
    """

    def __init__(self, folder: RunFolder, *, at_last: Callable[[], None] | None = None) -> None:
        self._folder, self._at_last = folder, at_last
        self.gentle: Callable[[], None] | None = None
        self.seen = False

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
            self.seen = True  # later requests come too late
            over.set()
            watcher.join()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _watch(self, over: threading.Event) -> None:
        # In a second thread, because the main thread handles no signal during a long matrix product.
        while not (self.seen or self._folder.stop.exists()):
            if over.wait(LOOK):
                return
        signal.raise_signal(signal.SIGTERM)  # one path for all requests, in the main thread
        if self._at_last is not None and not over.wait(PATIENCE):
            with contextlib.suppress(OSError):
                self._at_last()
            os._exit(EXIT_INTERRUPTED)  # at once: a hung step or disk would delay an orderly exit

    def _handle(self, number: int, frame: object) -> None:
        if self.seen:
            if number == signal.SIGINT:  # a second Ctrl-C
                raise KeyboardInterrupt
            return
        self.seen = True
        if self.gentle is None:
            raise Stopped
        self.gentle()

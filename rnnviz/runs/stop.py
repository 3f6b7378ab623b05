"""How a run is asked to end: SIGTERM, Ctrl-C, or the file `stop` in its folder. The request raises `Stopped`;
while training it lets the step finish and the state be saved. A process that the app started exits after
1.6 seconds in any case: a step or a disk may be slow, and a user is waiting.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator

from rnnviz.runs.folder import RunFolder

PATIENCE = 1.6
"""Seconds from the request until a queued run's process ends, saved or not."""

EXIT_INTERRUPTED = 130


class Stopped(BaseException):
    """A request to end the run. No Exception, so that no handler on the way takes it for an error."""


class StopRequest:
    """Requests to end one run, handled while open. Main thread only. `at_last` is called from another thread
    when a queued run's time is up, just before its process exits.
    """

    def __init__(self, folder: RunFolder, *, at_last: Callable[[], None] | None = None) -> None:
        self._folder, self._at_last = folder, at_last
        self._gentle: Callable[[], None] | None = None
        self._interrupts = 0
        self.seen = self.late = False  # late: its time was over
        self._end = math.inf

    @contextlib.contextmanager
    def taken(self) -> Iterator[StopRequest]:
        """Handle requests while open."""
        before = {s: signal.signal(s, self._handle) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            with self._watched() if self._at_last is not None else contextlib.nullcontext():
                yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def gently(self, ask: Callable[[], None]) -> Iterator[None]:
        """While open, a request calls `ask`, which must end the block soon."""
        self._gentle = ask
        try:
            self.check()
            yield
        finally:
            self._gentle = None

    @contextlib.contextmanager
    def within(self, seconds: float | None) -> Iterator[None]:
        """While open, ask for the end, as Stop does, when so many seconds are over; None for no end."""
        if seconds is None:
            yield
            return
        self._end = time.monotonic() + seconds
        timer = threading.Timer(seconds, self._over)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    @property
    def left(self) -> float:
        """Seconds until its time is over."""
        return self._end - time.monotonic()

    def _over(self) -> None:
        self.late = True
        signal.raise_signal(signal.SIGTERM)  # heard even during a long matrix product

    def check(self) -> None:
        """Handle a request that came without a signal."""
        if not self.seen and self._folder.stop.exists():
            self._heed()

    def _handle(self, number: int, frame: object) -> None:
        if number == signal.SIGINT:
            self._interrupts += 1
            if self._interrupts > 1:
                raise KeyboardInterrupt
        self._heed()

    def _heed(self) -> None:
        if self.seen:
            return
        self.seen = True
        if self._gentle is None:
            raise Stopped
        self._gentle()

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """Exit when time is up. A thread hears of the signal even during a long matrix product."""
        hear, tell = socket.socketpair()
        tell.setblocking(False)
        over = threading.Event()

        def watch() -> None:
            while not over.is_set():
                heard = hear.recv(64)
                if not heard:
                    return
                if {signal.SIGTERM, signal.SIGINT} & set(heard):
                    break
            if not over.wait(PATIENCE):
                with contextlib.suppress(OSError):
                    assert self._at_last is not None
                    self._at_last()
                os._exit(EXIT_INTERRUPTED)

        before = signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            signal.set_wakeup_fd(before)
            tell.close()
            thread.join(timeout=1)
            hear.close()


def wait_until(ready: Callable[[], bool], request: StopRequest, every: float = 0.2) -> None:
    """Poll `ready`. Raises Stopped when asked to end."""
    while not ready():
        request.check()
        time.sleep(every)

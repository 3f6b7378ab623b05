"""Jobs that end at once, and one that goes on until it is let go or cancelled."""

import threading

from rnnviz.networks.progress import Progress, Share
from rnnviz.ui.jobs.worker import Work

SOON = 5.0


class GatedJob:
    """A job that goes on until its `gate` opens or it is cancelled, and notes when it `started` and `closed`.

    It writes its name into `log` when it starts.
    """

    def __init__(
        self, name: str = "", log: list[str] | None = None, gate: threading.Event | None = None
    ) -> None:
        self.name, self.log, self.gate = name, [] if log is None else log, gate or threading.Event()
        self.started, self.closed = threading.Event(), threading.Event()

    def __call__(self, progress: Progress) -> None:
        self.log.append(self.name)
        self.started.set()
        try:
            while not self.gate.wait(0.001):
                progress(Share(0.5, 10, 4.0))
        finally:
            self.closed.set()


def job_of(result: object, done: list[object]) -> Work:
    def work(progress: Progress) -> object:
        progress(Share(0.5))
        done.append(result)
        return result

    return work

"""Jobs that end at once, and one that never does."""

import threading
import time

from rnnviz.networks.progress import Progress, Share
from rnnviz.ui.jobs.worker import Work

SOON = 5.0


class Endless:
    """A job that goes on until it is stopped, and says when it was."""

    def __init__(self) -> None:
        self.started, self.closed = threading.Event(), threading.Event()

    def __call__(self, progress: Progress) -> None:
        try:
            while True:
                self.started.set()
                time.sleep(0.001)
                progress(Share(0.5, 10, 4.0))
        finally:
            self.closed.set()


def job_of(result: object, done: list[object]) -> Work:
    def work(progress: Progress) -> object:
        progress(Share(0.5))
        done.append(result)
        return result

    return work

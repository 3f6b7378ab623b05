"""Jobs that end at once, and one that never does."""

import threading
import time
from collections.abc import Generator

from rnnviz.ui.jobs.worker import Check, Make, Step

SOON = 5.0


class Endless:
    """A job that goes on until it is stopped, and says when it was."""

    def __init__(self) -> None:
        self.started, self.closed = threading.Event(), threading.Event()

    def __call__(self, check: Check) -> Generator[Step, None, None]:
        try:
            while True:
                self.started.set()
                time.sleep(0.001)
                yield Step(0.5, 10, 4.0)
        finally:
            self.closed.set()


def job_of(result: object, done: list[object]) -> Make:
    def make(check: Check) -> Generator[Step, None, object]:
        yield Step(0.5)
        done.append(result)
        return result

    return make

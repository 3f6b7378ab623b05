"""Progress: long work calls one function now and then, which may raise to end the work.

    def count(text: str, progress: Progress | None = None) -> int:
        report = Reporter(progress)
        for number, line in enumerate(lines):
            ...
            report(number / len(lines))  # passed on ten times a second at most
        report.end()
        return total

Whoever shows the progress gives the function. Whoever cancels lets it raise Cancelled, which nothing on the
way up catches. Work made of parts hands each part its share: `count(text, part(progress, 0.0, 0.3))`.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace


class Cancelled(Exception):
    """Raised by a progress callback to end work whose result is no longer wanted."""


@dataclass(frozen=True)
class Share:
    """How far a piece of work has come.

    fraction    the share of the work that is done, 0 to 1
    characters  the characters done, where the work counts them
    perplexity  of the characters done, where the work scores them
    """

    fraction: float
    characters: int = 0
    perplexity: float | None = None


Progress = Callable[[Share], object]
"""Called with the share that is done; may raise, which ends the work."""

REPORT_INTERVAL_S = 0.1
"""Seconds between two reports of progress."""


class Reporter:
    """Passes on the progress of one piece of work, at most once each REPORT_INTERVAL_S; None: nobody listens.

    So a loop may report at every turn, however short its turns are.

    >>> report = Reporter(print)
    >>> report(0.5)  # too early to be passed on
    >>> report.end()
    Share(fraction=1.0, characters=0, perplexity=None)
    """

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._last_time = time.perf_counter()

    def __call__(self, fraction: float, characters: int = 0, perplexity: float | None = None) -> None:
        """Pass this share on, unless the last report was a moment ago."""
        now = time.perf_counter()
        if self._progress is not None and now - self._last_time >= REPORT_INTERVAL_S:
            self._last_time = now
            self._progress(Share(min(1.0, fraction), characters, perplexity))

    def end(self, characters: int = 0, perplexity: float | None = None) -> None:
        """Report at once that all is done."""
        if self._progress is not None:
            self._progress(Share(1.0, characters, perplexity))


def part(progress: Progress | None, start: float, stop: float) -> Progress | None:
    """The progress of a part that takes the work from the share `start` to the share `stop`.

    >>> second_half = part(print, 0.5, 1.0)
    >>> second_half(Share(0.2))
    Share(fraction=0.6, characters=0, perplexity=None)
    """
    if progress is None:
        return None
    return lambda share: progress(replace(share, fraction=start + (stop - start) * share.fraction))

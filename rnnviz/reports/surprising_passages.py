"""Where a text surprised a model most, or least: stretches that don't overlap, cut between words and lines.

The choice is greedy: the window with the largest sum, then the largest that overlaps none chosen, and so on.
A chosen window excludes a bounded number of others, so keeping the best few thousand while the text streams
gives the same choice as keeping all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.reading.scoring import of_sum
from rnnviz.reports.column_files import STRETCH, ColumnFiles, Floats

Ints = npt.NDArray[np.int64]

LONGEST = 10_000
MOST = 1000


@dataclass(frozen=True)
class Passage:
    """Characters start .. stop - 1 and what they cost: `mean_nll` in nats a character, and e to that."""

    start: int
    stop: int
    text: str
    mean_nll: float
    perplexity: float


def surprising_passages(
    scored: ColumnFiles, count: int = 20, length: int = 80, least: bool = False
) -> list[Passage]:
    """The `count` most (or least) surprising passages of about `length` characters, the extreme first. They
    don't overlap, and begin and end between lines or words if possible within an eighth of `length`. A
    shorter text is one passage. Raises ConfigError for numbers out of range.
    """
    sign = -1.0 if least else 1.0
    found = []
    for start, stop in choose(scored, lambda a, b: sign * scored.read("nll", a, b), count, length):
        before, after = scored.sums([start, stop]).tolist()
        n = stop - start
        found.append(
            Passage(start, stop, scored.text(start, stop), (after - before) / n, of_sum(after - before, n))
        )
    return sorted(found, key=lambda p: (-sign * p.mean_nll, p.start))


def choose(
    scored: ColumnFiles,
    values: Callable[[int, int], Floats],
    count: int,
    length: int,
    absolute: bool = False,
) -> list[tuple[int, int]]:
    """(start, stop) of `count` passages with the largest sums of `values(start, stop)`, or their amount."""
    if not 1 <= count <= MOST or not 1 <= length <= LONGEST:
        raise ConfigError(
            "passages: 1 to {most:,} of 1 to {longest:,} characters; received {count} of {length}",
            most=MOST,
            longest=LONGEST,
            count=count,
            length=length,
        )
    if length >= len(scored):
        return [(0, len(scored))]
    reach = length // 8
    # A chosen passage has at most length + 2 · reach characters, and excludes the windows that touch it.
    starts = _best_windows(len(scored), values, length, count * (2 * length + 2 * reach), absolute)
    chosen: list[tuple[int, int]] = []
    for start in starts.tolist():
        stop = start + length
        if any(start < b and a < stop for a, b in chosen):
            continue
        low = max((b for _, b in chosen if b <= start), default=0)
        high = min((a for a, _ in chosen if a >= stop), default=len(scored))
        low, high = max(low, start - reach), min(high, stop + reach)
        chosen.append(_snapped(scored, values, (start, stop), low, high, absolute))
        if len(chosen) == count:
            break
    return chosen


def _best_windows(
    n: int, values: Callable[[int, int], Floats], length: int, keep: int, absolute: bool
) -> Ints:
    """Starts of the `keep` windows of `length` values with the largest sums, largest first, then earliest."""
    best, starts = np.empty(0), np.empty(0, np.int64)
    windows = n - length + 1
    for begin in range(0, windows, STRETCH):
        end = min(begin + STRETCH, windows)
        sums = np.concatenate([[0.0], np.cumsum(values(begin, end + length - 1), dtype=np.float64)])
        sums = sums[length:] - sums[:-length]
        if absolute:
            sums = np.abs(sums)
        here = np.arange(len(sums))
        if len(best) == keep:  # only what beats the worst that is kept
            here = np.flatnonzero(sums > best[-1])
        if len(here) > keep:
            # Of equals at the limit the earliest: a partition alone would pick any of them.
            limit = np.partition(sums[here], -keep)[-keep]
            above, equal = here[sums[here] > limit], here[sums[here] == limit]
            here = np.concatenate([above, equal[: keep - len(above)]])
        best, starts = np.concatenate([best, sums[here]]), np.concatenate([starts, here + begin])
        order = np.lexsort((starts, -best))[:keep]
        best, starts = best[order], starts[order]
    return starts


def _snapped(
    scored: ColumnFiles,
    values: Callable[[int, int], Floats],
    window: tuple[int, int],
    low: int,
    high: int,
    absolute: bool,
) -> tuple[int, int]:
    """The stretch near `window`, within low .. high, that begins and ends at borders, with the largest mean.
    The nearest borders could take in a costly character and make a least surprising passage a surprising
    one. Without a border near, the window's own end stays.
    """
    start, stop = window
    text = scored.text(max(low - 1, 0), min(high + 1, len(scored)))
    # The text itself stands between two spaces.
    text = " " * (low == 0) + text + " " * (high == len(scored))
    space = np.array([c.isspace() for c in text])
    word = np.array([c.isalnum() for c in text])
    places = np.arange(low, high + 1)  # entry i of what follows is about the border before character low + i
    begins, ends = places[~word[:-1] & ~space[1:]], places[~space[:-1] & ~word[1:]]
    reach = (stop - start) // 8
    begins = begins[np.abs(begins - start) <= reach] if reach else begins[:0]
    ends = ends[np.abs(ends - stop) <= reach] if reach else ends[:0]
    sums = np.concatenate([[0.0], np.cumsum(values(low, high), dtype=np.float64)])
    pairs = [
        (int(a), int(b))
        for a in (begins if len(begins) else [start])
        for b in (ends if len(ends) else [stop])
        if a < b
    ]

    def mean(pair: tuple[int, int]) -> float:
        total = float(sums[pair[1] - low] - sums[pair[0] - low])
        return (abs(total) if absolute else total) / (pair[1] - pair[0])

    return max(pairs, key=mean, default=window)

"""Where a text surprised a model most, or least: stretches that don't overlap, cut where words and lines end.

The choice is greedy: of all windows of the asked-for length the largest sum, then
the largest that overlaps none chosen, and so on. One chosen window stands in the way of
a bounded number of others, so keeping the best few thousand while the text
streams by gives the same choice as keeping all.

This module knows nothing of models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnnviz.columns import STRETCH, Columns, Floats
from rnnviz.errors import ConfigError
from rnnviz.scoring import of_sum

Ints = npt.NDArray[np.int64]

LONGEST = 10_000
MOST = 1000

SPACES = np.array(
    [ord(c) for c in "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"] + list(range(0x2000, 0x200B))
)
BREAKS = np.array([10, 0x85, 0x2028, 0x2029])


@dataclass(frozen=True)
class Passage:
    """Characters start .. stop - 1 and what they cost: `mean_nll` in nats a character, and e to that."""

    start: int
    stop: int
    text: str
    mean_nll: float
    perplexity: float


def passages(columns: Columns, count: int = 20, length: int = 80, least: bool = False) -> list[Passage]:
    """The `count` most surprising passages of about `length` characters, or the least, the extreme first.

    They don't overlap, and begin and end at the border of a line or a word if there is one
    within a quarter of `length`. A shorter text is one passage. Raises ConfigError for numbers out of range.
    """
    sign = -1.0 if least else 1.0
    found = []
    for start, stop in choose(columns, lambda a, b: sign * columns.read("nll", a, b), count, length):
        before, after = columns.sums([start, stop]).tolist()
        n = stop - start
        found.append(
            Passage(start, stop, columns.text(start, stop), (after - before) / n, of_sum(after - before, n))
        )
    return sorted(found, key=lambda p: (-sign * p.mean_nll, p.start))


def choose(
    columns: Columns, values: Callable[[int, int], Floats], count: int, length: int, absolute: bool = False
) -> list[tuple[int, int]]:
    """(start, stop) of `count` passages with the largest sums of `values(start, stop)`, or their amount."""
    if not 1 <= count <= MOST or not 1 <= length <= LONGEST:
        raise ConfigError(
            f"passages: 1 to {MOST:,} of 1 to {LONGEST:,} characters; received {count} of {length}"
        )
    length = min(length, len(columns))
    reach = length // 4
    # A chosen passage has at most length + 2 · reach characters, and excludes the windows that touch it.
    starts = _best_windows(len(columns), values, length, count * (2 * length + 2 * reach), absolute)
    chosen: list[tuple[int, int]] = []
    for start in starts.tolist():
        stop = start + length
        if any(start < b and a < stop for a, b in chosen):
            continue
        low = max((b for _, b in chosen if b <= start), default=0)
        high = min((a for a, _ in chosen if a >= stop), default=len(columns))
        chosen.append(_snapped(columns, start, stop, max(low, start - reach), min(high, stop + reach), reach))
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


def _snapped(columns: Columns, start: int, stop: int, low: int, high: int, reach: int) -> tuple[int, int]:
    """Borders near `start` and `stop`, in low .. high: a line's within `reach`, else a word's, else these."""
    first = max(low - 1, 0)
    codes = columns.read("codes", first, min(high + 1, len(columns)))
    space, line = np.isin(codes, SPACES), np.isin(codes, BREAKS)
    # Entry i is about the border before character first + i + 1.
    places = np.arange(first + 1, first + len(codes))
    begins, ends = places[space[:-1] & ~space[1:]], places[~space[:-1] & space[1:]]
    line_begins, line_ends = places[line[:-1] & ~space[1:]], places[~space[:-1] & line[1:]]
    edges = np.array([p for p in (0, len(columns)) if low <= p <= high], np.int64)

    def nearest(wanted: int, *kinds: Ints) -> int:
        for kind in kinds:
            near = kind[(np.abs(kind - wanted) <= reach) & (low <= kind) & (kind <= high)]
            if len(near):
                return int(near[np.argmin(np.abs(near - wanted))])
        return wanted

    a = nearest(start, np.union1d(line_begins, edges[edges == 0]), begins)
    b = nearest(stop, np.union1d(line_ends, edges[edges > 0]), ends)
    return (a, b) if a < b else (start, stop)

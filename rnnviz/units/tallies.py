"""What is counted while a text is read: extremes with their contexts, histograms, moments, moves. All take
pieces of any length, in constant memory. Shape letters: n characters of a piece, U units, V symbols, K
contexts, W characters of one.
"""

from collections.abc import Iterator

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids, Integers, Points

NOTHING = 0xFFFFFFFF
"""Stands where a context reaches beyond the text."""


class Contexts:
    """The highest and lowest windows of each unit, with text and values around the extreme."""

    def __init__(self, units: int, contexts: int, before: int, after: int) -> None:
        self._K, self._before, self._after = contexts, before, after
        self._W = before + 1 + after
        self._points = np.full(before, NOTHING, np.uint32)  # what is not done yet, and `before` done ones
        self._values = np.full((before, units), np.nan, np.float32)
        self._done = 0  # characters whose windows are done
        self._best = {sign: _Best(3 * contexts, units, self._W) for sign in (1, -1)}

    def add(self, points: Points, values: Floats) -> None:
        """The next characters' code points (n,) and values (n, U)."""
        self._points = np.concatenate([self._points, points])
        self._values = np.concatenate([self._values, values])
        self._take((len(self._points) - self._before - self._after) // self._W)

    def finish(self) -> None:
        """At the end of the text, cut waiting contexts short."""
        left = len(self._points) - self._before
        windows = -(-left // self._W)
        short = windows * self._W - left + self._after
        self.add(
            np.full(short, NOTHING, np.uint32), np.full((short, self._values.shape[1]), np.nan, np.float32)
        )

    def _take(self, windows: int) -> None:
        if windows <= 0:
            return
        length = windows * self._W
        now = self._values[self._before : self._before + length].reshape(windows, self._W, -1)
        for sign, best in self._best.items():
            signed = np.where(np.isnan(now), -np.inf, now * sign)
            at = signed.argmax(axis=1)  # (windows, U), of equals the first
            value = np.take_along_axis(signed, at[:, None], axis=1)[:, 0]
            place = at + np.arange(0, length, self._W)[:, None]
            best.add(value, place, self._done, self._points, self._values)
        self._done += length
        self._points, self._values = self._points[length:], self._values[length:]

    def chosen(self, unit: int, sign: int) -> list[tuple[int, float, str, int, Floats]]:
        """Up to K `Context`s that don't overlap, the most extreme first."""
        out: list[tuple[int, float, str, int, Floats]] = []
        for position, value, points, values in self._best[sign].of(unit):
            if len(out) == self._K:
                break
            if all(abs(position - other[0]) >= self._W for other in out):
                real = points != NOTHING
                text = "".join(map(chr, points[real].tolist()))
                at = self._before - int(real.argmax())
                out.append((position, sign * value, text, at, values[real].copy()))
        return out


class _Best:
    """The `keep` highest candidates of each unit, highest first, with their surroundings."""

    def __init__(self, keep: int, units: int, width: int) -> None:
        self._keep = keep
        self._value = np.full((keep, units), -np.inf, np.float32)
        self._position = np.full((keep, units), -1, np.int64)
        self._points = np.full((keep, units, width), NOTHING, np.uint32)
        self._around = np.full((keep, units, width), np.nan, np.float32)

    def add(self, value: Floats, place: Ids, done: int, points: Points, values: Floats) -> None:
        """Candidates (m, U): values, and where in `points` their contexts begin; `done` more in the text."""
        all_values = np.concatenate([self._value, value])
        order = np.argsort(-all_values, axis=0, kind="stable")[: self._keep]  # of equals the earlier
        self._value = np.take_along_axis(all_values, order, axis=0)
        self._position = np.take_along_axis(np.concatenate([self._position, place + done]), order, axis=0)
        old = np.minimum(order, self._keep - 1)[:, :, None]
        self._points = np.take_along_axis(self._points, old, axis=0)
        self._around = np.take_along_axis(self._around, old, axis=0)
        row, unit = np.nonzero((order >= self._keep) & (self._value > -np.inf))
        # A place's context begins there, `before` earlier than the extreme.
        reach = place[order[row, unit] - self._keep, unit][:, None] + np.arange(self._points.shape[2])
        self._points[row, unit] = points[reach]
        self._around[row, unit] = values[reach, unit[:, None]]

    def of(self, unit: int) -> Iterator[tuple[int, float, Points, Floats]]:
        """Position, value and surroundings of each candidate, highest first."""
        for k in np.flatnonzero(self._value[:, unit] > -np.inf):
            position, value = int(self._position[k, unit]), float(self._value[k, unit])
            yield position, value, self._points[k, unit], self._around[k, unit]


class Histograms:
    """How often each unit had which value, from -limit to limit, which doubles when exceeded."""

    def __init__(self, units: int, bins: int) -> None:
        self._limit = np.ones(units)
        self._counts = np.zeros((units, bins), np.int64)

    def add(self, values: Floats) -> None:
        """Values (n, U)."""
        U, bins = self._counts.shape
        largest = np.abs(values).max(axis=0, initial=0)
        for u in np.flatnonzero(largest > self._limit).tolist():
            while largest[u] > self._limit[u]:
                self._limit[u] *= 2
                pairs = self._counts[u].reshape(-1, 2).sum(axis=1)
                self._counts[u] = 0
                self._counts[u, bins // 4 : bins // 4 + bins // 2] = pairs
        place = ((values / self._limit + 1) * (bins / 2)).astype(np.int64)
        np.minimum(place, bins - 1, out=place)
        place += np.arange(U) * bins
        self._counts += np.bincount(place.ravel(), minlength=U * bins).reshape(U, bins)

    def of(self, unit: int) -> tuple[Integers, Doubles]:
        """Counts (bins,) and edges (bins + 1,)."""
        limit, counts = self._limit[unit], self._counts[unit].copy()
        return counts, np.linspace(-limit, limit, len(counts) + 1)


class Moments:
    """Running mean, variance and range of each unit (Chan, Golub & LeVeque 1979)."""

    def __init__(self, units: int) -> None:
        self.count, self.mean, self._squares = 0, np.zeros(units), np.zeros(units)
        self.lowest, self.highest = np.full(units, np.inf), np.full(units, -np.inf)

    def add(self, values: Floats) -> None:
        """Values (n, U), n at least 1."""
        n, total = len(values), self.count + len(values)
        mean = values.mean(axis=0, dtype=np.float64)
        apart = mean - self.mean
        self._squares += ((values - mean) ** 2).sum(axis=0) + apart**2 * (self.count * n / total)
        self.mean += apart * (n / total)
        self.count = total
        np.minimum(self.lowest, values.min(axis=0), out=self.lowest)
        np.maximum(self.highest, values.max(axis=0), out=self.highest)

    @property
    def variance(self) -> Doubles:
        """(U,), of all values."""
        return self._squares / max(self.count, 1)


class Moves:
    """How much each unit changes at each symbol."""

    MOST = 10
    """Characters that are named for a unit."""

    def __init__(self, units: int, symbols: int) -> None:
        self._count = np.zeros(symbols, np.int64)
        self._change = np.zeros((symbols, units))
        self._amount = np.zeros((symbols, units))

    def add(self, ids: Ids, changes: Floats) -> None:
        """Symbols (n,) and the changes (n, U) that they made."""
        order = np.argsort(ids, kind="stable")
        sorted_ids, rows = ids[order], changes[order].astype(np.float64)
        symbols, first, count = np.unique(sorted_ids, return_index=True, return_counts=True)
        self._count[symbols] += count
        self._change[symbols] += np.add.reduceat(rows, first, axis=0)
        self._amount[symbols] += np.add.reduceat(np.abs(rows), first, axis=0)

    def of(self, unit: int) -> list[tuple[int, tuple[float, float, int]]]:
        """Symbol; mean amount, mean change and count of those that move it most, without rare ones (under 1
        in 2,000, or at most twice).
        """
        enough = np.flatnonzero(self._count >= max(3, self._count.sum() / 2000))
        count = self._count[enough]
        amount, change = self._amount[enough, unit] / count, self._change[enough, unit] / count
        order = np.argsort(-amount, kind="stable")[: self.MOST]
        amounts, changes, counts = (each[order].tolist() for each in (amount, change, count))
        return list(zip(enough[order].tolist(), zip(amounts, changes, counts, strict=True), strict=True))

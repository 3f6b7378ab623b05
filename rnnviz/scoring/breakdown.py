"""Breakdown of a text's perplexity: its course, its lines, its passages, and two models' difference.

Everything streams, in constant memory. Costs are nats, as in `rnnviz.scoring.perplexity`: the sum over all
lines is the Score's.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Doubles, Integers
from rnnviz.errors import ConfigError
from rnnviz.scoring.column_files import STRETCH_CHARS, ColumnFiles
from rnnviz.scoring.totals import perplexity_from_sum

# The passages that surprised a model most, or least: they don't overlap, and are cut between words and lines.
#
# The choice is greedy: the window with the largest sum, then the largest that overlaps none chosen, and so
# on. A chosen window excludes a bounded number of others, so keeping the best few thousand while the text
# streams gives the same choice as keeping all.


@dataclass(frozen=True)
class Passage:
    """Characters start .. stop - 1, and the mean of their costs, or of two models' difference, in nats."""

    start: int
    stop: int
    text: str
    mean: float

    @property
    def perplexity(self) -> float:
        """The perplexity of a mean cost."""
        return perplexity_from_sum(self.mean, 1)


def surprising_passages(
    columns: ColumnFiles, count: int = 20, length: int = 80, least: bool = False
) -> list[Passage]:
    """The `count` most (or least) surprising passages of about `length` characters, the extreme first.

    Passages don't overlap. Their ends lie between lines or words where an eighth of `length` allows that. A
    text shorter than `length` is one passage.
    """
    sign = -1.0 if least else 1.0
    passages = []
    for start, stop in choose_passages(columns, lambda a, b: sign * columns.read("nll", a, b), count, length):
        before, after = columns.sums([start, stop]).tolist()
        passages.append(Passage(start, stop, columns.text(start, stop), (after - before) / (stop - start)))
    return sorted(passages, key=lambda p: (-sign * p.mean, p.start))


def choose_passages(
    columns: ColumnFiles,
    values: Callable[[int, int], Doubles],
    count: int,
    length: int,
    absolute: bool = False,
) -> list[tuple[int, int]]:
    """(start, stop) of `count` passages with the largest sums of `values(start, stop)`.

    If `absolute`, the sums count without their sign.
    """
    if length >= len(columns):
        return [(0, len(columns))]
    reach = length // 8
    # A chosen passage has at most length + 2 · reach characters, and excludes the windows that touch it.
    starts = _best_windows(len(columns), values, length, count * (2 * length + 2 * reach), absolute)
    chosen: list[tuple[int, int]] = []
    for start in starts.tolist():
        stop = start + length
        if any(start < b and a < stop for a, b in chosen):
            continue
        low = max((b for _, b in chosen if b <= start), default=0)
        high = min((a for a, _ in chosen if a >= stop), default=len(columns))
        low, high = max(low, start - reach), min(high, stop + reach)
        chosen.append(_snap_to_words(columns, values, (start, stop), low, high, absolute))
        if len(chosen) == count:
            break
    return chosen


def _best_windows(
    n: int, values: Callable[[int, int], Doubles], length: int, keep: int, absolute: bool
) -> Integers:
    """Starts of the `keep` windows of `length` values with the largest sums, largest first, then earliest."""
    best, starts = np.empty(0), np.empty(0, np.int64)
    windows = n - length + 1
    for begin in range(0, windows, STRETCH_CHARS):
        end = min(begin + STRETCH_CHARS, windows)
        sums = np.concatenate([[0.0], np.cumsum(values(begin, end + length - 1), dtype=np.float64)])
        sums = sums[length:] - sums[:-length]
        if absolute:
            sums = np.abs(sums)
        # Once `keep` windows are found, only those that beat the worst of them.
        candidates = np.flatnonzero(sums > best[-1]) if len(best) == keep else np.arange(len(sums))
        best, starts = np.concatenate([best, sums[candidates]]), np.concatenate([starts, candidates + begin])
        order = np.lexsort((starts, -best))[:keep]
        best, starts = best[order], starts[order]
    return starts


def _snap_to_words(
    columns: ColumnFiles,
    values: Callable[[int, int], Doubles],
    window: tuple[int, int],
    low: int,
    high: int,
    absolute: bool,
) -> tuple[int, int]:
    """The stretch near `window`, within low .. high, with its ends between words and with the largest mean.

    The nearest borders could take in a costly character and make a least surprising passage a surprising
    one. Without a border near, the window's own end stays.
    """
    start, stop = window
    text = columns.text(max(low - 1, 0), min(high + 1, len(columns)))
    # The ends of the text are borders, as if a space stood before and after it.
    text = " " * (low == 0) + text + " " * (high == len(columns))
    space = np.array([c.isspace() for c in text])
    word = np.array([c.isalnum() for c in text])
    places = np.arange(low, high + 1)  # entry i is the border before character low + i
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


@dataclass(frozen=True, eq=False)
class Curve:
    """Perplexity along a text.

    position  (k,)  characters read so far, increasing; the last entry is the text's length
    running   (k,)  the perplexity of all characters read so far
    rolling   (k,)  the perplexity of the last `window` of them, or of fewer at the beginning
    """

    position: Integers
    running: Doubles
    rolling: Doubles
    window: int


def curve(columns: ColumnFiles, points: int = 2000, window: int | None = None) -> Curve:
    """At most `points` exact points of the running and rolling perplexity, evenly spaced.

    `window` defaults to about a hundredth of the text, from 50 to 100,000 characters.
    """
    n = len(columns)
    window = _round_number(n / 100) if window is None else window
    position = np.arange(1, n + 1) if n <= points else np.linspace(1, n, points).round().astype(np.int64)
    before = np.maximum(position - window, 0)
    total, total_before = columns.sums(position), columns.sums(before)
    return Curve(
        position,
        _perplexities(total, position),
        _perplexities(total - total_before, position - before),
        window,
    )


def _perplexities(nats: Doubles, characters: Integers) -> Doubles:
    return np.array(
        [perplexity_from_sum(s, n) for s, n in zip(nats.tolist(), characters.tolist(), strict=True)]
    )


def _round_number(value: float) -> int:
    """1, 2 or 5 times a power of ten, at most `value`, from 50 to 100,000."""
    if value < 100:
        return 50
    power = 10 ** math.floor(math.log10(value))
    return int(min(power * max(m for m in (1, 2, 5) if m * power <= value), 100_000))


@dataclass(frozen=True)
class ScoredLine:
    """A line: characters start .. stop - 1, with the line break; `bits` is the total cost."""

    start: int
    stop: int
    characters: int
    perplexity: float
    bits: float


def lines(columns: ColumnFiles, limit: int = 10_000) -> tuple[list[ScoredLine], int]:
    """The first `limit` lines with their perplexities, and the number of all; a line has its line break."""
    rows: list[ScoredLine] = []
    total = 0
    for starts, stops, sums in line_sums(columns):
        total += len(starts)
        room = limit - len(rows)
        for start, stop, nats in zip(
            starts[:room].tolist(), stops[:room].tolist(), sums[:room].tolist(), strict=True
        ):
            n = stop - start
            rows.append(ScoredLine(start, stop, n, perplexity_from_sum(nats, n), nats / math.log(2)))
    return rows, total


def line_sums(columns: ColumnFiles) -> Iterator[tuple[Integers, Integers, Doubles]]:
    """All lines in batches, some empty: (starts, stops, Σ -log P in nats), (k,) each."""
    first, carried = 0, 0.0  # the open line's first character, and its cost so far
    last = np.array([0], np.uint32)  # the character before; no line break before the text
    for start, codes, nll in columns.stretches("codes", "nll"):
        before = np.concatenate([last, codes[:-1]])
        inside = np.flatnonzero(before == 10)  # a line begins with each of these characters
        cumulative = np.concatenate([[0.0], np.cumsum(nll, dtype=np.float64)])
        edges = np.concatenate([[0], inside])
        sums = cumulative[inside] - cumulative[edges[:-1]]
        if len(inside):
            sums[0] += carried
            starts = np.concatenate([[first], inside[:-1] + start])
            first, carried = int(inside[-1]) + start, 0.0
        else:
            starts = inside
        yield starts, inside + start, sums
        carried += cumulative[-1] - cumulative[edges[-1]]
        last = codes[-1:]
    yield np.array([first]), np.array([len(columns)]), np.array([carried])


def unknown_counts(columns: ColumnFiles, check: Callable[[], None] | None = None) -> list[tuple[str, int]]:
    """The characters outside the vocabulary with their counts, most frequent first, then by code point.
    `check` is called several times a second and may raise to cancel.
    """
    counts: Counter[int] = Counter()
    for _, codes, rank in columns.stretches("codes", "rank"):
        if check is not None:
            check()
        points, point_counts = np.unique(codes[rank < 0], return_counts=True)
        counts.update(dict(zip(points.tolist(), point_counts.tolist(), strict=True)))
    return [(chr(p), n) for p, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


class ModelDifference:
    """log P_A(x_t | x_<t) - log P_B(x_t | x_<t) of two models on one text, in nats: above 0 A is better."""

    def __init__(self, a: ColumnFiles, b: ColumnFiles) -> None:
        self._a, self._b = a, b

    def __len__(self) -> int:
        return len(self._a)

    @property
    def total(self) -> float:
        """The sum over the whole text, nats."""
        end = [len(self._a)]
        return float(self._b.sums(end)[0] - self._a.sums(end)[0])

    def values(self, start: int, stop: int) -> Doubles:
        """The difference at characters start .. stop - 1, (stop - start,); ConfigError outside 0 .. n."""
        a, b = self._a.read("nll", start, stop), self._b.read("nll", start, stop)
        return np.asarray(b.astype(np.float64) - a)

    def passages(self, count: int = 20, length: int = 80) -> list[Passage]:
        """The passages in which the models differ most, the largest mean first; cut as surprising ones."""
        passages = []
        for start, stop in choose_passages(self._a, self.values, count, length, absolute=True):
            mean = float(self.values(start, stop).mean())
            passages.append(Passage(start, stop, self._a.text(start, stop), mean))
        return sorted(passages, key=lambda p: (-abs(p.mean), p.start))


def compare_records(a: ColumnFiles, b: ColumnFiles) -> ModelDifference:
    """Compare two records of the same text. Raises ConfigError for different texts."""
    if len(a) != len(b):
        raise ConfigError(
            "two models are compared on one text; received texts of {one:,} and {other:,} characters",
            one=len(a),
            other=len(b),
        )
    for (start, ours), (_, theirs) in zip(a.stretches("codes"), b.stretches("codes"), strict=True):
        unequal = np.flatnonzero(ours != theirs)
        if len(unequal):
            raise ConfigError(
                "two models are compared on one text; these differ at "
                "character {start:,}: score the same text with both",
                start=start + int(unequal[0]) + 1,
            )
    return ModelDifference(a, b)

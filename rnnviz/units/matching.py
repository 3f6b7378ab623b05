"""Where else are the same units on? The half of LSTMVis that compares a selected passage with a whole corpus
(Strobelt, Gehrmann, Pfister & Rush 2018, arXiv:1606.07461, sections 4 and 5).

A unit is on at a character if its hidden state, once the character has been read, is at least `threshold`
away from 0, on the same side throughout: LSTMVis looks above 0 only. A pattern is the units that are on
throughout a passage; with `edges`, only those of them that are off within so many characters before and
after.

A match is a stretch of the corpus over which the same units of the pattern stay on, in every window of
`least` characters. More units come first, then longer stretches, then earlier ones; stretches that overlap
a better one are left out.

States are compared as float16, as an index keeps them: |h| < 1 is off by at most 0.00025 there.

Shape letters: N characters of the corpus, U units, W windows.
"""

import math
from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Doubles, Floats, Halves, Integers, Mask
from rnnviz.errors import ConfigError
from rnnviz.pictured import Brief
from rnnviz.reading.trace import Trace
from rnnviz.units.unit import Unit, activations, unit_of

_Rows = list[tuple[Halves, int]]  # a unit's states (N,) and its sign

THRESHOLD = 0.5
"""How far from 0 a state is on, unless said otherwise."""

_NEGATIVE = 0x8000  # the sign's bit of a float16


@dataclass(frozen=True, repr=False)
class Pattern(Brief):
    """Which `units` are on, and on which side of 0: `signs`, 1 or -1 for each; for how many characters,
    `length`.

    >>> Pattern((Unit(0, 3), Unit(0, 9)), (1, -1), length=4)
    Pattern(units=(Unit(layer=0, unit=3), Unit(layer=0, unit=9)), signs=(1, -1), threshold=0.5, length=4)
    """

    units: tuple[Unit, ...]
    signs: tuple[int, ...]
    threshold: float = THRESHOLD
    length: int = 1

    def __post_init__(self) -> None:
        _check_threshold(self.threshold)
        if len(self.units) != len(self.signs) or not set(self.signs) <= {-1, 1}:
            raise ConfigError(
                "a pattern has a sign, 1 or -1, for each unit; received {signs}", signs=self.signs
            )
        if len(set(self.units)) < len(self.units):
            raise ConfigError("a pattern names each unit once; received {units}", units=self.units)
        _check_count("length", self.length, 1)

    def __len__(self) -> int:
        return len(self.units)


@dataclass(frozen=True, repr=False)
class Match(Brief):
    """Characters start .. stop - 1 of the corpus, over which these `units` of the pattern are on."""

    start: int
    stop: int
    units: tuple[Unit, ...]

    @property
    def overlap(self) -> int:
        """How many of the pattern's units."""
        return len(self.units)

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, repr=False)
class Matches(Brief):
    """What `find` found, best first.

    needed    units of the pattern that a place has at least
    least     characters over which it has them
    windows   how many windows of `least` characters have them
    of        of how many
    """

    pattern: Pattern
    found: tuple[Match, ...]
    needed: int
    least: int
    windows: int
    of: int

    @property
    def share(self) -> float:
        """The share of the corpus's windows that have them: how rare such a place is."""
        return self.windows / self.of if self.of else 0.0


def pattern(
    trace: Trace,
    start: int,
    stop: int,
    *,
    threshold: float = THRESHOLD,
    edges: int = 0,
    layer: int | None = None,
) -> Pattern:
    """The units that are on throughout characters start .. stop - 1 of a trace, of one `layer` or of all.

    With `edges` above 0, only those that are off at each of so many characters before and after, as far as
    the text goes. There may be none. Raises ConfigError for characters outside the text, a threshold that
    isn't above 0, or an absent layer.

    >>> import rnnviz
    >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "he said that he had")
    >>> found = pattern(trace, 3, 7, threshold=0.8)
    >>> int((trace.hidden[3:7, 0] > 0.8).all(axis=0).sum()) == found.signs.count(1), found.length
    (True, 4)
    """
    if type(start) is not int or type(stop) is not int or not 0 <= start < stop <= len(trace):
        raise ConfigError(
            "a span begins and ends within the text of {count:,} characters and is not empty; "
            "received {start} to {stop}",
            count=len(trace),
            start=start,
            stop=stop,
        )
    _check_threshold(threshold)
    _check_count("edges", edges, 0)
    values = activations(trace, layer=layer)[max(0, start - edges) : stop + edges].astype(np.float16)
    begin, end = min(start, edges), min(start, edges) + stop - start
    limit = np.float16(threshold)
    chosen: dict[int, int] = {}
    for sign in (1, -1):
        on = values * np.float16(sign) >= limit
        held = on[begin:end].all(axis=0) & ~on[:begin].any(axis=0) & ~on[end:].any(axis=0)
        chosen |= dict.fromkeys(np.flatnonzero(held).tolist(), sign)
    H = trace.hidden.shape[2]
    units = {unit_of(column, H, layer): sign for column, sign in sorted(chosen.items())}
    return Pattern(tuple(units), tuple(units.values()), threshold, stop - start)


def find(
    values: Halves,
    H: int,
    pattern: Pattern,
    *,
    share: float = 0.75,
    least: int | None = None,
    most: int = 20,
) -> Matches:
    """The places of a corpus where at least `share` of a pattern's units are on over `least` characters or
    more (None: as many as the passage it is of), at most `most` of them.

    `values` (L·H, N) float16 are the corpus's states, of networks with H units a layer. Raises ConfigError
    for a pattern without units and numbers out of range.
    """
    needed, least = _wanted(pattern, share, least, most)
    windows = max(0, values.shape[1] - least + 1)
    rows = [(values[column(unit, H)], sign) for unit, sign in zip(pattern.units, pattern.signs, strict=True)]
    places = _worth_reading(rows, pattern.threshold, needed, least, windows)
    starts, stops, overlap, enough = _stretches(rows, pattern.threshold, needed, least, places)
    order = np.lexsort((starts, starts - stops, -overlap))
    chosen = _apart(starts[order], stops[order], most)
    found = tuple(Match(a, b, _units_on(values, H, pattern, a, b)) for a, b in chosen)
    return Matches(pattern, found, needed, least, enough, windows)


def _worth_reading(rows: _Rows, threshold: float, needed: int, least: int, windows: int) -> Integers:
    """The characters of all windows that may have enough units, in order.

    Every window holds exactly one of the characters least - 1, 2 least - 1, …: where too few units are on
    at that one, too few are on throughout.
    """
    count = np.zeros(-(-windows // least), np.uint16)
    for row, sign in rows:
        count += is_on(row[least - 1 :: least], sign, threshold)
    blocks = np.flatnonzero(count >= needed)
    if 2 * len(blocks) > len(count):
        return np.arange(windows + least - 1)
    reach = np.zeros(windows + least, np.int64)  # +1 where characters begin to be wanted, -1 where they end
    np.add.at(reach, blocks * least, 1)
    np.add.at(reach, np.minimum(blocks * least + 2 * least - 1, windows + least - 1), -1)
    return np.flatnonzero(np.cumsum(reach[:-1]) > 0)


def _stretches(
    rows: _Rows, threshold: float, needed: int, least: int, places: Integers
) -> tuple[Integers, Integers, Integers, int]:
    """Where the stretches with enough units begin and end, how many units are on, and in how many windows."""
    windows = max(0, len(places) - least + 1)
    count, changed = np.zeros(windows, np.uint16), np.zeros(windows, np.bool_)
    if not windows:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), 0
    chosen = slice(places[0], places[-1] + 1) if places[-1] - places[0] == len(places) - 1 else places
    for row, sign in rows:
        on = throughout(is_on(row[chosen], sign, threshold), least)
        count += on
        changed[1:] |= on[1:] != on[:-1]
    whole = places[least - 1 :] - places[:windows] == least - 1  # no characters are left out within
    count[~whole] = 0
    changed[0] = True
    changed[1:] |= (whole[1:] != whole[:-1]) | (np.diff(places[:windows]) != 1)
    first = np.flatnonzero(changed)
    sizes = np.diff(np.append(first, windows))
    overlap = count[first].astype(np.int64)
    good = overlap >= needed
    starts = places[first[good]]
    return starts, starts + sizes[good] + least - 1, overlap[good], int((count >= needed).sum())


def is_on(row: Halves, sign: int, threshold: float) -> Mask:
    """Where one unit's states (N,) are on. As whole numbers, float16s order as their bits do: sixty times
    as fast as numpy compares them.
    """
    limit = int(np.float16(threshold).view(np.uint16))
    if sign > 0:
        return np.asarray(row.view(np.int16) >= np.int16(limit))
    return np.asarray(row.view(np.uint16) >= np.uint16(limit | _NEGATIVE))


def throughout(on: Mask, length: int) -> Mask:
    """Whether it is on at each of `length` characters from here on, (N - length + 1,)."""
    width = 1
    while width < length:
        step = min(width, length - width)
        on = on[:-step] & on[step:]
        width += step
    return on


def _apart(starts: Integers, stops: Integers, most: int) -> list[tuple[int, int]]:
    """The first of these stretches, in their order, that don't overlap an earlier one."""
    free = np.ones(len(starts), np.bool_)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < most and free.any():
        best = int(free.argmax())
        chosen.append((int(starts[best]), int(stops[best])))
        free &= (stops <= starts[best]) | (starts >= stops[best])
    return chosen


def _units_on(values: Halves, H: int, pattern: Pattern, start: int, stop: int) -> tuple[Unit, ...]:
    return tuple(
        unit
        for unit, sign in zip(pattern.units, pattern.signs, strict=True)
        if is_on(values[unit.layer * H + unit.unit, start:stop], sign, pattern.threshold).all()
    )


def shares(values: Floats, pattern: Pattern) -> Doubles:
    """The share of a pattern's units that are on at each character, (n,), 0 to 1, from their `values` (n,
    U).
    """
    signed = values.astype(np.float16) * np.array(pattern.signs, np.float16)
    on: Doubles = (signed >= np.float16(pattern.threshold)).mean(axis=1)
    return on


def _wanted(pattern: Pattern, share: float, least: int | None, most: int) -> tuple[int, int]:
    """How many units, over how many characters. Raises ConfigError."""
    if not len(pattern):
        raise ConfigError(
            "no unit is on throughout the passage, so there is nothing to look for; take a shorter passage, "
            "a lower threshold, or no edges"
        )
    if not 0 < share <= 1:
        raise ConfigError(
            "share is that of the pattern's units, above 0 and at most 1; received {share}", share=share
        )
    _check_count("most", most, 1)
    least = pattern.length if least is None else least
    _check_count("least", least, 1)
    return max(1, math.ceil(share * len(pattern) - 1e-9)), least


def _check_threshold(threshold: float) -> None:
    if not (isinstance(threshold, int | float) and 0 < np.float16(threshold) < np.inf):
        raise ConfigError(
            "a threshold is how far from 0 a unit is on, from 0.0001 to 65,000; received {threshold!r}",
            threshold=threshold,
        )


def _check_count(name: str, value: int, lowest: int) -> None:
    if type(value) is not int or value < lowest:
        raise ConfigError(
            "{name} is at least {lowest}; received {value}", name=name, lowest=lowest, value=value
        )


def column(unit: Unit, H: int) -> int:
    """The unit's column of `rnnviz.units.activations` of all layers."""
    return unit.layer * H + unit.unit

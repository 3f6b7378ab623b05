"""Matches: places of a corpus where the same units are on as in a passage. Follows the matching half of
LSTMVis (Strobelt, Gehrmann, Pfister & Rush 2018, arXiv:1606.07461, sections 4 and 5).

A unit is on at a character if its state after the character is at least `threshold`
away from 0, on the same side throughout; LSTMVis looks above 0 only. A pattern is the set of units that are
on throughout a passage; `edges` keep only those that are off within so many characters before and after.

A match is a stretch of the corpus over which the same units of the pattern stay on, in every window of
`least` characters. More units come first, then longer stretches, then earlier ones; stretches that overlap a
better one are left out.

States are compared as float16, half as many bytes to keep: |h| < 1 is off by at most 0.00025 there.

Two controls stand beside the matches. First, the share of all places with the same ending: matches that end
alike say little where most places do. Second, untrained copies: random weights echo the last characters, so
their units match places that end alike, too. The same passage is matched in each copy, on the beginning of
the same text. States of an untrained network are close to 0 and may never pass the requested threshold. So
each copy has its own threshold, which the same share of states passes.

Shape letters: N characters of the corpus, n of its beginning, L layers, H units of each, U units of a
pattern, W windows.
"""

import math
from dataclasses import asdict, dataclass
from itertools import compress
from typing import Literal, NamedTuple

import numpy as np

from rnnviz.arrays import Doubles, Floats, Halves, Integers, Mask
from rnnviz.errors import ConfigError
from rnnviz.findings import Json, Panel, Reported, Sentence, report
from rnnviz.lab.analysis import controls
from rnnviz.lab.analysis.activations import Unit, activations, unit_at_column
from rnnviz.lab.engines.untrained import Fresh
from rnnviz.networks.numpy_model import Network
from rnnviz.networks.progress import Progress, part
from rnnviz.networks.verdicts import UNTRAINED_COPIES
from rnnviz.reprs import Pictured, ReprMixin
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace_long_text

DEFAULT_THRESHOLD = 0.5
"""The default distance from 0 at which a unit is on."""

MIN_OCCURRENCES = 100
"""Occurrences of an ending that a comparison needs."""

CONTROL_CHARS = 30_000
"""Characters of the searched text that untrained copies read."""

CHARS_BEFORE, CHARS_AFTER = 60, 30
"""Characters before and after a match that are kept with it; a table shows half as many."""

MIN_HELD_PLACES = 4096
"""Places that a search holds, at least, before it leaves out those that others stand before."""


_SIGN_BIT = 0x8000  # the sign's bit of a float16


@dataclass(frozen=True, repr=False)
class Pattern(ReprMixin):
    """The `units` that are on over a passage, and on which side of 0: `signs`, 1 or -1 for each. `length`
    counts the passage's characters.

    >>> Pattern((Unit(0, 3), Unit(0, 9)), (1, -1), length=4)
    Pattern(units=(Unit(layer=0, unit=3), Unit(layer=0, unit=9)), signs=(1, -1), threshold=0.5, length=4)
    """

    REPORT = "rnnviz.lab.reports.matching"

    units: tuple[Unit, ...]
    signs: tuple[int, ...]
    threshold: float = DEFAULT_THRESHOLD
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

    def said(self, edges: int = 0) -> Sentence:
        """The units that are on, in words; or that none is on throughout the passage and off within `edges`
        of it.
        """
        sentence: Sentence = report(self).pattern_words(self, edges)
        return sentence

    def along(self, states: Floats, scale: tuple[Literal["diverging", "sequential"], float, float]) -> Panel:
        """A heat map of the pattern's units in the layer's `states` (T, H), those above 0 first; all units
        for an empty pattern.
        """
        picture: Panel = report(self).pattern_panel(self, states, scale)
        return picture


@dataclass(frozen=True, repr=False)
class Match(ReprMixin):
    """Characters start .. stop - 1 of the corpus, over which these `units` of the pattern are on.

    `SearchedText.elsewhere` adds the `text` there; up to CHARS_BEFORE characters `before` and CHARS_AFTER
    `after`; the share of the pattern's units `on` at each of all these; the most probable `next` characters.
    """

    start: int
    stop: int
    units: tuple[Unit, ...]
    before: str = ""
    text: str = ""
    after: str = ""
    on: tuple[float, ...] = ()
    next: tuple[tuple[str, float], ...] = ()

    @property
    def overlap(self) -> int:
        """The number of the pattern's units that are on."""
        return len(self.units)

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class Ending:
    """How many of the `matches` end in `text`: `inside`; and `everywhere`, the share of all places that
    do.
    """

    text: str
    inside: int
    matches: int
    everywhere: float


@dataclass(frozen=True, eq=False, repr=False)
class Copy(ReprMixin):
    """An untrained copy of a network and its `states` (L·H, n) float16 over the beginning of a text."""

    model: Network
    states: Halves


@dataclass(frozen=True)
class Compared:
    """How many matches end in the text `name`: the network's own matches, and all copies' together."""

    name: str
    own: int
    untrained: int


@dataclass(frozen=True, repr=False)
class Untrained(ReprMixin):
    """The matches of the network and of untrained copies over the same `characters`.

    units       for each copy, the units that are on throughout the passage
    thresholds  for each copy
    own         matches of the network itself there
    matches     matches of all copies together
    shares      matches that end as the passage does, and as its ending does
    """

    characters: int
    units: tuple[int, ...]
    thresholds: tuple[float, ...]
    own: int
    matches: int
    shares: tuple[Compared, ...]


@dataclass(frozen=True, repr=False)
class Matches(ReprMixin, Pictured, Reported):
    """Matches, best first; `SearchedText.elsewhere` adds the second half.

    needed    units of the pattern that a place has at least
    least     characters over which a place has them
    windows   windows of `least` characters that have them
    of        windows altogether

    characters  characters of the searched text
    edges       those of the pattern
    passage     matches that end in the whole passage: the same characters once more
    ending      matches that end in its last characters, as many as occur at least MIN_OCCURRENCES times
    untrained   matches of untrained copies; None without copies
    """

    REPORT = "rnnviz.lab.reports.matching"

    pattern: Pattern
    found: tuple[Match, ...]
    needed: int
    least: int
    windows: int
    of: int
    characters: int = 0
    edges: int = 0
    passage: Ending | None = None
    ending: Ending | None = None
    untrained: Untrained | None = None

    @property
    def share(self) -> float:
        """The share of the corpus's windows with enough units on: how rare such a place is."""
        return self.windows / self.of if self.of else 0.0

    def facts(self) -> Json:
        """The values that --json prints."""
        pattern = self.pattern
        return {
            "characters": self.characters,
            "threshold": pattern.threshold,
            "edges": self.edges,
            "units": [
                {"layer": unit.layer, "unit": unit.unit, "sign": sign}
                for unit, sign in zip(pattern.units, pattern.signs, strict=True)
            ],
            "needed": self.needed,
            "least": self.least,
            "share_of_places": self.share,
            "matches": [
                {
                    "start": match.start,
                    "stop": match.stop,
                    "overlap": match.overlap,
                    "units": [[unit.layer, unit.unit] for unit in match.units],
                    "before": match.before,
                    "text": match.text,
                    "after": match.after,
                    "next": [list(symbol) for symbol in match.next],
                }
                for match in self.found
            ],
            "ending": self.ending and asdict(self.ending),
            "passage": self.passage and asdict(self.passage),
            "untrained": self.untrained and asdict(self.untrained),
        }


def pattern(
    trace: Trace,
    start: int,
    stop: int,
    *,
    threshold: float = DEFAULT_THRESHOLD,
    edges: int = 0,
    layer: int | None = None,
) -> Pattern:
    """The units that are on throughout characters start .. stop - 1 of a trace, in one `layer` or in all.

    `edges` above 0 keep only units that are off at each of so many characters before and after, as far as the
    text goes. The pattern may be empty. Raises ConfigError for characters outside the text, a threshold that
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
        throughout = on[begin:end].all(axis=0) & ~on[:begin].any(axis=0) & ~on[end:].any(axis=0)
        chosen |= dict.fromkeys(np.flatnonzero(throughout).tolist(), sign)
    H = trace.hidden.shape[2]
    units = {unit_at_column(column, H, layer): sign for column, sign in sorted(chosen.items())}
    return Pattern(tuple(units), tuple(units.values()), threshold, stop - start)


class Finder:
    """A search of states that come piece by piece; `share`, `least` and `most` are those of `find`.

    Holds the pattern's units over the last `least` characters, and the places that may be among the best: its
    memory doesn't grow with the text.
    """

    def __init__(
        self, H: int, pattern: Pattern, *, share: float = 0.75, least: int | None = None, most: int = 20
    ) -> None:
        self._H, self._pattern, self._most = H, pattern, most
        self._needed, self._least = check_search(pattern, share, least, most)
        self._read = self._enough = 0  # characters, and windows with enough units on
        self._on = np.empty((len(pattern), 0), np.bool_)
        # The start of the last stretch, which may go on, and the units on in it; none before a window.
        self._starts, self._sets = np.empty(0, np.int64), self._on
        self._places = _Places(self._starts, self._starts, self._sets)
        self._room = MIN_HELD_PLACES

    def add(self, values: Halves) -> None:
        """Search the states (L·H, n) of the next n characters."""
        pairs = zip(self._pattern.units, self._pattern.signs, strict=True)
        rows = [
            is_on(values[unit_column(unit, self._H)], sign, self._pattern.threshold) for unit, sign in pairs
        ]
        on = np.concatenate([self._on, rows], axis=1)
        self._read += values.shape[1]
        # `self._on` holds the last `least` characters: its windows began in the piece before and end in
        # this one.
        windows = throughout(on, self._least)  # (U, W); the first is of the piece before, if there was one
        begun = len(self._starts)
        self._enough += int((windows[:, begun:].sum(axis=0) >= self._needed).sum())
        changed = np.full(windows.shape[1], not begun)
        # A stretch goes on as long as the same units are on; it begins where the set differs from the
        # window before.
        changed[1:] = (windows[:, 1:] != windows[:, :-1]).any(axis=0)
        first = np.flatnonzero(changed)
        self._close(first + self._read - on.shape[1], windows[:, first])
        self._on = on[:, -self._least :]
        # Sorting out costs a sort of all places, so it waits until they have doubled.
        if len(self._places.starts) > self._room:
            self._places = _best_apart(self._places, self._most, int(self._starts[0]))
            self._room = MIN_HELD_PLACES + 2 * len(self._places.starts)

    def _close(self, starts: Integers, sets: Mask) -> None:
        """Take in all stretches but the last of these, as it may go on."""
        starts, sets = np.append(self._starts, starts), np.concatenate([self._sets, sets], axis=1)
        full = np.flatnonzero(sets[:, :-1].sum(axis=0) >= self._needed)
        closed = _Places(starts[full], starts[full + 1] + self._least - 1, sets[:, full])
        both = zip(self._places, closed, strict=True)
        self._places = _Places(*(np.concatenate(pair, axis=-1) for pair in both))
        self._starts, self._sets = starts[-1:], sets[:, -1:]

    def matches(self) -> Matches:
        """The matches in all pieces; to be called once, after the last."""
        windows = max(0, self._read - self._least + 1)
        self._close(np.array([windows]), np.zeros((len(self._pattern), 1), np.bool_))
        starts, stops, sets = _best_apart(self._places, self._most, self._read)
        units = self._pattern.units
        places = (
            Match(start, stop, tuple(compress(units, on)))
            for start, stop, on in zip(starts.tolist(), stops.tolist(), sets.T, strict=True)
        )
        return Matches(self._pattern, tuple(places), self._needed, self._least, self._enough, windows)


class _Places(NamedTuple):
    """Stretches with the same units of a pattern on in every window: `sets` (U, P)."""

    starts: Integers
    stops: Integers
    sets: Mask


def _best_apart(places: _Places, count: int, until: int) -> _Places:
    """The places that don't overlap a better one, best first, `most` of them; and those in doubt, because a
    better one may come yet.

    Whatever comes begins at character `until` or after it. So a place that ends before, and overlaps none in
    doubt, is certain, and those behind `most` certain ones can't be among the best.
    """
    starts, stops, sets = places
    # The last key is the first in rank: more units, then longer (start - stop is minus the length), then
    # earlier.
    order = np.lexsort((starts, starts - stops, -sets.sum(axis=0)))
    starts, stops = starts[order], stops[order]
    free, doubtful = np.ones(len(order), np.bool_), np.zeros(len(order), np.bool_)
    chosen, certain = list[int](), 0
    while certain < count and free.any():
        best = int(free.argmax())
        chosen.append(best)
        free[best] = False
        over = (stops > starts[best]) & (starts < stops[best])
        # A place that may still grow, or that overlaps one: it is kept, and what overlaps it stays in
        # doubt.
        if doubtful[best] or stops[best] > until:
            doubtful |= over
        else:
            free &= ~over
            certain += 1
    return _Places(starts[chosen], stops[chosen], sets[:, order[chosen]])


def find(
    values: Halves,
    H: int,
    pattern: Pattern,
    *,
    share: float = 0.75,
    least: int | None = None,
    most: int = 20,
) -> Matches:
    """The places of a corpus where at least `share` of a pattern's units are on over at least `least`
    characters; at most `most` places. `least` None: as many characters as the passage has.

    `values` (L·H, N) float16 are the corpus's states, of a network with H units a layer. Raises ConfigError
    for an empty pattern and numbers out of range.
    """
    finder = Finder(H, pattern, share=share, least=least, most=most)
    finder.add(values)
    return finder.matches()


def is_on(row: Halves, sign: int, threshold: float) -> Mask:
    """Whether one unit is on, (N,), given its states (N,) and its sign. Compares bits as integers, which
    order as float16 values do: sixty times as fast as numpy's comparison.
    """
    limit = int(np.float16(threshold).view(np.uint16))
    if sign > 0:
        return np.asarray(row.view(np.int16) >= np.int16(limit))
    # With the sign's bit set, a larger number without sign is a value further below 0; positive ones,
    # without the bit, are all smaller.
    return np.asarray(row.view(np.uint16) >= np.uint16(limit | _SIGN_BIT))


def throughout(on: Mask, length: int) -> Mask:
    """Whether units are on at each of `length` characters from each place, (U, N - length + 1), in
    log2(length) passes.
    """
    width = 1
    while width < length:
        step = min(width, length - width)
        on = on[:, :-step] & on[:, step:]
        width += step
    return on


def shares(values: Floats | Halves, pattern: Pattern) -> Doubles:
    """(n,) the share of a pattern's units that are on at each character, 0 to 1, from their `values` (n,
    U).
    """
    signed = values.astype(np.float16) * np.array(pattern.signs, np.float16)
    on: Doubles = (signed >= np.float16(pattern.threshold)).mean(axis=1)
    return on


def check_search(pattern: Pattern, share: float, least: int | None, most: int) -> tuple[int, int]:
    """The units and the characters that a match needs. Raises ConfigError."""
    if not len(pattern):
        raise ConfigError(
            "no unit is on throughout the passage, so there is nothing to look for; take a shorter passage, "
            "a lower threshold, or no edges"
        )
    if not 0 < share <= 1:
        raise ConfigError(
            "share says how many of the pattern's units must be on, above 0 and at most 1; received {share}",
            share=share,
        )
    _check_count("most", most, 1)
    least = pattern.length if least is None else least
    _check_count("least", least, 1)
    # 1e-9 keeps rounding from asking for one unit more: 0.07 · 100 is above 7.
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


def unit_column(unit: Unit, H: int) -> int:
    """The unit's column of `rnnviz.units.activations` of all layers."""
    return unit.layer * H + unit.unit


def untrained_copies(
    model: Network,
    text: str,
    count: int = UNTRAINED_COPIES,
    *,
    fresh: Fresh | None = None,
    progress: Progress | None = None,
) -> tuple[Copy, ...]:
    """Read the first BEGINNING characters of a normalised `text` with untrained copies of `model`, always the
    same; `fresh` is that of `rnnviz.units.untrained`.
    """
    text, read_copies = text[:CONTROL_CHARS], []
    for number, copy in enumerate(controls.untrained(model, count, fresh=fresh)):
        read = trace_long_text(copy, text, part(progress, number / count, (number + 1) / count))
        flat = read.hidden.reshape(len(read), -1)
        read_copies.append(Copy(copy, np.ascontiguousarray(flat.astype(np.float16).T)))
    return tuple(read_copies)

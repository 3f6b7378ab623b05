"""Places of a long text where the same units are on as in a passage: `rnnviz.units.match`.

Shape letters: N characters of the text, n of a piece, L layers, H units of each, V symbols.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rnnviz.arrays import Floats, Halves
from rnnviz.checks import checked
from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.lab.analysis.activations import activations
from rnnviz.lab.analysis.matching import (
    CHARS_AFTER,
    CHARS_BEFORE,
    DEFAULT_THRESHOLD,
    MIN_OCCURRENCES,
    Compared,
    Copy,
    Ending,
    Finder,
    Match,
    Matches,
    Pattern,
    Untrained,
    find,
    pattern,
    shares,
    unit_column,
    untrained_copies,
)
from rnnviz.lab.engines.untrained import Fresh
from rnnviz.networks.numpy_engine import NetworkReader
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.progress import Progress, Reporter, part
from rnnviz.networks.verdicts import UNTRAINED_COPIES
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace
from rnnviz.text.characters import normalise

PIECE_CHARS = 2048
"""Characters read at a time."""

MAX_KEPT_BYTES = 1 << 27
"""Bytes of a text's states that are kept in memory, at most: 260,000 characters of 256 units."""

READING_SHARE, SEARCHING_SHARE = 0.95, 0.9
"""Shares of the work: of a search, the reading, before the matches' context; of a match, the search, before
the untrained copies'."""

MIN_COPY_THRESHOLD = 1e-4
"""The lowest threshold for an untrained copy: above 0."""


class SearchedText:
    """A text to search, as a network reads it: its hidden states as float16, piece by piece.

    All states stay in memory if they take MAX_KEPT_BYTES at most. Of a longer text only the state before
    each piece does, and each search reads the text again.

    text   as the network reads it
    bytes  of all its states
    """

    def __init__(self, model: Network, text: str) -> None:
        self.model, self.text, self._weights = model, normalise(text, model.normaliser), weights_of(model)
        if not self.text:
            raise EmptyTextError("{name} has no characters; choose another text", name="the text to search")
        self._ids, self._H = model.vocabulary.encode(self.text), self._weights.layers[0].units
        self.bytes = 2 * len(self._weights.layers) * self._H * len(self.text)
        reader = NetworkReader(self._weights)
        reader.read(np.array([model.vocabulary.start]))
        self._before, self._kept = {0: _reader_state(reader)}, dict[int, Halves]()

    @property
    def in_memory(self) -> bool:
        """Whether all states are in memory, so that a search takes a moment."""
        return len(self._kept) * PIECE_CHARS >= len(self.text)

    def states(self, n: int) -> Halves:
        """The states of piece n, (L·H, n)."""
        if n in self._kept:
            return self._kept[n]
        # A piece needs the state before it, and so all pieces before it once; after that any is read by
        # itself.
        while n not in self._before:
            self.states(len(self._before) - 1)
        reader = NetworkReader(self._weights, self._before[n])
        piece_states = _as_float16(reader.states(self._ids[n * PIECE_CHARS : (n + 1) * PIECE_CHARS])[0][1:])
        self._before[n + 1] = _reader_state(reader)
        if self.bytes <= MAX_KEPT_BYTES:
            self._kept[n] = piece_states
        return piece_states

    def between(self, start: int, stop: int) -> Iterator[Halves]:
        """The states after characters start .. stop - 1, piece by piece."""
        for n in range(start // PIECE_CHARS, -(-stop // PIECE_CHARS)):
            yield self.states(n)[:, max(0, start - n * PIECE_CHARS) : stop - n * PIECE_CHARS]

    def search(
        self,
        pattern: Pattern,
        stop: int | None = None,
        *,
        progress: Progress | None = None,
        **options: Any,
    ) -> Matches:
        """The matches of a pattern in characters 0 .. stop - 1, without their context; `asked` are those of
        `rnnviz.lab.analysis.matching.find`.
        """
        finder, report, done = Finder(self._H, pattern, **options), Reporter(progress), 0
        stop = len(self.text) if stop is None else stop
        for piece in self.between(0, stop):
            finder.add(piece)
            done += piece.shape[1]
            report(done / stop)
        return finder.matches()

    def elsewhere(
        self,
        read: Trace,
        start: int,
        stop: int,
        *,
        threshold: float = DEFAULT_THRESHOLD,
        edges: int = 0,
        layer: int | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> Matches:
        """The matches of characters start .. stop - 1 of `read`, with their context.

        `threshold`, `edges` and `layer` are those of `pattern`, `asked` those of `find`. Raises ConfigError
        for values that these refuse, before anything is read.

        >>> import rnnviz
        >>> model, text = rnnviz.load("timemachine-gru"), "the time machine and the time traveller"
        >>> found = SearchedText(model, text).elsewhere(rnnviz.trace(model, "the time"), 4, 8)
        >>> found.passage.inside, [match.start for match in found.found]
        (2, [4, 25])
        """
        shape = pattern(read, start, stop, threshold=threshold, edges=edges, layer=layer)
        matches = self.search(shape, progress=part(progress, 0.0, READING_SHARE), **options)
        placed, report = list[Match](), Reporter(progress)
        for match in matches.found:
            placed.append(self._context(shape, match))
            report(READING_SHARE + (1 - READING_SHARE) * len(placed) / len(matches.found))
        passage, ends = read.text[start:stop], _match_ends(matches)
        whole, last = (
            Ending(text, _count_among(ends, places), len(ends), len(places) / len(self.text))
            for text, places in ((passage, self.ends_with(passage)), self._ending(passage))
        )
        return replace(
            matches,
            found=tuple(placed),
            characters=len(self.text),
            edges=edges,
            passage=whole,
            ending=last,
        )

    def beside(
        self,
        matches: Matches,
        read: Trace,
        start: int,
        stop: int,
        copies: Sequence[Copy],
        *,
        layer: int | None = None,
        share: float = 0.75,
        most: int = 20,
    ) -> Matches:
        """What `elsewhere` has found, beside the matches of untrained `copies`; the other arguments are those
        of that call. See `rnnviz.lab.analysis.matching.untrained_copies`.

        >>> import rnnviz
        >>> model, text = rnnviz.load("timemachine-gru"), "the time machine and the time traveller"
        >>> searched, read = SearchedText(model, text), rnnviz.trace(model, "the time")
        >>> found = searched.elsewhere(read, 4, 8)
        >>> searched.beside(found, read, 4, 8, untrained_copies(model, text)).untrained.shares[0]
        Compared(name='time', own=2, untrained=6)
        """
        assert matches.passage
        assert matches.ending
        options: dict[str, Any] = {"share": share, "least": matches.least, "most": most}
        characters, threshold = copies[0].states.shape[1], matches.pattern.threshold
        on = float((abs(activations(read, layer=layer)) >= threshold).mean())
        network_ends = _match_ends(self.search(matches.pattern, characters, **options))
        thresholds, units, copy_ends = [], [], []
        for copy in copies:
            copy_trace = trace(copy.model, read.text)
            states = abs(activations(copy_trace, layer=layer))
            as_many = max(MIN_COPY_THRESHOLD, float(np.quantile(states, 1 - on)))
            same = pattern(copy_trace, start, stop, threshold=as_many, edges=matches.edges, layer=layer)
            thresholds.append(as_many)
            units.append(len(same))
            if len(same):
                copy_ends += _match_ends(find(copy.states, self._H, same, **options))
        compared = []
        for text in (matches.passage.text, matches.ending.text):
            places = self.ends_with(text)
            compared.append(
                Compared(text, _count_among(network_ends, places), _count_among(copy_ends, places))
            )
        beside = Untrained(
            characters, tuple(units), tuple(thresholds), len(network_ends), len(copy_ends), tuple(compared)
        )
        return replace(matches, untrained=beside)

    def _context(self, pattern: Pattern, match: Match) -> Match:
        """A match with its context."""
        start, stop = max(0, match.start - CHARS_BEFORE), min(len(self.text), match.stop + CHARS_AFTER)
        columns = [unit_column(unit, self._H) for unit in pattern.units]
        on = np.concatenate([shares(piece[columns].T, pattern) for piece in self.between(start, stop)])
        return replace(
            match,
            before=self.text[start : match.start],
            text=self.text[match.start : match.stop],
            after=self.text[match.stop : stop],
            on=tuple(on.tolist()),
            next=tuple(self.next(match.stop - 1)),
        )

    def _ending(self, passage: str) -> tuple[str, list[int]]:
        """The longest ending of the passage with at least ENOUGH occurrences, or the last character; and its
        positions.
        """
        ending, same = passage[-1:], self.ends_with(passage[-1:])
        for length in range(2, len(passage) + 1):
            longer = self.ends_with(passage[-length:])
            if len(longer) < MIN_OCCURRENCES:
                break
            ending, same = passage[-length:], longer
        return ending, same

    def next(self, position: int, k: int = 5) -> list[tuple[str, float]]:
        """The k most probable characters after character `position`, with their probabilities.

        Computed from float16 states, so within 0.01 of the network's own probabilities.
        """
        # One character lies in one piece.
        (states,) = self.between(position, position + 1)
        top = states[-self._H :].T.astype(np.float32)
        probabilities = np.exp(self._weights.log_probs(top)[0].astype(np.float64))
        best = np.argsort(-probabilities, kind="stable")[:k].tolist()
        return [(self.model.vocabulary.symbol(s), float(probabilities[s])) for s in best]

    def ends_with(self, text: str) -> list[int]:
        """The positions at which the network has just read `text`."""
        return [match.start() + len(text) - 1 for match in re.finditer(f"(?={re.escape(text)})", self.text)]


def _reader_state(reader: NetworkReader) -> tuple[Floats, Floats | None]:
    """A reader's state, for another to go on from."""
    return reader.hidden[0], None if reader.cell is None else reader.cell[0]


def _as_float16(hidden: Floats) -> Halves:
    """(n, L, H) as (L·H, n) float16, clipped to its range: the states of a relu network may explode."""
    largest = float(np.finfo(np.float16).max)
    clipped = np.clip(np.nan_to_num(hidden), -largest, largest).reshape(len(hidden), -1).T
    return np.ascontiguousarray(clipped, np.float16)


def _match_ends(matches: Matches) -> list[int]:
    return [match.stop - 1 for match in matches.found]


def _count_among(ends: list[int], places: list[int]) -> int:
    return int(np.isin(ends, places).sum())


@checked
def match(
    model: Network,
    text: str,
    start: int,
    stop: int,
    corpus: str,
    *,
    threshold: float = DEFAULT_THRESHOLD,
    edges: int = 0,
    layer: int | None = None,
    share: float = 0.75,
    least: int | None = None,
    most: int = 20,
    copies: int = UNTRAINED_COPIES,
    fresh: Fresh | None = None,
    folder: object = None,
    progress: Progress | None = None,
) -> Matches:
    """Places of `corpus` where the same units are on as in a passage, characters start .. stop - 1 of `text`.

    threshold  the distance from 0 at which a unit is on, throughout the passage
    edges      take only units that are off within so many characters before and after the passage
    layer      one layer; None: all layers
    share      the share of these units that a place needs, above 0 and at most 1
    least      characters over which a place needs them; None: as many as the passage has
    most       returned places, at most
    copies     untrained copies of the network, matched as a control; `fresh` is that of
               `rnnviz.units.untrained`
    folder     of 2.0.0, where it kept states on disk; refused
    progress   called about ten times a second with the share done

    A GRU with 256 units takes half a minute for a million characters. Their states take 134 MB of memory at
    most, as those of a longer text are read in pieces. Follows LSTMVis (Strobelt et al. 2018,
    arXiv:1606.07461). Raises ConfigError for a passage outside the text, a passage without a unit that is on,
    and numbers out of range; EmptyTextError for an empty corpus, TextError for half a surrogate pair.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> model, corpus = rnnviz.load("timemachine-gru"), "the time machine and the time traveller"
    >>> found = units.match(model, "the time", 4, 8, corpus)
    >>> [(place.start, place.text) for place in found.found], found.untrained.shares[0]
    ([(4, 'time'), (25, 'time')], Compared(name='time', own=2, untrained=6))
    """
    if folder is not None:
        raise ConfigError("folder is gone: states stay in memory, and a longer text is read anew each time")
    read, searched = trace(model, text), SearchedText(model, corpus)
    matches = searched.elsewhere(
        read,
        start,
        stop,
        threshold=threshold,
        edges=edges,
        layer=layer,
        share=share,
        least=least,
        most=most,
        progress=part(progress, 0.0, SEARCHING_SHARE),
    )
    if copies and matches.found:
        reading = part(progress, SEARCHING_SHARE, 1.0)
        beside = untrained_copies(model, searched.text, copies, fresh=fresh, progress=reading)
        matches = searched.beside(matches, read, start, stop, beside, layer=layer, share=share, most=most)
    Reporter(progress).end()
    return matches

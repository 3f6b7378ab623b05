"""The control of a match: the same passage in the same network untrained, on the beginning of the same text.
Random weights echo what was just read, so their units go on together in places that end alike, too.

    copies    untrained copies of the network, and their states over the beginning of an indexed text
    untrained what the places have in common where most of a copy's own units are on as in the passage

Before training states are close to 0, and none may pass the threshold that was asked for. So each copy has
one of its own, which as large a share of its states passes.

Shape letters: L layers, H units of each, n characters.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from rnnviz.arrays import Halves
from rnnviz.errors import ConfigError
from rnnviz.networks.numpy_model import Network
from rnnviz.networks.progress import mapped
from rnnviz.networks.untrained import Fresh
from rnnviz.pictured import Brief
from rnnviz.reading.trace import Trace, trace, tracing
from rnnviz.units import controls
from rnnviz.units.controls import COPIES, ControlProgress
from rnnviz.units.indexing import Index
from rnnviz.units.match_controls import Controls
from rnnviz.units.matching import Matches, find, pattern
from rnnviz.units.unit import activations

CHARACTERS = 30_000
"""Characters of the indexed text that are searched, from its beginning."""

_LOWEST = 1e-4
"""A threshold is above 0."""


@dataclass(frozen=True, eq=False, repr=False)
class Copy(Brief):
    """An untrained copy of a network and its `states` (L·H, n) float16 over the beginning of a text."""

    model: Network
    states: Halves


@dataclass(frozen=True, repr=False)
class Compared(Brief):
    """How many matches end in the text `name`: of the network's own, and of all copies'."""

    name: str
    own: int
    untrained: int


@dataclass(frozen=True, repr=False)
class Untrained(Brief):
    """What matches of the network and of untrained copies have in common, in the same `characters`.

    units       of each copy: how many are on throughout the passage
    thresholds  of each copy
    own         matches of the network itself there
    matches     of all copies together
    shares      for the whole passage and its ending, as in `rnnviz.units.match_controls.Controls`
    """

    characters: int
    units: tuple[int, ...]
    thresholds: tuple[float, ...]
    own: int
    matches: int
    shares: tuple[Compared, ...]


def copies(
    model: Network, text: str, count: int = COPIES, *, fresh: Fresh | None = None
) -> Generator[ControlProgress, None, tuple[Copy, ...]]:
    """Read the first CHARACTERS of a normalised `text` with untrained copies of `model`, always the same;
    `fresh` is that of `rnnviz.units.untrained`.
    """
    text, found = text[:CHARACTERS], []
    for number, copy in enumerate(controls.untrained(model, count, fresh=fresh)):
        read = yield from mapped(tracing(copy, text), partial(_of_all, number, count))
        flat = read.hidden.reshape(len(read), -1)
        found.append(Copy(copy, np.ascontiguousarray(flat.astype(np.float16).T)))
    return tuple(found)


def _of_all(number: int, count: int, share: float) -> ControlProgress:
    return ControlProgress((number + share) / count)


def untrained(
    index: Index,
    found: Matches,
    beside: Controls,
    read: Trace,
    start: int,
    made: Sequence[Copy],
    *,
    share: float = 0.75,
    edges: int = 0,
    layer: int | None = None,
    most: int = 20,
) -> Untrained:
    """The matches of untrained copies beside the network's own, in the characters that the copies have read.

    `found` are the matches in the `index` of the pattern of characters `start` on of `read`, `beside` their
    controls; `share`, `edges`, `layer` and `most` are as they were for these. `made`
    are `copies` of the same text. Raises ConfigError where there is no copy.

    >>> import tempfile
    >>> import rnnviz
    >>> from rnnviz import units
    >>> from rnnviz.units import match_controls, match_untrained
    >>> model, text = rnnviz.load("timemachine-gru"), "the time machine and the time traveller"
    >>> read = rnnviz.trace(model, "the time")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     index = units.run(units.index(model, text, f"{folder}/index"))
    ...     found = index.match(units.pattern(read, 4, 8))
    ...     beside = match_controls.beside(index, found, "time")
    ...     made = units.run(match_untrained.copies(model, text))
    ...     control = match_untrained.untrained(index, found, beside, read, 4, made)
    >>> control.shares[0]
    Compared(name='time', own=2, untrained=6)
    """
    if not made:
        raise ConfigError("a control needs at least one untrained copy; received none")
    count, asked = made[0].states.shape[1], found.pattern
    stop = start + asked.length
    on = float((abs(activations(read, layer=layer)) >= asked.threshold).mean())
    own = _ends(index.match(asked, share=share, least=found.least, most=most, first=count))
    thresholds, units, theirs = [], [], []
    for copy in made:
        passage = trace(copy.model, read.text)
        states = abs(activations(passage, layer=layer))
        threshold = max(_LOWEST, float(np.quantile(states, 1 - on)))
        same = pattern(passage, start, stop, threshold=threshold, edges=edges, layer=layer)
        thresholds.append(threshold)
        units.append(len(same))
        if len(same):
            theirs += _ends(find(copy.states, index.units, same, share=share, least=found.least, most=most))
    held = [(beside.whole.name, index.ends_with(beside.whole.name)), (beside.ending, beside.same)]
    shares = (Compared(name, _among(own, places), _among(theirs, places)) for name, places in held)
    return Untrained(count, tuple(units), tuple(thresholds), len(own), len(theirs), tuple(shares))


def _ends(found: Matches) -> list[int]:
    return [match.stop - 1 for match in found.found]


def _among(ends: list[int], places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
    return int(np.isin(np.array(ends, np.int64), places).sum())

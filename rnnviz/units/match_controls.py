"""What the places that match have in common, beside what simpler things have: that most of them lie in
quotations says little where most of the corpus does, or wherever the same characters have just been read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.pictured import Brief
from rnnviz.units.indexing import Index
from rnnviz.units.matching import Matches
from rnnviz.units.targets import Target

ENOUGH = 100
"""Places that end in the same characters, to say what share of them lies in a track."""


@dataclass(frozen=True, repr=False)
class Share(Brief):
    """How often something holds at the last character: `inside` of the `matches`, and as shares of the
    places that end in the same characters (None: too few), and of all characters.
    """

    name: str
    inside: int
    matches: int
    same: float | None
    everywhere: float


@dataclass(frozen=True, repr=False)
class Controls(Brief):
    """What the matches have in common, beside controls.

    ending  the last characters of the passage: as many as at least ENOUGH places of the corpus end in
    same    those places
    ends    how many of the matches are among them
    whole   how many end in the whole passage: the same characters once more, and nothing else in common
    tracks  a Share for each track
    """

    ending: str
    same: npt.NDArray[np.int64]
    ends: Share
    whole: Share
    tracks: tuple[Share, ...]


def beside(index: Index, found: Matches, passage: str, tracks: Sequence[Target] = ()) -> Controls:
    """How many of the matches end as the `passage` does, and how many lie in each of the `tracks`, which
    are masks over the indexed text (or a longer one that begins with it).

    Raises ConfigError for a graded track, or one shorter than the text.
    """
    ends = np.array([match.stop - 1 for match in found.found], np.int64)
    ending, same = _ending(index, passage)
    shares = []
    for track in tracks:
        if track.graded or len(track) < len(index):
            raise ConfigError(
                "a track says for each of the {count:,} characters whether it holds; {name} doesn't",
                count=len(index),
                name=track.name,
            )
        values = track.values[: len(index)]
        there = float(values[same].mean()) if len(same) >= ENOUGH else None
        shares.append(Share(track.name, int(values[ends].sum()), len(ends), there, float(values.mean())))
    ends_in, whole = (
        Share(text, int(np.isin(ends, places).sum()), len(ends), None, len(places) / max(1, len(index)))
        for text, places in ((ending, same), (passage, index.ends_with(passage)))
    )
    return Controls(ending, same, ends_in, whole, tuple(shares))


def _ending(index: Index, passage: str) -> tuple[str, npt.NDArray[np.int64]]:
    """The longest ending of the passage that occurs often enough, and where; the last character at least."""
    ending, same = passage[-1:], index.ends_with(passage[-1:])
    for length in range(2, len(passage) + 1):
        longer = same[same >= length - 1]
        longer = longer[index.points(longer - length + 1) == ord(passage[-length])]
        if len(longer) < ENOUGH:
            break
        ending, same = passage[-length:], longer
    return ending, same

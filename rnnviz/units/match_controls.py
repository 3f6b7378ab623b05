"""What the places that match have in common, beside what simpler things have: that most of them end in the
same characters says little where most places of the corpus do.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnnviz.pictured import Brief
from rnnviz.units.indexing import Index
from rnnviz.units.matching import Matches

ENOUGH = 100
"""Places that an ending occurs at, to be compared with."""


@dataclass(frozen=True, repr=False)
class Share(Brief):
    """How many of the `matches` end in the text `name`, `inside`; and the share of all places that do."""

    name: str
    inside: int
    matches: int
    everywhere: float


@dataclass(frozen=True, repr=False)
class Controls(Brief):
    """What the matches have in common, beside controls.

    ending  the last characters of the passage: as many as at least ENOUGH places of the corpus end in
    same    those places
    ends    how many of the matches are among them
    whole   how many end in the whole passage: the same characters once more, and nothing else in common
    """

    ending: str
    same: npt.NDArray[np.int64]
    ends: Share
    whole: Share


def beside(index: Index, found: Matches, passage: str) -> Controls:
    """How many of the matches end as the `passage` does."""
    ends = np.array([match.stop - 1 for match in found.found], np.int64)
    ending, same = _ending(index, passage)
    ends_in, whole = (
        Share(text, int(np.isin(ends, places).sum()), len(ends), len(places) / max(1, len(index)))
        for text, places in ((ending, same), (passage, index.ends_with(passage)))
    )
    return Controls(ending, same, ends_in, whole)


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

"""What a search found, and what may be said of it: where a unit only tells as much as something simpler does,
it is that which is named.

    chance      what the best unit reaches for shifted targets
    character   what the character just read tells by itself
    untrained   what the best unit of the same network reaches before any training, found by the same
                procedure: random weights echo what was just read, so that some unit of theirs tells much
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rnnviz.pictured import Pictured
from rnnviz.units.unit import Unit

Doubles = npt.NDArray[np.float64]
Measure = Literal["AUC", "correlation"]

MARGIN = 0.02
"""An mlp, which has no memory, passes the character alone by 0.011 on *The Time Machine*: no memory."""

ENOUGH = 20_000
"""Characters from which on it is said whether a unit remembers. On fewer, another stretch of the same text
often has another best unit."""

Verdict = Literal["short", "same text", "nothing", "open", "character", "untrained", "chance", "remembers"]
"""What a search comes to.

short      fewer than ENOUGH characters: nothing is said
same text  ranked and measured on one text: nothing is said
nothing    the best-ranked unit is not above chance
open       it is, but what is simpler was not measured
character  it tells no more, by MARGIN, than the character just read
untrained  it tells no more, by MARGIN, than an untrained network's best unit
chance     it is above chance, but by less than MARGIN
remembers  it is above all three by more than MARGIN
"""


def verdict(
    score: float,
    chance: float,
    character: float | None,
    untrained: Sequence[float],
    characters: int,
    *,
    held_out: bool = True,
) -> Verdict:
    """What may be said of a unit that was ranked best on one half of a text and reaches `score` on the other.

    >>> verdict(0.986, 0.567, 0.935, [0.991, 0.995, 0.994], characters=200_000)
    'untrained'
    """
    below = score - MARGIN
    if characters < ENOUGH:
        return "short"
    if not held_out:
        return "same text"
    if score <= chance:
        return "nothing"
    if character is not None and below <= character:
        return "character"
    if untrained and below <= max(untrained):
        return "untrained"
    if below <= chance:
        return "chance"
    return "remembers" if untrained and character is not None else "open"


@dataclass(frozen=True)
class Found:
    """A unit and how well it tells.

    score      AUC (0.5: not at all, 1: always) or correlation (0 to 1) on the measured half; below 0.5, or 0,
               where its direction turned round there
    ranked_by  the same on the ranked half, at least 0.5 or 0
    direction  +1 if it is higher where the target holds, -1 if it is lower
    p          the share of shifted targets for which the best unit does at least as well
    """

    unit: Unit
    score: float
    ranked_by: float
    direction: int
    p: float


@dataclass(frozen=True, eq=False, repr=False)
class Search(Pictured):
    """What a search found: `found` holds all units, the best-ranked first.

    chance      what the best unit reaches by chance in 95 of 100 searches; 1.0 for too short a text
    shifts      (S,) the best unit's score for each shifted target, in increasing order
    character   the score of the character just read; a unit that tells no more needs no memory; None
                where only activations were given
    held_out    False where the target isn't in both halves: ranked and measured on one text
    characters  T; `inside` of them within the target, None if it is graded
    untrained   the score of the best-ranked unit of each untrained copy; () where none was read
    """

    target: str
    measure: Measure
    quantity: str
    found: tuple[Found, ...]
    chance: float
    shifts: Doubles
    character: float | None
    held_out: bool
    characters: int
    inside: int | None
    untrained: tuple[float, ...] = ()

    def __repr__(self) -> str:
        best = self.best
        return (
            f"<Search for {self.target} among {len(self.found):,} units: {best.unit}, {self.measure} "
            f"{best.score:.3f}, chance {self.chance:.3f}, {self.verdict!r}>"
        )

    @property
    def best(self) -> Found:
        """The unit that ranked best: the only one whose score is on text that did not choose it."""
        return self.found[0]

    @property
    def above_chance(self) -> tuple[Found, ...]:
        """The units above the chance line, in their order. Where `best` is not among them, none is a find:
        they would be chosen by the half that measures them."""
        return tuple(f for f in self.found if f.score > self.chance)

    @property
    def verdict(self) -> Verdict:
        """What may be said of `best`."""
        return verdict(
            self.best.score,
            self.chance,
            self.character,
            self.untrained,
            self.characters,
            held_out=self.held_out,
        )

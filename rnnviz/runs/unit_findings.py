"""What units of the shipped models respond to: `python -m rnnviz units`, on held-out text. A unit that scores
no better than the character just read needs no memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MARGIN = 0.02
"""An mlp, which has no memory, passes the character alone by 0.011 on *The Time Machine*: no memory."""


@dataclass(frozen=True)
class Finding:
    """One search.

    target     a name of `rnnviz.units.KINDS`
    unit       the best on the ranking half; None where nothing was found
    score      AUC, or correlation for a graded target; None where nothing was found
    chance     what chance reaches in 95 of 100 searches
    character  the score of the character just read, where measured
    """

    target: str
    unit: int | None = None
    score: float | None = None
    chance: float | None = None
    character: float | None = None
    quantity: str = "hidden"

    @property
    def found(self) -> bool:
        """Whether the score is above chance."""
        return self.score is not None and self.chance is not None and self.score > self.chance

    @property
    def remembers(self) -> bool:
        """Whether the score beats chance and, by MARGIN, the character just read."""
        return self.found and (self.character is None or (self.score or 0) > self.character + MARGIN)


FINDINGS: Mapping[str, tuple[Finding, ...]] = {
    "python-gru": (
        Finding("quotes", 294, 0.770, 0.631, 0.622),
        Finding("indentation", 281, 0.986, 0.567, 0.935),
        Finding("indent-depth", 81, 0.650, 0.234, 0.127),
        Finding("line-position", 263, 0.807, 0.061, 0.464),
        Finding("brackets", 39, 0.929, 0.555, 0.722),
        Finding("capital", 179, 0.885, 0.580, 1.0),
    ),
    "shakespeare-lstm": (
        Finding("line-position", 35, 0.842, 0.039, 0.360, "cell"),
        Finding("line-position", 35, 0.541, 0.032, 0.360),
        Finding("capital", 247, 0.866, 0.523, 1.0),
    ),
    "chinese-gru": (Finding("quotes", 372, 0.924, 0.579, 0.691), Finding("line-position")),
    "timemachine-gru": (
        Finding("line-position", 239, 0.122, 0.071, 0.074),
        Finding("quotes", 196, 0.542, 0.584, 0.510),
    ),
    "timemachine-lstm": (
        Finding("line-position", 41, 0.089, 0.062, 0.074),
        Finding("line-position", 41, 0.155, 0.074, 0.074, "cell"),
        Finding("quotes", 60, 0.507, 0.558, 0.510),
    ),
    "timemachine-rnn": (
        Finding("line-position", 196, 0.058, 0.039, 0.074),
        Finding("quotes", 164, 0.508, 0.531, 0.510),
    ),
    "timemachine-mlp": (
        Finding("line-position", 84, 0.085, 0.037, 0.074),
        Finding("quotes", 122, 0.500, 0.524, 0.510),
    ),
}
"""By model, the clearest first. What is never closed ends with its line for Python and Chinese."""


def of(model: str) -> tuple[Finding, ...]:
    """The findings for a model, by its name; none for unknown models."""
    return FINDINGS.get(model, ())

"""Perturbation: one changed letter, and how soon the two readings converge.

    ‖ΔH_t‖    Euclidean length of the difference of all layers' hidden states after character t
    KL_t      Σ_x P(x) log P(x)/P'(x), of the predictions after character t; P without the change, P' with it

Both are 0 before the change. States may differ where predictions agree: remembered, but not used.

Shape letters: T time steps, L layers, H units, V symbols, K characters after a change, B places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Doubles, Floats
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.findings import Json, Panel, Reported, report
from rnnviz.networks.numpy_engine import LOGITS_ENTRIES, NetworkReader, side_by_side
from rnnviz.networks.numpy_model import Network
from rnnviz.reprs import Pictured, ReprMixin
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import Tracer, trace


@dataclass(frozen=True, eq=False, repr=False)
class Perturbation(ReprMixin, Pictured, Reported):
    """Two readings that differ in the character text[at]; places count from 0.

    before, after  their Traces
    distance    (T,) ‖ΔH_t‖
    divergence  (T + 1,) KL_t in nats; row t is about character t + 1, as in `Trace.log_probs`
    threshold   bits; a larger KL_t counts as remembered
    """

    REPORT = "rnnviz.lab.reports.perturbation"

    at: int
    before: Trace
    after: Trace
    distance: Doubles
    divergence: Doubles
    threshold: float = 0.01

    @property
    def bits(self) -> Doubles:
        """`divergence` in bits, (T + 1,)."""
        return self.divergence / math.log(2)

    def remembered(self, threshold: float | None = None) -> int:
        """The number of characters after the change up to the last KL_t of `threshold` bits or more."""
        last = np.flatnonzero(self.bits >= (self.threshold if threshold is None else threshold))
        return int(last[-1]) - (self.at + 1) if len(last) else 0

    def facts(self) -> Json:
        """The change, how long predictions remember it, and each character from it on: divergence in bits."""
        read = zip(self.before.text, self.distance.tolist(), self.bits[1:].tolist(), strict=True)
        rows = [
            {"position": t, "character": character, "distance": distance, "bits": bits}
            for t, (character, distance, bits) in enumerate(read)
        ]
        return {
            "position": self.at,
            "before": self.before.text[self.at],
            "after": self.after.text[self.at],
            "remembered": self.remembered(),
            "threshold": self.threshold,
            "characters": rows[self.at :],
        }

    def panels(self, others: Sequence[Perturbation] = ()) -> list[Panel]:
        """The distance of predictions and of states; `others` are the same change in other networks."""
        curves: list[Panel] = report(self).panels(self, others)
        return curves


@checked
def perturb(model: Network, text: str, at: int, character: str, *, threshold: float = 0.01) -> Perturbation:
    """Read `text`, and read it with `character` in place of text[at]; places count from 0.

    A KL_t of `threshold` bits or more counts as remembered. Returns `bits` (T + 1,) and `distance` (T,).
    Raises ConfigError for a place outside the text or an invalid or unchanged character, and TextError for
    half a surrogate pair.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> units.perturb(rnnviz.load("timemachine-gru"), "machine", 2, "r").bits.shape
    (8,)
    """
    tracer = Tracer(model)
    before = tracer.extend(text)
    text = before.text
    if not 0 <= at < len(text):
        raise ConfigError(
            "the text has {count:,} characters, counted from 0; received at={at!r}",
            count=len(text),
            at=at,
        )
    if len(character) != 1 or character == text[at] or character == "\r":
        raise ConfigError(
            "one character takes the place of another; received {character!r} for {text!r}",
            character=character,
            text=text[at],
        )
    # The Tracer keeps `before` intact and reads only from the change on.
    after = tracer.extend(text[:at] + character + text[at + 1 :])
    apart = after.hidden[at:].astype(np.float64) - before.hidden[at:]
    distance = np.zeros(len(text))
    distance[at:] = np.sqrt((apart**2).sum(axis=(1, 2)))
    return Perturbation(at, before, after, distance, divergence(before, after, at + 1), threshold)


def kl(p: Floats, q: Floats) -> Doubles:
    """KL(P ‖ Q) in nats, (n,), from log-probabilities (n, V); rounding errors below 0 become 0."""
    p64 = p.astype(np.float64)
    # In float64: the terms of two almost equal predictions cancel down to the rounding of float32.
    return np.asarray(np.maximum((np.exp(p64) * (p64 - q)).sum(axis=1), 0.0))


def divergence(before: Trace, after: Trace, first: int) -> Doubles:
    """(T + 1,) KL_t in nats between two readings of equal length; 0 before row `first`."""
    nats = np.zeros(len(before) + 1)
    # In pieces: a long text's (T, V) predictions twice over would not fit into memory.
    step = max(1, LOGITS_ENTRIES // before.vocabulary.size)
    for begin in range(first, len(nats), step):
        end = min(begin + step, len(nats))
        nats[begin:end] = kl(before.log_probs_at(begin, end), after.log_probs_at(begin, end))
    return nats


@dataclass(frozen=True, eq=False, repr=False)
class Memory(ReprMixin):
    """The mean effect of a changed letter over `places` places, after 0 .. K characters, (K + 1,); see
    `Perturbation`.
    """

    distance: Doubles
    divergence: Doubles
    places: int

    @property
    def bits(self) -> Doubles:
        """`divergence` in bits, (K + 1,)."""
        return self.divergence / math.log(2)

    @property
    def half_life(self) -> int | None:
        """Characters until the mean divergence has halved; None: more than K."""
        below = np.flatnonzero(self.divergence <= self.divergence[0] / 2)
        return int(below[0]) if len(below) else None


@checked
def memory(model: Network, text: str, *, steps: int = 100, places: int = 64, seed: int = 0) -> Memory:
    """How long a network remembers one letter of `text`, on average: `perturb` at many places.

    steps   K, the characters for which a changed letter is followed
    places  drawn by `seed`, each with K characters after it; all are read side by side
    seed    also draws the new letters, by their frequency in the text

    Returns `divergence` (K + 1,) in nats and `distance` (K + 1,). Raises ConfigError for a text of K
    characters or fewer, or of one letter only, and for numbers below 1.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> found = units.memory(rnnviz.load("timemachine-gru"), "The Time Traveller", steps=9, places=4)
    >>> found.bits.shape, found.bits[0] > found.bits[9]
    ((10,), np.True_)
    """
    if steps < 1 or places < 1:
        raise ConfigError(
            "steps and places are at least 1; received {steps} and {places}", steps=steps, places=places
        )
    read = trace(model, text)
    if len(read) <= steps or len(np.unique(read.ids)) < 2:
        raise ConfigError(
            "to follow a changed letter for {steps} characters, a text has more than {steps}, "
            "of at least two kinds; received {count:,}",
            steps=steps,
            count=len(read),
        )
    generator = np.random.default_rng(seed)
    last_start = len(read) - steps
    # Each place has all its K characters within the text, so that every mean below is over the same places.
    at = generator.choice(last_start, min(places, last_start), replace=False)
    new_ids = generator.choice(read.ids, len(at))
    # a new letter equal to the old one changes nothing: draw again
    while (same := new_ids == read.ids[at]).any():
        new_ids[same] = generator.choice(read.ids, int(same.sum()))
    before = side_by_side([read.state_after(t) for t in at.tolist()])
    reader = NetworkReader(read.weights, before, texts=len(at))
    distance, divergence = np.zeros(steps + 1), np.zeros(steps + 1)
    for k in range(steps + 1):
        top = reader.read((new_ids if k == 0 else read.ids[at + k])[None])[0]
        unchanged = read.hidden[at + k]  # (B, L, H)
        apart = reader.hidden[0].swapaxes(0, 1).astype(np.float64) - unchanged
        distance[k] = np.sqrt((apart**2).sum(axis=(1, 2))).mean()
        divergence[k] = kl(read.weights.log_probs(unchanged[:, -1]), read.weights.log_probs(top)).mean()
    return Memory(distance, divergence, len(at))

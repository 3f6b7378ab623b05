"""Ablation: how much worse a network predicts without each of its units.

Copies of the network, each without another unit, read the text as a batch: sixty-four cost little more than
one.

    loss = mean over the text of  -log P(x_t | x_<t) without the unit  -  the same with it, nats per character

Silencing a unit leads to states that no text leads to, so a loss is an upper limit: the unit matters at most
as much. Holding a unit at its mean is the milder question.

A ranking by loss describes the network only if another text ranks the units alike. Most losses lie close
together, so a stable ranking takes much text. Rank correlations of the losses between the two halves of a
text, units held at their means (`Ablation.replication`):

    characters           4,000   8,000   16,000   32,000   64,000
    timemachine-gru                         0.2      0.4      0.7
    chinese-gru            0.2     0.2      0.4      0.5
    shakespeare-lstm       0.2     0.1

Shape letters: n characters, U units, H units of a layer, B texts side by side, m passages, R random
directions, K columns of losses: the requested units, then the random directions. S sides: 1, the whole text;
with a target 2, outside and inside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids, Integers, Mask
from rnnviz.checks import checked
from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.findings import Json, Reported
from rnnviz.lab.analysis import directions, targets
from rnnviz.lab.analysis.activations import Unit
from rnnviz.lab.analysis.bootstrap import Resampled, block_length, resample
from rnnviz.lab.analysis.directions import Direction
from rnnviz.lab.analysis.interventions import Intervention, side_by_side
from rnnviz.lab.analysis.ranking import correlation, ranks
from rnnviz.lab.analysis.targets import Target
from rnnviz.networks.config import check_layer
from rnnviz.networks.numpy_engine import LOGITS_ENTRIES, NetworkReader, Weights
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.progress import Progress, Reporter
from rnnviz.reprs import Pictured, ReprMixin
from rnnviz.scoring import totals
from rnnviz.text.characters import normalise

FIRST_TEST_CHARS = 4_000
"""Characters before the first test whether a ranking replicates; each further test reads twice as many."""

MAX_PASSAGES, MAX_PASSAGE_CHARS = 1000, 100
"""Passages at most, and characters of a passage at most: losses are summed by passage, and intervals resample
passages.
"""

MIN_REPLICATION = 0.5
"""The lowest rank correlation between two halves of a text at which a ranking is shown."""

INTERVAL_SAMPLES = 500
"""Resampled texts for an interval."""


@dataclass(frozen=True, eq=False, repr=False)
class Within(ReprMixin):
    """Losses inside a target and outside, nats per character; each a Resampled (U,).

    A character counts as inside if the target held at the character before: the prediction was made there.
    `difference` is inside less outside.
    """

    target: str
    characters: int
    inside: Resampled
    outside: Resampled
    difference: Resampled


@dataclass(frozen=True, eq=False, repr=False)
class Ablation(ReprMixin, Pictured, Reported):
    """The loss without each unit, on one text.

    units   (U,) of `layer`, in the requested order
    nats    -log P of the text by the whole network
    sums    (S, m, U) nats lost without each unit, summed by passage; `counts` (S, m) are the passages'
            characters
    target  the name of the target that separates the two sides; None with one side
    random  the same for random directions, numbered by their seeds; None without controls
    ranked  whether all units of the layer were requested: the sentences then name the leaders
    """

    REPORT = "rnnviz.lab.reports.ablation"

    layer: int
    units: Ids
    nats: float
    sums: Doubles
    counts: Doubles
    target: str | None = None
    random: Ablation | None = None
    ranked: bool = True

    @cached_property
    def characters(self) -> int:
        """Characters read; fewer than the text has where the ranking replicated before its end."""
        return int(self.counts.sum())

    @cached_property
    def passages(self) -> Doubles:
        """(m, U) nats lost in each passage, summed."""
        return np.asarray(self.sums.sum(axis=0))

    @cached_property
    def loss(self) -> Doubles:
        """(U,) nats per character lost without the unit; 0: no prediction depends on the unit."""
        return np.asarray(self.sums.sum(axis=(0, 1)) / self.characters)

    @property
    def baseline(self) -> float:
        """The perplexity of the whole network."""
        return totals.perplexity_from_sum(self.nats, self.characters)

    @cached_property
    def perplexity(self) -> Doubles:
        """(U,) perplexity without each unit."""
        without = self.nats + self.sums.sum(axis=(0, 1))
        return np.array([totals.perplexity_from_sum(float(nats), self.characters) for nats in without])

    @property
    def order(self) -> Ids:
        """The units, largest loss first."""
        return self.units[self.ranked_places]

    @property
    def ranked_places(self) -> Ids:
        """(U,) where in `units` each unit of `order` stands."""
        return np.argsort(-self.loss, kind="stable")

    @cached_property
    def replication(self) -> float:
        """The rank correlation (Spearman) of losses between the first half of the passages and the second.

        nan for fewer than three units or two passages.
        """
        # By place and not by turns: neighbouring passages share a subject, and would agree too well.
        half = len(self.passages) // 2
        if half == 0 or len(self.units) < 3:
            return math.nan
        first, second = self.passages[:half].sum(axis=0), self.passages[half:].sum(axis=0)
        return float(correlation(ranks(first[:, None]), ranks(second))[0])

    @property
    def replicates(self) -> bool:
        """Whether two halves of the text rank the units alike enough for a ranking to mean something."""
        return self.replication >= MIN_REPLICATION

    @property
    def needed(self) -> float:
        """About how many characters a ranking needs until it `replicates`, at least; inf where the halves
        don't correlate. Follows the prophecy formula (Spearman 1910; Brown 1910): noise falls with the
        length.

        Halves of a short text share a subject and agree better than two texts do, so this is a lower limit.
        """
        # Spearman–Brown: k times the text has a reliability of k r / (1 + (k - 1) r). Solved for the k at
        # which that is MIN_REPLICATION.
        r = self.replication
        return self.characters * (1 - r) / r * MIN_REPLICATION / (1 - MIN_REPLICATION) if r > 0 else math.inf

    @cached_property
    def interval(self) -> Resampled:
        """`loss` (U,) with its interval over passages."""
        return whole(self.sums, self.counts)

    @cached_property
    def within(self) -> Within | None:
        """The losses inside the target and outside; None without a target."""
        return within(self.target, self.sums, self.counts)

    @cached_property
    def lead(self) -> Resampled | None:
        """(U,) each unit's loss less that of the costliest random direction, nats per character, with an
        interval over passages; None without random directions.
        """
        if self.random is None:
            return None
        return whole(self.sums - self.random.sums[..., self.random.ranked_places[:1]], self.counts)

    @property
    def beyond(self) -> int | None:
        """The number of units whose loss surely exceeds every random direction's: the interval of `lead` is
        above 0. None without a lead or an interval.
        """
        return int((self.lead.low > 0).sum()) if self.lead is not None and self.lead.enough else None

    def facts(self) -> Json:
        """What --json prints."""
        return {
            "layer": self.layer,
            "characters": self.characters,
            "perplexity": self.baseline,
            "replication": self.replication,
            "replicates": self.replicates,
            "characters_needed": self.needed,
            "target": self.target,
            "inside": self.within and self.within.characters,
            "units": [self._unit(place) for place in range(len(self.units))],
            "random_directions": [] if self.random is None else self.random.loss.tolist(),
            "beyond_random": self.beyond,
        }

    def _unit(self, place: int) -> Json:
        out: Json = {
            "unit": int(self.units[place]),
            "loss": float(self.loss[place]),
            "interval": [float(self.interval.low[place]), float(self.interval.high[place])],
            "perplexity": float(self.perplexity[place]),
        }
        for name, side in self.sides():
            out[name] = float(side.estimate[place])
            out[f"{name}_interval"] = [float(side.low[place]), float(side.high[place])]
        return out

    def sides(self) -> list[tuple[str, Resampled]]:
        """The losses of `within` by name: inside, outside, difference; [] without a target."""
        names = ("inside", "outside", "difference") if self.within is not None else ()
        return [(name, getattr(self.within, name)) for name in names]


@checked
def ablate(
    model: Network,
    text: str,
    *,
    layer: int | None = None,
    units: Sequence[int] | Sequence[Unit] | None = None,
    to: Literal["zero", "mean"] | float = "zero",
    batch: int = 64,
    until: float | None = None,
    target: str | Target | Mask | None = None,
    controls: int = 0,
    progress: Progress | None = None,
) -> Ablation:
    """Read `text` once without each of `units`; None: all units of `layer`.

    layer     counted from 0; left out: that of the Units, or 0
    to        the missing unit's hidden state from the start symbol on: 0, its mean over the text, or a number
    batch     units whose copies read side by side
    until     stop once the rank correlation of two halves reaches this, tested after 4,000 characters, 8,000,
              and so on; None: read all
    target    a name, a regular expression or a mask (n,), see `rnnviz.units.target`: adds the losses inside
              and outside
    controls  random directions, each held as the units are: `Ablation.random`
    progress  called about ten times a second with the share done

    Returns losses (U,), nats per character. 2,000 characters without each of 256 units of a GRU take some
    seconds. Raises ConfigError for an absent layer or unit or an unfit target, EmptyTextError for no text.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> units.ablate(rnnviz.load("timemachine-gru"), "The machine", units=[3, 17]).loss.shape
    (2,)
    """
    weights = weights_of(model)
    layer, chosen = _chosen(weights, layer, units)
    text = normalise(text, model.normaliser)
    _check(to, batch)
    inside = holding(text, target)
    ids = model.vocabulary.encode(text)
    inputs = np.concatenate(([model.vocabulary.start], ids[:-1]))

    report, total = Reporter(progress), (len(chosen) + controls + 1) * len(ids)
    added, parts = np.zeros(weights.layers[layer].units), []
    for start, top, states in stretches(NetworkReader(weights, texts=1), inputs, layer):
        parts.append(costs(weights, top, ids[start : start + len(top)])[:, 0])
        added += states.sum(axis=0, dtype=np.float64)
        report((start + len(top)) / total)
    whole = np.concatenate(parts)  # (n,) nats of the whole network
    # The controls are read like further units: the last columns of all that follows.
    random = [directions.random_direction(len(added), seed, layer=layer) for seed in range(controls)]
    mean, silenced = added / len(ids), [*chosen.tolist(), *random]

    def without(part: int | Direction) -> Intervention:
        average = mean @ part.vector if isinstance(part, Direction) else mean[part]
        level = float(average if to == "mean" else 0 if to == "zero" else to)
        return Intervention(part, "clamp", level, layer)

    groups = []
    for first in range(0, len(silenced), batch):
        changes = side_by_side([without(part) for part in silenced[first : first + batch]])
        columns = slice(first, min(first + batch, len(silenced)))
        texts = columns.stop - first
        groups.append((columns, NetworkReader(weights, texts=texts, changes=changes)))

    # Readers keep their states between the rounds, so a further round goes on where the last one stopped.
    extra = np.empty((len(ids), len(silenced)))  # nats lost at each character
    done, begin, ablation, name = len(ids), 0, None, None if inside is None else inside.name
    for end in _rounds(len(ids), until):
        for columns, reader in groups:
            for start, top, _ in stretches(reader, inputs[begin:end], layer):
                rows = slice(begin + start, begin + start + len(top))
                extra[rows, columns] = costs(weights, top, ids[rows]) - whole[rows, None]
                done += top.shape[0] * top.shape[1]
                report(done / total)
        # An unknown character's share of <unk> costs the same with and without a unit: it counts in the
        # perplexity, and cancels in the losses.
        nats = float(totals.character_costs(-whole[:end], ids[:end], model.vocabulary).sum())
        sums, counts = by_passage(extra[:end], passage_of(len(ids)), inside)
        unit_sums, random_sums = sums[..., : len(chosen)], sums[..., len(chosen) :]
        beside = Ablation(layer, np.arange(controls), nats, random_sums, counts, name) if controls else None
        ablation = Ablation(layer, chosen, nats, unit_sums, counts, name, beside, units is None)
        begin = end
        if until is not None and ablation.replication >= until:
            break
    assert ablation is not None
    report.end()
    return ablation


def _check(to: object, batch: int) -> None:
    if batch < 1:
        raise ConfigError("a batch has at least 1 unit; received {batch}", batch=batch)
    if isinstance(to, str) and to not in ("zero", "mean"):
        raise ConfigError(
            "an ablated unit is set to 'zero', to its 'mean', or to a number; received {to!r}", to=to
        )


def holding(text: str, target: str | Target | Mask | None) -> Target | None:
    """The target in a normalised text; None without one. Raises EmptyTextError for no text, ConfigError for a
    graded target or one of another length.
    """
    if not text:
        raise EmptyTextError("an empty text has no perplexity; choose another text")
    if target is None:
        return None
    checked_target = targets.target(target, text)
    if checked_target.graded or len(checked_target) != len(text):
        raise ConfigError(
            "give a target that is true or false at each of the {count:,} characters; received {name}, for "
            "{characters:,}",
            count=len(text),
            name=checked_target.name,
            characters=len(checked_target),
        )
    return checked_target


def _rounds(n: int, until: float | None) -> list[int]:
    """The numbers of characters after which replication is tested; the last is n."""
    if until is None:
        return [n]
    passage = passage_of(n)
    ends = [FIRST_TEST_CHARS << k for k in range(n.bit_length()) if FIRST_TEST_CHARS << k < n]
    # At passages' ends, so that a test sees whole passages only.
    return [*(end // passage * passage for end in ends), n]


def _chosen(
    weights: Weights, layer: int | None, units: Sequence[int] | Sequence[Unit] | None
) -> tuple[int, Integers]:
    """The layer, and which of its units."""
    if directions.directions_in(units):
        raise ConfigError(
            "units are ablated one by one; for a direction use rnnviz.units.effect(model, text, "
            "Zero(direction))"
        )
    if units is not None:
        intervention = Intervention(units, layer=layer)
        intervention.changes(weights)  # raises for an absent unit
        return intervention.layer, np.array(intervention.units)
    layer_number = 0 if layer is None else layer
    check_layer(layer_number, len(weights.layers))
    return layer_number, np.arange(weights.layers[layer_number].units)


def stretches(
    reader: NetworkReader, inputs: Ids, layer: int, texts: int = 0
) -> Iterator[tuple[int, Floats, Floats]]:
    """Yield stretches of time steps: the first step, the top layer's H (n, B, H), and H (n, H) of `layer` in
    text 0. The stretches are as long as `texts` side by side would make them.
    """
    B = reader.hidden.shape[2]
    # As many steps as keep the logits (n, B, V) below LOGITS numbers, and 64 at most.
    step = int(np.clip(LOGITS_ENTRIES // (max(B, texts) * len(reader.weights.bias)), 1, 64))
    for begin in range(0, len(inputs), step):
        hidden, _ = reader.states(inputs[begin : begin + step])
        yield begin, hidden[1:, -1], hidden[1:, layer, 0]


def costs(weights: Weights, top: Floats, ids: Ids) -> Doubles:
    """-log P (n, B) in nats of the symbols `ids` (n,), given the states (n, B, H) before them."""
    n, B, H = top.shape
    logits, log_sum = weights.predict(top.reshape(n * B, H))
    target_logits = logits.reshape(n, B, -1)[np.arange(n), :, ids]
    return np.asarray(log_sum.reshape(n, B) - target_logits)


def passage_of(n: int) -> int:
    """The characters of one passage in a text of n."""
    return int(np.clip(n // MAX_PASSAGES, 1, MAX_PASSAGE_CHARS))


def by_passage(extra: Doubles, passage: int, target: Target | None) -> tuple[Doubles, Doubles]:
    """The losses (n, K), nats, summed by passage and side, (S, m, K); and the characters in each sum, (S,
    m).
    """
    at, side = np.arange(len(extra)) // passage, np.zeros(len(extra), np.int64)
    if target is not None:
        # Shifted by one: row t of a target holds after character t, where t + 1 is predicted.
        side[1:] = target.values[: len(extra) - 1]
    sums = np.zeros((1 if target is None else 2, int(at[-1]) + 1, extra.shape[1]))
    # add.at adds up repeated places; `sums[side, at] += extra` would keep the last of each.
    np.add.at(sums, (side, at), extra)
    counts = np.zeros(sums.shape[:2])
    np.add.at(counts, (side, at), 1)
    return sums, counts


def whole(sums: Doubles, counts: Doubles, typical: slice = slice(None)) -> Resampled:
    """The mean loss a character (K,) over all sides: `sums` (S, m, K) over `counts` (S, m), with an interval
    over passages. The columns `typical` determine the length of the bootstrap's blocks.
    """
    sums, counts = sums.sum(axis=0, keepdims=True), counts.sum(axis=0, keepdims=True)
    return _sides(sums, counts, typical).map(lambda losses: losses[..., 0, :])


def within(target: str | None, sums: Doubles, counts: Doubles, typical: slice = slice(None)) -> Within | None:
    """The mean losses inside and outside a target, and their difference; None without a target."""
    if target is None:
        return None
    sides = _sides(sums, counts, typical)
    return Within(
        target,
        int(counts[1].sum()),
        sides.map(lambda losses: losses[..., 1, :]),
        sides.map(lambda losses: losses[..., 0, :]),
        sides.map(lambda losses: losses[..., 1, :] - losses[..., 0, :]),
    )


def _sides(sums: Doubles, counts: Doubles, typical: slice) -> Resampled:
    """The mean loss a character of each side (S, K); nan for a side without characters."""
    S, _m, K = sums.shape
    block = max(_block(side[:, typical]) for side in sums)

    def rate(means: Doubles) -> Doubles:
        losses = means[..., S:].reshape(*means.shape[:-1], S, K)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(losses / means[..., :S, None])

    # Characters and losses are resampled together: a drawn text may have more of the target than another,
    # and its loss a character is a ratio of two sums.
    return resample(np.column_stack([*counts, *sums]), samples=INTERVAL_SAMPLES, block=block).map(rate)


def _block(sums: Doubles) -> int:
    """The passages of a bootstrap block for losses (m, K): the median over the sixteen columns that vary
    most.
    """
    # The units that cost most decide it: the rest is noise, whose blocks are short. The median, as one slow
    # unit would leave too few blocks for all.
    columns = np.argsort(-sums.var(axis=0))[:16].tolist()
    return int(np.median([block_length(sums[:, column]) for column in columns]))

"""The effect of an intervention on the loss, beside equally large random changes.

Any change of a state makes predictions worse. So the network reads the text under the intervention and, side
by side, under controls that change other units or directions:

    random units        as many other units of the layer, drawn at random
    random directions   as many directions of length 1, as a unit's axis has, drawn uniformly

    loss = mean over the text of  -log P(x_t | x_<t) changed  -  the same unchanged       nats a character

With a target, also the loss inside and outside: a unit that carries the target costs more inside.

Shape letters: n characters, R controls of each kind, B = 1 + 2 R texts side by side.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rnnviz.arrays import Doubles, Mask
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.findings import Json, Reported
from rnnviz.lab.analysis import directions
from rnnviz.lab.analysis.ablation import (
    Within,
    by_passage,
    costs,
    holding,
    passage_of,
    stretches,
    whole,
    within,
)
from rnnviz.lab.analysis.bootstrap import Resampled
from rnnviz.lab.analysis.directions import Direction
from rnnviz.lab.analysis.interventions import Intervention, side_by_side
from rnnviz.lab.analysis.targets import Target
from rnnviz.networks.numpy_engine import NetworkReader
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.progress import Progress, Reporter
from rnnviz.reprs import Pictured, ReprMixin
from rnnviz.text.characters import normalise

CONTROL_QUANTILE = 0.95
"""The share of random changes that must cost less before an intervention is said to matter."""

DEFAULT_CONTROLS = 16
"""Random units, and as many random directions, beside an intervention."""


@dataclass(frozen=True, eq=False, repr=False)
class Effect(ReprMixin, Pictured, Reported):
    """The loss of an intervention, and of its controls, over `characters` characters.

    intervention, controls   the intervention, and 2 R others: random units, then random directions
    losses                   (1 + 2 R,) nats a character, in this order; a Resampled, over passages
    within                   the losses inside a target and outside; None without a target
    """

    REPORT = "rnnviz.lab.reports.effects"

    intervention: Intervention
    controls: tuple[Intervention, ...]
    losses: Resampled
    within: Within | None
    characters: int

    @property
    def loss(self) -> float:
        """The loss of the intervention, nats a character."""
        return float(self.losses.estimate[0])

    @property
    def units(self) -> Doubles:
        """(R,) the losses with random units, nats a character."""
        return np.asarray(self.losses.estimate[1 : 1 + len(self.controls) // 2])

    @property
    def directions(self) -> Doubles:
        """(R,) the losses along random directions, nats a character."""
        return np.asarray(self.losses.estimate[1 + len(self.controls) // 2 :])

    @property
    def beyond(self) -> int:
        """The number of the 2 R controls that cost less."""
        return int((self.losses.estimate[1:] < self.loss).sum())

    @property
    def lead(self) -> Resampled:
        """() the loss less the 95 % quantile of either kind of controls, nats a character, with an interval
        over passages.

        Below 0: the intervention costs no more than random changes may. Few random changes have a lead whose
        interval lies above 0.
        """
        return self.losses.map(_lead)

    @property
    def conditional(self) -> Resampled | None:
        """() the lead of the difference inside less outside: above 0 the intervention costs more inside. None
        without a target.
        """
        return None if self.within is None else self.within.difference.map(_lead)

    def facts(self) -> Json:
        """Losses in nats a character, and the leads over random changes, each with its interval."""
        within, conditional = self.within, self.conditional
        return {
            "characters": self.characters,
            "loss": [figures[0] for figures in _estimate_and_ends(self.losses)],
            "random_units": self.units.tolist(),
            "random_directions": self.directions.tolist(),
            "beyond_random": self.beyond,
            "lead": _estimate_and_ends(self.lead),
            "target": within and within.target,
            "inside": within and within.characters,
            "conditional": conditional and _estimate_and_ends(conditional),
        }


@checked
def effect(
    model: Network,
    text: str,
    change: Intervention,
    *,
    target: str | Target | Mask | None = None,
    controls: int = DEFAULT_CONTROLS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Effect:
    """Read `text` under a `change`, a Clamp, Zero or Scale, and under its controls, side by side.

    target    a name, a regular expression or a mask (n,), see `rnnviz.units.target`: adds the losses inside
              and outside
    controls  random units, and as many random directions
    seed      chooses the controls
    progress  called about ten times a second with the share done

    Returns losses in nats a character. 500 characters of a GRU with 256 units take 0.2 seconds, with all
    controls. Raises ConfigError for an absent unit, an unfit target, no controls, or too few units to draw
    controls from; EmptyTextError for no text.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> model = rnnviz.load("timemachine-gru")
    >>> found = units.effect(model, "The machine", units.Zero(17), controls=4)
    >>> found.units.shape, found.directions.shape, found.lead.enough
    ((4,), (4,), False)
    """
    weights = weights_of(model)
    text = normalise(text, model.normaliser)
    inside = holding(text, target)
    changes = (change, *_draw_controls(change, weights.layers[0].units, controls, seed))
    for intervention in changes:
        intervention.changes(weights)  # raises for an absent unit
    ids = model.vocabulary.encode(text)
    inputs = np.concatenate(([model.vocabulary.start], ids[:-1]))
    extra = np.empty((len(ids), len(changes)))
    report, layer, B = Reporter(progress), change.layer, len(changes)
    unchanged = stretches(NetworkReader(weights, texts=1), inputs, layer, B)
    changed = stretches(NetworkReader(weights, texts=B, changes=side_by_side(changes)), inputs, layer, B)
    for (start, top, _), (_, plain, _) in zip(changed, unchanged, strict=True):
        rows = slice(start, start + len(top))
        extra[rows] = costs(weights, top, ids[rows]) - costs(weights, plain, ids[rows])
        report(rows.stop / len(ids))
    report.end()
    sums, counts = by_passage(extra, passage_of(len(ids)), inside)
    # The change alone determines the bootstrap's blocks: one slowly drifting control would make them so long
    # that no interval remains.
    first_column = slice(0, 1)
    apart = within(None if inside is None else inside.name, sums, counts, first_column)
    return Effect(change, changes[1:], whole(sums, counts, first_column), apart, len(ids))


def _draw_controls(change: Intervention, H: int, count: int, seed: int) -> list[Intervention]:
    """The controls: the same action on as many random units, then directions."""
    if count < 1:
        raise ConfigError("an effect needs at least 1 control; received {count}", count=count)
    changed_units = {unit for unit in change.units if not isinstance(unit, Direction)}
    # Controls never hold a changed unit: they would cost what the change costs.
    rest = np.array([unit for unit in range(H) if unit not in changed_units])
    k = len(change.units)
    if len(rest) < k:
        raise ConfigError("{k} of {h} units leave too few others to compare with; change fewer", k=k, h=H)
    generator = np.random.default_rng(seed)

    chosen = [generator.choice(rest, k, replace=False) for _ in range(count)]
    seeds = generator.integers(1 << 31, size=(count, k)).tolist()
    groups: list[tuple[int, ...] | tuple[Direction, ...]] = [tuple(sorted(u.tolist())) for u in chosen]
    for row in seeds:
        groups.append(
            tuple(
                directions.random_direction(H, s, layer=change.layer, quantity=change.quantity) for s in row
            )
        )
    return [
        Intervention(
            units, change.action, change.value, change.layer, change.start, change.stop, change.quantity
        )
        for units in groups
    ]


def _lead(values: Doubles) -> Doubles:
    """The first of (…, 1 + 2 R) less the larger of the two kinds' 95 % quantiles."""
    # The kinds apart, then the larger: a change has to stand out from either.
    kinds = np.stack(np.split(values[..., 1:], 2, axis=-1))
    return np.asarray(values[..., 0] - np.quantile(kinds, CONTROL_QUANTILE, axis=-1).max(axis=0))


def _estimate_and_ends(resampled: Resampled) -> list[Any]:
    """An estimate and the ends of its interval, as lists."""
    return [resampled.estimate.tolist(), resampled.low.tolist(), resampled.high.tolist()]

"""Gate openings over a text, and each unit's time constant.

    gru     H_t = Z_t ⊙ H_{t-1} + (1 - Z_t) ⊙ H̃_t      the update gate Z keeps
    lstm    C_t = F_t ⊙ C_{t-1} + I_t ⊙ C̃_t            the forget gate F keeps

Through a gate of constant value g a unit's state shrinks by the factor g at each step, to 1/e after

    τ = -1 / ln(g)     characters; g is the gate's mean over the text

by the unit's own gate alone, without feedback from other units. A gate that stays open but for one reset a
line has a mean near 1 too. One reset more or less moves τ of the longest units far; the median unit's τ is
steadier, and has an interval over passages.

Shape letters: T time steps, H units.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.checks import checked
from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.findings import Json, Reported
from rnnviz.lab.analysis.activations import activations
from rnnviz.lab.analysis.bootstrap import Resampled, resample
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import KINDS, check_layer
from rnnviz.reprs import Pictured, ReprMixin
from rnnviz.scoring.trace import Trace

SHUT_BELOW, OPEN_ABOVE = 0.1, 0.9
"""A gate below SHUT_BELOW or above OPEN_ABOVE counts as saturated (Karpathy, Johnson & Fei-Fei 2015)."""


INTERVAL_SAMPLES = 200
"""Resampled texts for the median's interval."""


@dataclass(frozen=True, eq=False, repr=False)
class Gates(ReprMixin, Pictured, Reported):
    """The gates of one layer over a text; each mapping goes from a gate's name to (H,).

    low, high      the share of time steps with the gate below SHUT_BELOW, above OPEN_ABOVE
    mean           the mean over the time steps
    time_constant  (H,) τ in characters, -1 / ln(mean) of the gate that keeps the state (update, forget); inf
                   for one that never closes
    median         () the median of `time_constant`, a Resampled with an interval over passages;
                   `median.enough` is False for a text that is too short
    """

    REPORT = "rnnviz.lab.reports.gating"

    layer: int
    low: Mapping[str, Doubles]
    high: Mapping[str, Doubles]
    mean: Mapping[str, Doubles]
    time_constant: Doubles
    median: Resampled

    @property
    def longest(self) -> list[int]:
        """The three units with the longest time constant."""
        return [int(unit) for unit in np.argsort(-self.time_constant, kind="stable")[:3]]

    def facts(self) -> Json:
        """Arrays as lists, one number a unit."""
        median = self.median
        gates = {"mean": self.mean, "low": self.low, "high": self.high}
        return {
            "layer": self.layer,
            "characters": round(median.block * median.blocks),
            "median": float(median.estimate),
            "median_interval": [float(median.low), float(median.high)] if median.enough else None,
            "time_constant": self.time_constant.tolist(),
            **{
                measure: {name: values.tolist() for name, values in by_gate.items()}
                for measure, by_gate in gates.items()
            },
        }


@checked
def gates(trace: Trace, *, layer: int = 0) -> Gates:
    """The gates of `layer` in `trace`, without the candidate: their means (H,), saturation and time
    constants. Raises ConfigError for a cell without gates or an absent layer, EmptyTextError for no text.

    >>> from rnnviz import units
    >>> import rnnviz
    >>> found = units.gates(rnnviz.trace(rnnviz.load("timemachine-gru"), "machine"))
    >>> sorted(found.mean), found.time_constant.shape
    (['reset', 'update'], (256,))
    """
    cell = trace.weights.cell
    keeps = KINDS[cell].keeps
    if keeps is None:
        raise ConfigError(
            "{cells} cells have gates; this network has {cell} cells",
            cells=", ".join(name for name, kind in CELLS.items() if kind.keeps),
            cell=cell,
        )
    check_layer(layer, trace.hidden.shape[1])
    if not len(trace):
        raise EmptyTextError("gates are measured over a text; this trace has no characters")
    gates = [name for name in trace.gates if name != "candidate"]
    # Without the candidate: it is a new value and not a share, so neither shut nor open.
    values = {name: activations(trace, layer=layer, quantity=name) for name in gates}
    mean = {name: v.mean(axis=0, dtype=np.float64) for name, v in values.items()}
    return Gates(
        layer=layer,
        low={name: (v < SHUT_BELOW).mean(axis=0) for name, v in values.items()},
        high={name: (v > OPEN_ABOVE).mean(axis=0) for name, v in values.items()},
        mean=mean,
        time_constant=_constants(mean[keeps]),
        median=resample(values[keeps], samples=INTERVAL_SAMPLES).map(_median),
    )


def _constants(mean: Doubles) -> Doubles:
    """τ = -1 / ln(mean) of gates, in characters."""
    with np.errstate(divide="ignore"):
        # Rounding may lift a mean above 1. At 1 the quotient is -inf, and abs makes τ inf.
        return np.asarray(np.abs(-1 / np.log(np.minimum(mean, 1.0))))


def _median(mean: Doubles) -> Doubles:
    return np.asarray(np.median(_constants(mean), axis=-1))

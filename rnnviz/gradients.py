"""What flows back through a recurrent network: which characters a prediction rests on, and why that fades.

On one text and a CPU, in numpy, for `CharModel` and `NumpyModel` alike.
"""

from typing import TYPE_CHECKING

from rnnviz.analysis.attribution import Attribution, attribute, attributing
from rnnviz.analysis.connectivity import Connectivity, ConnectivityRow, connectivity, connectivity_row
from rnnviz.analysis.memory_length import Reach, ReachProgress, reach, reach_of
from rnnviz.analysis.spectra import (
    Spectrum,
    eigenvalues,
    hidden_weights,
    power_norms,
    scaled,
    spectrum,
)
from rnnviz.analysis.state_contributions import Remaining, remaining
from rnnviz.analysis.state_gradients import StateNorms, jacobian_norms, state_gradients
from rnnviz.deprecated import gone

__all__ = [
    "Attribution",
    "Connectivity",
    "ConnectivityRow",
    "Reach",
    "ReachProgress",
    "Remaining",
    "Spectrum",
    "StateNorms",
    "attribute",
    "attributing",
    "connectivity",
    "connectivity_row",
    "eigenvalues",
    "hidden_weights",
    "jacobian_norms",
    "power_norms",
    "reach",
    "reach_of",
    "remaining",
    "scaled",
    "spectrum",
    "state_gradients",
]

if not TYPE_CHECKING:  # where a checker would take it to say that every name is there
    __getattr__ = gone(
        __name__,
        {"half_life": "it grew with the text; write reach(model, text).half"}
        | dict.fromkeys(
            (
                *("SmallRNN", "unroll", "gradient", "lag_gradients", "truncated_gradient", "clip", "Clipped"),
                *("cuts", "pair_weights", "random_crossings", "expected_crossing", "expected_gradient"),
            ),
            "the lecture computes it in plain numpy: open /learn?step=back, clip, cut or random, and press c",
        ),
    )

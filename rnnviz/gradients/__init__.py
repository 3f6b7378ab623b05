"""What flows back through a recurrent network: which characters a prediction rests on, and why that fades.

On one text and a CPU, in numpy, for `CharModel` and `NumpyModel` alike.
"""

from rnnviz.gradients.attribution import Attribution, attribute, attributing
from rnnviz.gradients.memory import Connectivity, ConnectivityRow, connectivity, connectivity_row, half_life
from rnnviz.gradients.reaching import Reach, ReachProgress, reach, reach_of
from rnnviz.gradients.remaining import Remaining, remaining
from rnnviz.gradients.small import SmallRNN, unroll
from rnnviz.gradients.spectra import (
    Spectrum,
    eigenvalues,
    hidden_weights,
    power_norms,
    scaled,
    spectrum,
)
from rnnviz.gradients.states import StateNorms, jacobian_norms, state_gradients
from rnnviz.gradients.truncation import (
    Clipped,
    clip,
    cuts,
    expected_crossing,
    expected_gradient,
    gradient,
    lag_gradients,
    pair_weights,
    random_crossings,
    truncated_gradient,
)

__all__ = [
    "Attribution",
    "Clipped",
    "Connectivity",
    "ConnectivityRow",
    "Reach",
    "ReachProgress",
    "Remaining",
    "SmallRNN",
    "Spectrum",
    "StateNorms",
    "attribute",
    "attributing",
    "clip",
    "connectivity",
    "connectivity_row",
    "cuts",
    "eigenvalues",
    "expected_crossing",
    "expected_gradient",
    "gradient",
    "half_life",
    "hidden_weights",
    "jacobian_norms",
    "lag_gradients",
    "pair_weights",
    "power_norms",
    "random_crossings",
    "reach",
    "reach_of",
    "remaining",
    "scaled",
    "spectrum",
    "state_gradients",
    "truncated_gradient",
    "unroll",
]

"""Gradients back through a recurrent network: which characters a prediction rests on, and why that fades.

    rnnviz.gradients.connectivity(model, "machine").norms  # (T, T): each prediction by each character

Each function reads one text, on the CPU and in numpy, whether torch is installed or not.
"""

from typing import TYPE_CHECKING

from rnnviz.analysis.attribution import attribute
from rnnviz.analysis.connectivity import connectivity
from rnnviz.analysis.memory_length import memory_length
from rnnviz.analysis.spectra import spectrum
from rnnviz.analysis.state_contributions import remaining
from rnnviz.analysis.state_gradients import jacobian
from rnnviz.deprecated import gone

__all__ = ["attribute", "connectivity", "jacobian", "memory_length", "remaining", "spectrum"]

if not TYPE_CHECKING:  # a type checker that sees a module's `__getattr__` accepts every name
    __getattr__ = gone(
        __name__,
        {
            "half_life": "it grew with the text; write memory_length(model, text).half",
            "attributing": "write attribute(…, progress=…)",
            "connectivity_row": "write connectivity(model, text, at=…)",
            "jacobian_norms": "write jacobian(model, text)",
            "state_gradients": 'write jacobian(model, text, of="loss")',
            "reach_of": "write memory_length(model, text)",
            "ReachProgress": "write memory_length(…, progress=…), called with the share done, `.fraction`",
            "Reach": "memory_length returns one",
            "Attribution": "attribute returns one",
            "Connectivity": "connectivity returns one",
            "ConnectivityRow": "connectivity(…, at=…) returns one",
            "StateNorms": "jacobian returns them",
            "Remaining": "remaining returns one",
            "eigenvalues": "spectrum(model) has them; of a matrix they are numpy.linalg.eigvals(W)",
            "hidden_weights": "a torch model has them: model.recurrence.weight_hh_l0.T",
            "power_norms": "write numpy.linalg.norm(numpy.linalg.matrix_power(W, k))",
            "scaled": "write W * rho / abs(numpy.linalg.eigvals(W)).max()",
        }
        | dict.fromkeys(
            (
                *("SmallRNN", "unroll", "gradient", "lag_gradients", "truncated_gradient", "clip", "Clipped"),
                *("cuts", "pair_weights", "random_crossings", "expected_crossing", "expected_gradient"),
            ),
            "the lecture computes it in plain numpy: open /learn?step=back, clip, cut or random, and press c",
        ),
        {"reach": ("rnnviz.analysis.memory_length:reach", "memory_length(model, text)")},
    )

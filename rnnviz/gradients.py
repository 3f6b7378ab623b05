"""Gradients back through a recurrent network: which characters a prediction rests on, and why that fades.

    rnnviz.gradients.connectivity(model, "machine").norms  # (T, T): each prediction by each character

Each function reads one text, on the CPU and in numpy, whether torch is installed or not.
"""

from rnnviz.analysis.attribution import attribute
from rnnviz.analysis.connectivity import connectivity
from rnnviz.analysis.memory_length import memory_length
from rnnviz.analysis.spectra import spectrum
from rnnviz.analysis.state_contributions import remaining
from rnnviz.analysis.state_gradients import jacobian

__all__ = ["attribute", "connectivity", "jacobian", "memory_length", "remaining", "spectrum"]

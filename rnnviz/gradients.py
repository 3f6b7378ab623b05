"""Gradients back through a recurrent network: which characters a prediction rests on, and why that fades.

    rnnviz.gradients.connectivity(model, "machine").norms  # (T, T): each prediction by each character

Each function reads one text, on the CPU and in numpy, whether torch is installed or not.
"""

from rnnviz.lab.analysis.attribution import attribute
from rnnviz.lab.analysis.backward import jacobian
from rnnviz.lab.analysis.connectivity import connectivity
from rnnviz.lab.analysis.memory_length import memory_length
from rnnviz.lab.analysis.spectra import spectrum
from rnnviz.lab.analysis.state_contributions import remaining

__all__ = ["attribute", "connectivity", "jacobian", "memory_length", "remaining", "spectrum"]

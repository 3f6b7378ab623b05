"""Spectra: the eigenvalues of W_hh, which show why gradients vanish or explode.

Without φ a gradient goes back k steps through W_hh^k, which shrinks like ρ^k for large k, ρ the largest
eigenvalue modulus. The transpose, which torch stores, has the same eigenvalues and norms.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.findings import Json, Reported
from rnnviz.lab.analysis.linearisation import differentiable_weights
from rnnviz.lab.engines.untrained import untrained
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.threads import single_blas_thread
from rnnviz.reprs import Pictured, ReprMixin

Complexes = npt.NDArray[np.complex128]


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(ReprMixin, Pictured, Reported):
    """The eigenvalues of W_hh of one layer, largest modulus first.

    gated      whether W_hh is the candidate's block of a gated cell, whose state has other ways back
    trained    (H,) complex128; `untrained`: the same of the untrained copy
    """

    REPORT = "rnnviz.lab.reports.spectra"

    layer: int
    gated: bool
    trained: Complexes
    untrained: Complexes

    @property
    def radius(self) -> float:
        """The spectral radius: the largest modulus."""
        return float(np.abs(self.trained[0]))

    def facts(self) -> Json:
        """Each eigenvalue as its real and imaginary parts."""
        return {
            "layer": self.layer,
            "gated": self.gated,
            "radius": self.radius,
            "radius_untrained": float(np.abs(self.untrained[0])),
            "outside": int((np.abs(self.trained) > 1).sum()),
            "eigenvalues": real_and_imaginary(self.trained).tolist(),
            "eigenvalues_untrained": real_and_imaginary(self.untrained).tolist(),
        }


@checked
def spectrum(model: Network, *, layer: int = 0) -> Spectrum:
    """The eigenvalues of W_hh of one layer, beside those of an untrained copy; of a gated cell those of the
    candidate's block. 256 units take a twentieth of a second.

    Returns `trained` and `untrained` (H,) complex128. Raises ConfigError for a network without W_hh, one that
    is a Python function, or an absent layer.

    >>> import rnnviz
    >>> found = rnnviz.gradients.spectrum(rnnviz.load("timemachine-rnn"))
    >>> found.trained.shape, found.radius > 1
    ((256,), True)
    """
    differentiable_weights(model)
    if not CELLS[model.config.cell].mixes:
        raise ConfigError("{cell} cells have no W_hh: nothing mixes their units", cell=model.config.cell)
    # One thread: LAPACK would share even a small matrix among cores, and wait for a core in use elsewhere.
    with single_blas_thread(1):
        trained, before = [eigenvalues(_candidate(network, layer)) for network in (model, untrained(model))]
    return Spectrum(layer, bool(CELLS[model.config.cell].gates), trained, before)


def real_and_imaginary(values: Complexes) -> Doubles:
    """Real and imaginary parts, (H, 2)."""
    return np.stack([values.real, values.imag], axis=1)


def _candidate(model: Network, layer: int) -> Doubles:
    """The candidate's block of W_h, which is the last, or all of an ungated W_h, (H, H)."""
    layers = weights_of(model).layers
    if not 0 <= layer < len(layers):
        raise ConfigError(
            "the layers are numbered from 0 to {last}; received {layer}", last=len(layers) - 1, layer=layer
        )
    W_h = layers[layer].W_h
    assert W_h is not None
    return np.ascontiguousarray(W_h[-layers[layer].units :].T, np.float64)


def eigenvalues(W: npt.ArrayLike) -> Complexes:
    """The eigenvalues of W, complex128 (H,), largest modulus first. Raises ConfigError for infinite or NaN
    entries.

    >>> eigenvalues([[1, 0], [0, -2]]).real.tolist()
    [-2.0, 1.0]
    """
    matrix = np.array(W, np.float64)
    if not np.isfinite(matrix).all():
        raise ConfigError("W_hh has values that are not finite")
    values = np.linalg.eigvals(matrix).astype(np.complex128)
    # LAPACK gives no order; ties by real and imaginary part, so that a pair of conjugates is in order too.
    return values[np.lexsort((values.imag, values.real, -np.abs(values)))]

"""Why gradients vanish or explode: the eigenvalues of W_hh and its powers, and a network with W_hh scaled.

Without φ a gradient goes back k steps through W_hh^k, which shrinks like ρ^k for large k, ρ the largest
eigenvalue modulus. A transpose, as torch has it, has the same eigenvalues and norms.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from rnnviz.analysis.linearisation import own_weights
from rnnviz.analysis.state_gradients import Norm, check_norm, spectral
from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.findings import Json, Number, Panel, Points, Said, Table, count, one_row, say, words
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_model import Network, NumpyModel, weights_of
from rnnviz.networks.threads import ours
from rnnviz.networks.untrained import untrained
from rnnviz.pictured import Brief, Pictured

Complexes = npt.NDArray[np.complex128]

MAX_POWER = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Brief, Pictured):
    """The eigenvalues of W_hh of one layer, largest modulus first.

    gated      whether W_hh is the candidate's block of several, and the state has other ways back
    trained    (H,) complex128; `untrained`: the same of the network before any training
    """

    layer: int
    gated: bool
    trained: Complexes
    untrained: Complexes

    @property
    def radius(self) -> float:
        """The largest modulus."""
        return float(np.abs(self.trained[0]))

    def facts(self) -> Json:
        """Each eigenvalue as its real and its imaginary part."""
        return {
            "layer": self.layer,
            "gated": self.gated,
            "radius": self.radius,
            "radius_untrained": float(np.abs(self.untrained[0])),
            "outside": int((np.abs(self.trained) > 1).sum()),
            "eigenvalues": _parts(self.trained).tolist(),
            "eigenvalues_untrained": _parts(self.untrained).tolist(),
        }

    def table(self) -> Table:
        """One row."""
        facts = self.facts()
        return one_row(
            (words("head.radius"), Number(facts["radius"])),
            (words("head.untrained"), Number(facts["radius_untrained"])),
            (words("head.outside"), count(facts["outside"])),
        )

    def sentences(self) -> list[Said]:
        """The largest modulus beside the untrained network's, what it means, and what it does not."""
        facts = self.facts()
        codes = [
            "spectrum.radius-block" if self.gated else "spectrum.radius",
            "spectrum.grows" if self.radius > 1 else "spectrum.shrinks",
            "spectrum.but-gated" if self.gated else "spectrum.but-saturated",
        ]
        return say(
            codes,
            radius=Number(facts["radius"], digits=2),
            untrained=Number(facts["radius_untrained"], digits=2),
            outside=count(facts["outside"]),
            units=count(len(self.trained)),
        )

    def panels(self) -> list[Panel]:
        """All in the complex plane."""
        groups = [(words("spectrum.trained"), self.trained), (words("spectrum.untrained"), self.untrained)]
        picture = Points(
            [(name, _parts(values)) for name, values in groups],
            "circle",
            words("spectrum.real"),
            words("spectrum.imaginary"),
        )
        title, notice, limits = (words(f"spectrum.{name}") for name in ("title", "notice", "limits"))
        return [Panel("spectrum", title, picture, [notice], limits)]


def spectrum(model: Network, *, layer: int = 0) -> Spectrum:
    """The eigenvalues of W_hh of one layer, beside those of the same network untrained; of a gated cell those
    of the block that makes the candidate. 256 units take a twentieth of a second.

    Raises ConfigError for a network without W_hh or with a step of its own, or a layer that isn't there.

    >>> import rnnviz
    >>> found = spectrum(rnnviz.load("timemachine-rnn"))
    >>> found.trained.shape, found.radius > 1
    ((256,), True)
    """
    own_weights(model)
    if not CELLS[model.config.cell].mixes:
        raise ConfigError("{cell} cells have no W_hh: nothing mixes their units", cell=model.config.cell)
    # LAPACK would share matrices this small among cores, and wait for whichever another program is using.
    with ours(1):
        trained, before = [eigenvalues(_candidate(one, layer)) for one in (model, untrained(model))]
    return Spectrum(layer, bool(CELLS[model.config.cell].gates), trained, before)


def _parts(values: Complexes) -> Doubles:
    """Real and imaginary parts, (H, 2)."""
    return np.stack([values.real, values.imag], axis=1)


def hidden_weights(model: Network, layer: int = 0) -> Doubles:
    """W_hh (H, H), float64, of one layer of an rnn, as in H_{t-1} W_hh.

    Raises ConfigError for a cell with several such matrices or none, or a layer that isn't there.

    >>> import rnnviz
    >>> hidden_weights(rnnviz.load("timemachine-rnn")).shape
    (256, 256)
    """
    config = getattr(model, "config", None)
    if config is None or config.cell != "rnn":
        if config is None:
            raise ConfigError("only an rnn has one W_hh; received no network")
        raise ConfigError("only an rnn has one W_hh; received a {cell}", cell=config.cell)
    return _candidate(model, layer)


def _candidate(model: Network, layer: int) -> Doubles:
    """The last block of W_h, which makes the candidate, or all of it, (H, H)."""
    layers = weights_of(model).layers
    if not 0 <= layer < len(layers):
        raise ConfigError(
            "the layers are numbered from 0 to {last}; received {layer}", last=len(layers) - 1, layer=layer
        )
    W_h = layers[layer].W_h
    assert W_h is not None
    return np.ascontiguousarray(W_h[-layers[layer].units :].T, np.float64)


def eigenvalues(W: npt.ArrayLike) -> Complexes:
    """The eigenvalues of W, complex128 (H,), largest modulus first; ConfigError unless W is square, finite.

    >>> eigenvalues([[1, 0], [0, -2]]).real.tolist()
    [-2.0, 1.0]
    """
    found = np.linalg.eigvals(_square(W)).astype(np.complex128)
    return found[np.lexsort((found.imag, found.real, -np.abs(found)))]


@overload
def scaled(of: Network, rho: float) -> NumpyModel: ...
@overload
def scaled(of: npt.ArrayLike, rho: float) -> Doubles: ...
def scaled(of: Any, rho: float) -> NumpyModel | Doubles:
    """A copy of a matrix (H, H), or of an rnn with each W_hh, scaled to the largest eigenvalue modulus `rho`.

    Raises ConfigError for a negative `rho`, a matrix whose eigenvalues are all 0, and a model that is no rnn.

    >>> scaled([[1, 0], [0, -2]], rho=1).tolist()
    [[0.5, 0.0], [0.0, -1.0]]
    """
    if not (math.isfinite(rho) and rho >= 0):
        raise ConfigError("rho is a number from 0 on; received {rho}", rho=rho)
    if not hasattr(of, "config"):
        W = _square(of)
        largest = float(np.abs(eigenvalues(W)[0]))
        # A nilpotent matrix's eigenvalues come out as rounding errors.
        if largest <= 1e-12 * np.abs(W).sum(axis=0).max():
            raise ConfigError("all eigenvalues of this matrix are 0, and no factor changes that; use another")
        return W * (rho / largest)
    weights = weights_of(of)
    layers = tuple(
        replace(layer, W_h=np.ascontiguousarray(scaled(hidden_weights(of, n), rho).T, np.float32))
        for n, layer in enumerate(weights.layers)
    )
    name = f"{of.name} with ρ = {rho:g}" if of.name else ""
    return NumpyModel(of.config, of.vocabulary, replace(weights, layers=layers), name, of.card, of.normaliser)


def power_norms(W: npt.ArrayLike, n: int, *, norm: Norm = "frobenius") -> Doubles:
    """‖W^k‖ for k = 0 .. n, float64 (n + 1,): "frobenius", or "spectral", as `jacobian_norms` has them.

    No power under- or overflows before float64 does (then 0 or inf). Raises ConfigError for no square
    matrix, n outside 0 .. 10,000, or another norm.

    >>> power_norms([[0.5]], 3).tolist()
    [1.0, 0.5, 0.25, 0.125]
    """
    matrix = _square(W)
    if not 0 <= n <= MAX_POWER:
        raise ConfigError("n is from 0 to {most:,}; received {n}", most=MAX_POWER, n=n)
    check_norm(norm)
    measure = np.linalg.norm if norm == "frobenius" else spectral
    power, out = np.eye(len(matrix)), np.zeros(n + 1)
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        for k in range(n + 1):
            size = float(np.abs(power).max())
            if not math.isfinite(size):
                out[k:] = math.inf
                break
            if size:  # so that no square leaves float64 before its root does
                out[k] = size * float(measure(power / size))
            power = power @ matrix
    return out


def _square(W: npt.ArrayLike) -> Doubles:
    matrix = np.array(W, np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ConfigError("W_hh is a square matrix, (H, H); received shape {shape}", shape=matrix.shape)
    if not np.isfinite(matrix).all():
        raise ConfigError("W_hh holds values that are not finite")
    return matrix

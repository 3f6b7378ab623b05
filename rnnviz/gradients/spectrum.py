"""Why gradients vanish or explode: the eigenvalues of W_hh and its powers, and a network with W_hh scaled.

Without φ a gradient goes back k steps through W_hh^k, which shrinks like ρ^k for large k, ρ the largest
eigenvalue modulus. A transpose, as torch has it, has the same eigenvalues and norms.
"""

import math
from dataclasses import replace
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles
from rnnviz.errors import ConfigError
from rnnviz.gradients.states import Norm, check_norm, spectral
from rnnviz.networks.numpy_model import Network, NumpyModel, weights_of

Complexes = npt.NDArray[np.complex128]

MAX_POWER = 10_000


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
    if not 0 <= layer < config.layers:
        raise ConfigError(
            "the layers are numbered from 0 to {last}; received {layer}", last=config.layers - 1, layer=layer
        )
    W_h = weights_of(model).layers[layer].W_h
    assert W_h is not None
    return np.ascontiguousarray(W_h.T, np.float64)


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
    size = float(np.abs(matrix).max()) or 1.0
    factor, step = (matrix / size).astype(np.float32), math.log2(size)
    power, exponent = np.eye(len(matrix), dtype=np.float32), 0.0
    out = np.empty(n + 1)
    with np.errstate(under="ignore", over="ignore"):
        for k in range(n + 1):
            out[k] = float(measure(power)) * np.exp2(exponent)
            if k < n:
                power, exponent = power @ factor, exponent + step
                by = int(np.frexp(np.abs(power).max())[1])
                power, exponent = np.ldexp(power, -by), exponent + by
    return out


def _square(W: npt.ArrayLike) -> Doubles:
    matrix = np.array(W, np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ConfigError("W_hh is a square matrix, (H, H); received shape {shape}", shape=matrix.shape)
    if not np.isfinite(matrix).all():
        raise ConfigError("W_hh holds values that are not finite")
    return matrix

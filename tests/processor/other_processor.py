"""The engines' products, rounded as on another processor.

A BLAS adds up in an order that depends on the processor and on the number of rows: some give the same bits
for a row whether it is multiplied alone or with others, most don't. Here two of seven entries of each product
of several rows move by a unit in the last place, others for each number of rows, and others for each product.
So two computations that are compared bit by bit differ on every processor: the test is red wherever it runs.

The pytest process and its workers take it from `conftest.py`, the processes that tests start from
`sitecustomize.py` beside this file, which `PYTHONPATH` shows them. `ROUNDING` in the environment says which
rounding they have. Products of a single row stay as they are, and so do torch's in bfloat16: a unit in the
last place would be a hundredth of the number there.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

ROUNDING = "RNNVIZ_TEST_ROUNDING"
OTHER, OWN = "other", "own"
"""Values of ROUNDING: another processor's (what tests get unless told otherwise), or this one's own."""

PERIOD = 7
product_count = 0
"""The products so far; each test begins with 0, and so fails again as it failed."""

active = os.environ.get(ROUNDING) == OTHER


@cache
def _factors(columns: int, epsilon: float) -> Any:
    """1, and 1 ± epsilon for two of seven entries, (7, columns): row k for the rows of residue k."""
    import numpy as np

    residues = (5 * np.arange(PERIOD)[:, None] + 3 * np.arange(columns)) % PERIOD
    return 1 + epsilon * ((residues == 0) * 1.0 - (residues == 1))


def _shift(rows: int) -> int:
    """Which entries of the next product move."""
    global product_count
    product_count += 1
    return rows + product_count


def matmul(multiply: Callable[..., Any]) -> Callable[..., Any]:
    """numpy's product (…, n, X) (…, X, R), moved."""
    import numpy as np

    def moved(rows: Any, weights: Any, out: Any = None) -> Any:
        result = multiply(rows, weights, out)
        n = rows.shape[-2] if rows.ndim > 1 else 1
        if active and n > 1 and result.dtype.kind == "f":
            factors = _factors(result.shape[-1], float(np.finfo(result.dtype).eps)).astype(result.dtype)
            shift = _shift(n)
            for k in range(min(n, PERIOD)):
                result[..., k::PERIOD, :] *= factors[(k + shift) % PERIOD]
        return result

    return moved


def _moved(result: Any, n: int) -> Any:
    """A tensor of n rows (…, R), moved; gradients pass."""
    import torch

    if (
        not active
        or n < 2
        or result.device.type != "cpu"
        or result.dtype not in (torch.float32, torch.float64)
    ):
        return result
    factors = torch.from_numpy(_factors(result.shape[-1], torch.finfo(result.dtype).eps)).to(result.dtype)
    factor = factors[(torch.arange(result.numel() // result.shape[-1]) + _shift(n)) % PERIOD]
    return result * factor.view(result.shape)


def linear(multiply: Callable[..., Any]) -> Callable[..., Any]:
    """torch's X W^T + b, its product moved: a bias beside a product of zeros stays as it is."""

    def moved(x: Any, weights: Any, bias: Any = None) -> Any:
        n = x.numel() // max(1, x.shape[-1])
        if not active or n < 2:
            return multiply(x, weights, bias)
        result = _moved(multiply(x, weights), n)
        return result if bias is None else result + bias

    return moved


def states(read: Callable[..., Any]) -> Callable[..., Any]:
    """torch's fused layers, whose products are out of reach: their inputs X (B, T, X) are moved instead."""

    def moved(config: Any, layers: Any, x: Any, *args: Any, **dropped: Any) -> Any:
        return read(config, layers, _moved(x, x.shape[0]), *args, **dropped)

    return moved


REPLACED = {
    "rnnviz.networks.numpy_engine": {"matmul": matmul},
    "rnnviz.lab.engines.torch_engine": {"linear": linear, "states": states},
}
"""By module, the functions that are replaced as soon as it is imported."""


class _Finder:
    """Finds the modules of REPLACED as they would be found without it, and replaces their functions."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in REPLACED else None
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                for function, replaced in REPLACED[name].items():
                    setattr(module, function, replaced(getattr(module, function)))

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


@contextmanager
def own_products() -> Iterator[None]:
    """Meanwhile products are this processor's own, also in the processes that are started."""
    global active
    before, active, setting = active, False, os.environ.get(ROUNDING)
    os.environ[ROUNDING] = OWN
    try:
        yield
    finally:
        active = before
        if setting is None:
            del os.environ[ROUNDING]
        else:
            os.environ[ROUNDING] = setting


def install() -> None:
    """From here on, imported engines have the products of this file, while `active`."""
    import sys

    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type]

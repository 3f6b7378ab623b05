"""Two results that are the same but for the rounding of products, which the processor decides."""

from typing import Any

import numpy as np
import pytest


def close(one: Any, other: Any, *, rel: float = 1e-5, least: float | None = None) -> bool:
    """Whether plain values (as of JSON) are alike: floats to `rel`, or `least` near 0, all else exactly."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(
            close(one[key], other[key], rel=rel, least=least) for key in one
        )
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(
            close(a, b, rel=rel, least=least) for a, b in zip(one, other, strict=True)
        )
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=rel, abs=rel if least is None else least, nan_ok=True)
    return type(one) is type(other) and bool(one == other)


def assert_states(found: Any, expected: Any) -> None:
    """States, gates, costs or chances of two readings, or None twice."""
    if expected is None:
        assert found is None
        return
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)

"""Two results that are the same but for the rounding of products, which the processor decides."""

from typing import Any

import numpy as np
import pytest


def close(first: Any, other: Any, *, rel: float = 1e-5, least: float | None = None) -> bool:
    """Whether plain values (as of JSON) are alike: floats to `rel`, or `least` near 0, all else exactly."""
    if isinstance(first, dict) and isinstance(other, dict):
        return list(first) == list(other) and all(
            close(first[key], other[key], rel=rel, least=least) for key in first
        )
    if isinstance(first, list | tuple) and isinstance(other, list | tuple):
        return len(first) == len(other) and all(
            close(a, b, rel=rel, least=least) for a, b in zip(first, other, strict=True)
        )
    if isinstance(first, float) and isinstance(other, float):
        return first == pytest.approx(other, rel=rel, abs=rel if least is None else least, nan_ok=True)
    return type(first) is type(other) and bool(first == other)


def assert_states(actual: Any, expected: Any, tolerance: float = 1e-5, name: str = "") -> None:
    """States, gates, costs or chances of two readings, or None twice."""
    if expected is None:
        assert actual is None
        return
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance, err_msg=name)

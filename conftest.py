"""What holds for every test, the package's doctests among them."""

from __future__ import annotations

import os
from collections.abc import Iterator

# Small models gain nothing from a second thread, and two that wait for one another lose much wherever a
# browser or another test has the other core. Before numpy is there: for it, and for what tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
import torch
from hypothesis import HealthCheck, settings

# Properties: the same few examples each time, or with --hypothesis-profile=thorough many, new ones each time.
settings.register_profile(
    "quick",
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=1000, derandomize=False)
settings.load_profile("quick")


@pytest.fixture(autouse=True)
def floats_as_they_are() -> Iterator[None]:
    """Training in a test flushes denormal numbers to zero, which the next test's numbers must not see."""
    yield
    torch.set_flush_denormal(False)


@pytest.fixture(autouse=True)
def settings_as_they_are() -> Iterator[None]:
    """An example in a docstring may set a variable of ours, which the next test must not see."""
    before = {name: value for name, value in os.environ.items() if name.startswith("RNNVIZ_")}
    yield
    for name in [name for name in os.environ if name.startswith("RNNVIZ_")]:
        del os.environ[name]
    os.environ.update(before)

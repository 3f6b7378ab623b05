"""Seriation: units that act alike stand together, always in the same way."""

from __future__ import annotations

import numpy as np
import pytest

from rnnviz.errors import ConfigError
from rnnviz.figures.order import seriate


def families(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Activations (300, 40) of four families of ten units, shuffled, and each unit's family."""
    rng = np.random.default_rng(seed)
    family = rng.permutation(np.repeat(np.arange(4), 10))
    signal = rng.normal(size=(300, 4))
    return np.tanh(signal[:, family] + 0.2 * rng.normal(size=(300, 40))), family


def test_families_stand_together() -> None:
    activations, family = families()
    ordered = family[seriate(activations)]
    assert np.count_nonzero(np.diff(ordered)) == 3


def test_it_is_an_order_and_always_the_same() -> None:
    activations, _ = families(1)
    order = seriate(activations)
    assert sorted(order.tolist()) == list(range(40))
    assert seriate(activations.copy()).tolist() == order.tolist()


def test_units_that_never_change_come_last() -> None:
    activations, _ = families(2)
    activations[:, [3, 17]] = 0.25
    assert seriate(activations)[-2:].tolist() == [3, 17]


@pytest.mark.parametrize("shape", [(0, 5), (1, 5), (9, 1), (9, 2)])
def test_too_little_to_compare_leaves_the_order_alone(shape: tuple[int, int]) -> None:
    assert seriate(np.random.default_rng(0).normal(size=shape)).tolist() == list(range(shape[1]))


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"\(2, 3, 4\)"):
        seriate(np.zeros((2, 3, 4)))

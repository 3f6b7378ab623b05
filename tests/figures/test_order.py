"""Orders of units: what acts alike stands together, what is slow comes first, always in the same way."""

import numpy as np
import pytest

from rnnviz.figures.live import seriate, steady


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


def test_order_is_permutation_and_deterministic() -> None:
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


def waves() -> np.ndarray:
    """Activations (800, 12): four square waves of periods 40, 60, 100 and 160, a turned copy of each, and
    four units of noise.
    """
    t = np.arange(800)
    slow = np.stack([np.sign(np.sin(2 * np.pi * (t + 3) / period)) for period in (40, 60, 100, 160)], axis=1)
    noise = np.random.default_rng(0).normal(size=(800, 4))
    return np.concatenate([slow, -slow, np.tanh(noise)], axis=1)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("order", [np.arange(12), np.random.default_rng(1).permutation(12)])
def test_the_steadiest_are_slow_and_differ_wherever_a_unit_stands_and_however_it_is_turned(
    sign: int, order: np.ndarray
) -> None:
    chosen = order[steady(sign * waves()[:, order], 4)]
    assert [int(unit) % 4 for unit in chosen] == [3, 2, 1, 0]  # the slowest first
    assert max(chosen) < 8


def test_a_large_unit_that_is_fast_is_not_steady() -> None:
    activations = waves()
    activations[:, 8] *= 5
    assert 8 not in steady(activations, 4)


def test_constant_or_infinite_units_come_last() -> None:
    activations = waves()
    activations[:, 2], activations[:, 6] = 0.9, np.nan
    chosen = steady(activations, 12).tolist()
    assert sorted(chosen) == list(range(12))
    assert set(chosen[-2:]) == {2, 6}


@pytest.mark.parametrize("shape", [(0, 5), (1, 5), (2, 5), (9, 1)])
def test_of_little_text_all_units_are_steady(shape: tuple[int, int]) -> None:
    chosen = steady(np.random.default_rng(0).normal(size=shape))
    assert sorted(chosen.tolist()) == list(range(shape[1]))

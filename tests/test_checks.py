"""Arguments are checked by each function's own signature, and numpy's numbers are numbers."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import rnnviz
from rnnviz import corpora, gradients, units
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from tests.support.models import tiny
from tests.support.refused import assert_one_sentence

WITHOUT_ARGUMENTS = ("available", "names")


@pytest.mark.parametrize("module", [rnnviz, units, gradients, corpora], ids=lambda module: module.__name__)
def test_every_public_function_is_checked(module: Any) -> None:
    functions = {name: getattr(module, name) for name in module.__all__ if name not in WITHOUT_ARGUMENTS}
    for name, value in functions.items():
        if callable(value) and not isinstance(value, type):
            assert hasattr(value, "__wrapped__"), name


@checked
def asked(
    number: float = 1.0, count: int = 1, flag: bool = False, name: str = "", seed: int | None = None
) -> tuple[object, ...]:
    return number, count, flag, name, seed


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.array, torch.tensor])
def test_a_number_of_numpy_or_torch_is_a_number(kind: Any) -> None:
    values = asked(kind(3), kind(3), seed=kind(3))
    assert values == (3.0, 3, False, "", 3)
    assert [type(value) for value in values] == [float, int, bool, str, int]
    assert asked(flag=np.bool_(True))[2] is True


@pytest.mark.parametrize(
    "wrong",
    [
        {name: value}
        for name, values in {
            "number": (None, True, "3", b"3", [3], np.ones(2), pd.Series([1.0]), object(), len),
            "count": (None, True, 3.0, np.float32(3), float("nan"), "3", [3], np.ones(2), torch.ones(2)),
            "flag": (None, 1, "yes", np.ones(2, bool), pd.Series([True])),
            "name": (None, 3, b"x", ["x"], np.array(["x"]), pd.Series(["x"]), object()),
            "seed": (-1, True, 2.5, "3", pd.Series([1])),
        }.items()
        for value in values
    ],
    ids=lambda wrong: " ".join(f"{name} {type(value).__name__}" for name, value in wrong.items()),
)
def test_any_other_value_is_refused_in_a_sentence(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"^{next(iter(wrong))} is ") as refused:
        asked(**wrong)
    assert_one_sentence(str(refused.value))


def test_numpys_numbers_go_through_the_package() -> None:
    assert rnnviz.TrainConfig(hidden_size=np.int64(16)) == rnnviz.TrainConfig(hidden_size=16)
    model = tiny("gru")
    read = rnnviz.trace(model, "machine")
    assert read.top(np.int64(3), np.uint8(2)) == read.top(3, 2) == read.top(3)[:2]
    length, seed = np.int32(5), np.uint16(7)
    assert rnnviz.sample(model, "the", length, seed=seed) == rnnviz.sample(model, "the", 5, seed=7)

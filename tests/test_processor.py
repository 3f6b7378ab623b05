"""Products round as on another processor, also in what tests start; not where every bit is promised."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import other_processor
import pytest
import torch

from rnnviz.lab.engines import torch_engine
from rnnviz.networks import numpy_engine

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.standard_normal((20, 12), np.float32)
WEIGHTS = RANDOM.standard_normal((36, 12), np.float32)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_product_of_several_rows_moves_by_its_last_bits(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_processor, "active", True)

    def product(rows: np.ndarray) -> np.ndarray:
        if library == "numpy":
            return numpy_engine.product(rows, WEIGHTS)
        return torch_engine.linear(torch.from_numpy(rows), torch.from_numpy(WEIGHTS)).numpy()

    result, right = product(ROWS), ROWS @ WEIGHTS.T
    np.testing.assert_allclose(result, right, rtol=1e-5, atol=1e-5)
    assert np.mean(result != right) > 0.2
    assert not np.array_equal(result, product(ROWS)), "no two products round alike"
    assert np.array_equal(product(ROWS[:1]), product(ROWS[:1])), "but for those of a single row"


@pytest.mark.exact
def test_a_promise_of_every_bit_is_tried_with_the_processors_own_products() -> None:
    """What carries the marker is as without this folder."""
    assert np.array_equal(numpy_engine.product(ROWS, WEIGHTS), ROWS @ WEIGHTS.T)
    assert os.environ[other_processor.ROUNDING] == other_processor.OWN


def test_bitwise_promise_names_its_subject() -> None:
    """The marker is the whole list of what may compare bit by bit."""
    promises = {
        f"{path.name}::{node.name}": ast.get_docstring(node)
        for path in Path(__file__).parent.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(decorator) == "pytest.mark.exact" for decorator in node.decorator_list)
    }
    assert promises
    assert [test for test, promise in promises.items() if not promise] == []


@pytest.mark.parametrize("rounding", [other_processor.OTHER, other_processor.OWN])
def test_a_process_that_a_test_starts_rounds_as_the_variable_says(rounding: str) -> None:
    code = (
        "import numpy as np; from rnnviz.networks.numpy_engine import product\n"
        "rows = np.random.default_rng(0).standard_normal((20, 12)).astype(np.float32)\n"
        "print((product(rows, rows) != rows @ rows.T).any())"
    )
    environment = {**os.environ, other_processor.ROUNDING: rounding}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == str(rounding == other_processor.OTHER)

"""The eigenvalues of W_hh."""

import numpy as np
import pytest

from rnnviz.analysis.spectra import eigenvalues
from rnnviz.errors import ConfigError


def test_eigenvalues_come_largest_first() -> None:
    np.testing.assert_allclose(eigenvalues(np.diag([1.0, -3.0, 2.0])), [-3, 2, 1])
    np.testing.assert_allclose(np.abs(eigenvalues([[0.0, -2.0], [2.0, 0.0]])), [2, 2])


def test_those_of_a_damaged_network_are_none() -> None:
    with pytest.raises(ConfigError, match="not finite"):
        eigenvalues(np.full((2, 2), np.inf))

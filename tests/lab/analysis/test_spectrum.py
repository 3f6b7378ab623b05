"""The eigenvalues of W_hh."""

from typing import Any

import numpy as np
import pytest

from rnnviz.findings import Number
from rnnviz.lab.analysis.spectra import Spectrum, eigenvalues


def make_spectrum(trained: Any, *, gated: bool = False) -> Spectrum:
    return Spectrum(2, gated, np.asarray(trained, complex), np.array([-0.5, 0.25j]))


def test_eigenvalues_come_largest_first() -> None:
    np.testing.assert_allclose(eigenvalues(np.diag([1.0, -3.0, 2.0])), [-3, 2, 1])
    # Of the same modulus the smaller real part first, then the smaller imaginary part.
    np.testing.assert_allclose(eigenvalues(np.diag([2.0, -2.0])), [-2, 2])
    np.testing.assert_allclose(eigenvalues([[0.0, -2.0], [2.0, 0.0]]), [-2j, 2j], atol=1e-12)


@pytest.mark.parametrize(
    ("trained", "outside", "grows"),
    [
        ([-5, 2j, 1.5, -1, 1j, 0.5], 3, True),
        ([1.001, 0.999], 1, True),
        ([-1, 1j, 0.5], 0, False),  # on the circle nothing grows
        ([0.5, 0], 0, False),
    ],
)
def test_spectrum_counts_eigenvalues_outside_the_circle(
    trained: list[complex], outside: int, grows: bool
) -> None:
    spectrum = make_spectrum(trained)
    assert spectrum.facts()["outside"] == outside
    first, second, _limit = spectrum.sentences()
    assert (first.values["outside"], first.values["units"]) == (
        Number(outside, "count"),
        Number(len(trained), "count"),
    )
    assert second.code == ("spectrum.grows" if grows else "spectrum.shrinks")


def test_spectrum_shows_its_facts() -> None:
    spectrum = make_spectrum([-5, 2j, 0.5], gated=True)
    (row,) = spectrum.table().rows
    cells = {column.code: cell for column, cell in zip(spectrum.table().columns, row, strict=True)}
    assert cells == {
        "head.radius": Number(5),
        "head.untrained": Number(0.5),
        "head.outside": Number(2, "count"),
    }
    assert spectrum.panels()[0].picture.bound == "circle"  # type: ignore[union-attr]

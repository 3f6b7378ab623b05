"""A changed letter: nothing before it, an mlp forgets at once."""

import math

import numpy as np
import pytest

import rnnviz
from rnnviz.findings import count
from rnnviz.networks.cells import CELLS
from tests.support.models import TEXT
from tests.support.torch_models import tiny_torch

SHORT = TEXT[:80]


@pytest.mark.parametrize("cell", CELLS)
def test_a_perturbation_is_the_difference_of_two_traces(cell: str) -> None:
    model = tiny_torch(cell, layers=2)
    found = rnnviz.units.perturb(model, SHORT, 10, "q")
    one, other = rnnviz.trace(model, SHORT), rnnviz.trace(model, SHORT[:10] + "q" + SHORT[11:])
    assert (found.before.text, found.after.text) == (one.text, other.text)
    apart = (one.hidden.astype(float) - other.hidden).reshape(80, -1)
    np.testing.assert_allclose(found.distance, np.linalg.norm(apart, axis=1), atol=1e-5)
    p, q = (t.log_probs.astype(float) for t in (one, other))
    np.testing.assert_allclose(found.divergence, (np.exp(p) * (p - q)).sum(axis=1), atol=1e-5)
    np.testing.assert_allclose(found.bits, found.divergence / math.log(2))
    assert not found.distance[:10].any()
    assert not found.divergence[:11].any()
    assert found.divergence[11] > 0
    if cell == "mlp":
        assert found.distance[11:].max() < 1e-6
        assert found.remembered(1e-6) == 0
    else:
        assert found.remembered(1e-6) > 0


def test_several_models_are_told_and_drawn_together() -> None:
    gru, mlp = (rnnviz.units.perturb(tiny_torch(cell), SHORT, 3, "x") for cell in ("gru", "mlp"))
    apart, states = gru.panels([mlp])
    # A line begins at the change, and ends where differences are rounding.
    curves = [values for _name, values in (*apart.picture.curves, *states.picture.curves)]
    np.testing.assert_allclose(np.nan_to_num(curves[0]), gru.bits[4:], atol=1e-4)
    np.testing.assert_allclose(np.nan_to_num(curves[2]), gru.distance[3:], atol=1e-4)
    assert np.isnan(curves[1][1:]).all()
    assert (apart.picture.first, states.picture.first) == (3, 3)


@pytest.mark.parametrize(("threshold", "codes"), [(0.0, ["remembered", "to-the-end"]), (9.0, ["remembered"])])
def test_it_is_said_how_long_a_letter_is_remembered(threshold: float, codes: list[str]) -> None:
    found = rnnviz.units.perturb(tiny_torch("gru"), SHORT, 3, "x", threshold=threshold)
    said = found.sentences()
    assert [one.code for one in said] == [f"perturbation.{code}" for code in codes]
    facts = found.facts()
    assert said[0].values["n"] == count(facts["remembered"]) == count(76 if len(codes) == 2 else 0)
    assert (facts["position"], facts["before"], facts["after"]) == (3, SHORT[3], "x")
    assert [row["bits"] for row in facts["characters"]] == found.bits[4:].tolist()
    assert [row[2].value for row in found.table().rows] == found.distance[3:].tolist()


@pytest.mark.parametrize("cell", CELLS)
def test_a_memory_is_the_mean_of_perturbations(cell: str) -> None:
    model = tiny_torch(cell, layers=2)
    text = "ab" * 8  # two kinds of characters: the other one takes the place of each
    found = rnnviz.units.memory(model, text, steps=12, places=99)
    assert found.places == 4
    single = [rnnviz.units.perturb(model, text, at, "b" if text[at] == "a" else "a") for at in range(4)]
    divergence = np.mean([p.divergence[at + 1 : at + 14] for at, p in enumerate(single)], axis=0)
    distance = np.mean([p.distance[at : at + 13] for at, p in enumerate(single)], axis=0)
    np.testing.assert_allclose(found.divergence, divergence, atol=1e-6)
    np.testing.assert_allclose(found.distance, distance, atol=1e-5)
    if cell == "mlp":
        assert found.half_life == 1

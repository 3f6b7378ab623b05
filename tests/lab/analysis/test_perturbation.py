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
    perturbation = rnnviz.units.perturb(model, SHORT, 10, "q")
    unchanged, other = rnnviz.trace(model, SHORT), rnnviz.trace(model, SHORT[:10] + "q" + SHORT[11:])
    assert (perturbation.before.text, perturbation.after.text) == (unchanged.text, other.text)
    apart = (unchanged.hidden.astype(float) - other.hidden).reshape(80, -1)
    np.testing.assert_allclose(perturbation.distance, np.linalg.norm(apart, axis=1), atol=1e-5)
    p, q = (t.log_probs.astype(float) for t in (unchanged, other))
    np.testing.assert_allclose(perturbation.divergence, (np.exp(p) * (p - q)).sum(axis=1), atol=1e-5)
    np.testing.assert_allclose(perturbation.bits, perturbation.divergence / math.log(2))
    assert not perturbation.distance[:10].any()
    assert not perturbation.divergence[:11].any()
    assert perturbation.divergence[11] > 0
    if cell == "mlp":
        assert perturbation.distance[11:].max() < 1e-6
        assert perturbation.remembered(1e-6) == 0
    else:
        assert perturbation.remembered(1e-6) > 0


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
def test_perturbation_counts_the_characters_that_remember(threshold: float, codes: list[str]) -> None:
    perturbation = rnnviz.units.perturb(tiny_torch("gru"), SHORT, 3, "x", threshold=threshold)
    sentences = perturbation.sentences()
    assert [sentence.code for sentence in sentences] == [f"perturbation.{code}" for code in codes]
    facts = perturbation.facts()
    assert sentences[0].values["n"] == count(facts["remembered"]) == count(76 if len(codes) == 2 else 0)
    assert (facts["position"], facts["before"], facts["after"]) == (3, SHORT[3], "x")
    assert [row["bits"] for row in facts["characters"]] == perturbation.bits[4:].tolist()
    assert [row[2].value for row in perturbation.table().rows] == perturbation.distance[3:].tolist()


@pytest.mark.parametrize("cell", CELLS)
def test_a_memory_is_the_mean_of_perturbations(cell: str) -> None:
    model = tiny_torch(cell, layers=2)
    text = "ab" * 8  # two kinds of characters: the other one takes the place of each
    memory = rnnviz.units.memory(model, text, steps=12, places=99)
    assert memory.places == 4
    single = [rnnviz.units.perturb(model, text, at, "b" if text[at] == "a" else "a") for at in range(4)]
    divergence = np.mean([p.divergence[at + 1 : at + 14] for at, p in enumerate(single)], axis=0)
    distance = np.mean([p.distance[at : at + 13] for at, p in enumerate(single)], axis=0)
    np.testing.assert_allclose(memory.divergence, divergence, atol=1e-6)
    np.testing.assert_allclose(memory.distance, distance, atol=1e-5)
    if cell == "mlp":
        assert memory.half_life == 1

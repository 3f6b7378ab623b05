"""What may be said of what flows back: which codes, with which values; the facts are the same numbers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rnnviz import gradients
from rnnviz.findings import Number
from rnnviz.lab.analysis.attribution import Attribution, Contributions
from rnnviz.lab.analysis.spectra import eigenvalues
from rnnviz.lab.engines.untrained import untrained
from rnnviz.lab.reports.attribution import quantity
from rnnviz.lab.reports.memory_length import fading_panels
from rnnviz.sentences import describe
from tests.support.models import TEXT
from tests.support.torch_models import tiny_torch

LONG = "".join(np.random.default_rng(0).choice(list(TEXT), 900).tolist())


def codes(finding: Any) -> list[str]:
    return [sentence.code.partition(".")[2] for sentence in finding.sentences()]


@pytest.mark.parametrize(
    ("cell", "text", "lags", "expected_codes"),
    [
        ("gru", LONG, 30, ["half-last", "interval", "further"]),
        ("gru", LONG, 9, ["half-last", "interval"]),
        ("gru", LONG[:40], 12, ["half-last", "unsure"]),  # the table's last lag is 10
        ("mlp", LONG, 30, ["last-alone"]),
    ],
)
def test_a_reach_says_what_is_true_of_it(cell: str, text: str, lags: int, expected_codes: list[str]) -> None:
    reach = gradients.memory_length(tiny_torch(cell), text, lags=lags)
    assert codes(reach) == expected_codes
    facts = reach.facts()
    assert reach.sentences()[0].values["half"] == Number(facts["half_within"], digits=1)
    lags_shown = [row[0].value for row in reach.table().rows]  # type: ignore[union-attr]
    assert lags_shown == [lag for lag in (0, 1, 2, 5, 10, 20) if lag < lags - 1]
    # Where nothing reaches further there is no line to draw; names tell several apart.
    assert len(reach.panels()) == (cell != "mlp")
    both = fading_panels(
        [("one", reach), ("other", gradients.memory_length(tiny_torch("rnn"), text, lags=lags))]
    )
    assert [name for name, _curve in both[0].picture.curves] == ["one", "other"][cell == "mlp" :]  # type: ignore[union-attr]


def test_the_last_characters_are_counted_once_there_are_two() -> None:
    reach = gradients.memory_length(tiny_torch("gru"), LONG, lags=30)
    several = replace(reach, half=replace(reach.half, estimate=np.array(2.6)))
    first = several.sentences()[0]
    assert (first.code, first.values["last"]) == ("reach.half", 3)


def test_a_picture_has_each_prediction_at_the_character_it_is_of() -> None:
    square = gradients.connectivity(tiny_torch("gru"), TEXT[:30])
    (panel,) = square.panels()
    log10 = panel.picture.log10  # type: ignore[union-attr]
    assert np.isneginf(log10[0]).all()
    shares = square.norms / square.norms.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(square.normalised, shares, rtol=1e-4, atol=1e-30)
    np.testing.assert_allclose(10.0 ** log10[1:], square.normalised[:-1], atol=1e-6)
    row = gradients.connectivity(tiny_torch("gru"), TEXT[:30], at=12)
    np.testing.assert_allclose(row.shares, square.normalised[11, :12], rtol=1e-4)
    assert sum(character["share"] for character in row.facts()["characters"]) == pytest.approx(1)
    assert len(row.table().rows) == len(row) == 12


def contributions(values: list[float], whole: float, beyond: float = float("nan")) -> Contributions:
    attribution = Attribution(
        "ab", 1, None, 0, np.array(values), whole, -3.0, "integrated", "average", 32, beyond
    )
    return Contributions(
        "c", None, attribution, attribution, gradients.connectivity(tiny_torch("gru"), "ab", at=2)
    )


@pytest.mark.parametrize(
    ("values", "whole", "beyond", "expected_codes"),
    [
        ([1.0, 2.0], -1.0, float("nan"), ["wrong"]),
        ([1.0, 2.0], 0.0, float("nan"), ["sum"]),
        ([1.0, 2.0], 0.0, 0.4, ["sum", "cut"]),
        ([10.0, -7.0], 0.0, float("nan"), ["sum", "cancel"]),
    ],
)
def test_a_sum_that_is_off_is_not_shown(
    values: list[float], whole: float, beyond: float, expected_codes: list[str]
) -> None:
    contributions_shown = contributions(values, whole, beyond)
    assert codes(contributions_shown) == [*expected_codes, "notice", "limits"]
    first = contributions_shown.sentences()[0]
    assert first.values["sum"] == Number(3.0, "signed", 2)
    assert first.values["size"] == Number(sum(map(abs, values)), digits=2)
    # What does not add up is no column of numbers either.
    assert all((row[2] is None) == (expected_codes == ["wrong"]) for row in contributions_shown.table().rows)
    assert describe(quantity(replace(contributions_shown, against="d")), "en") == "log P(“c”) − log P(“d”)"


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_a_spectrum_is_of_the_matrix_that_makes_the_candidate_beside_the_untrained(cell: str) -> None:
    model = tiny_torch(cell, layers=2)
    spectrum = gradients.spectrum(model, layer=1)
    W_hh = model.state_dict()["recurrence.weight_hh_l1"].numpy()
    first = {"rnn": 0, "gru": 24, "lstm": 24}[cell]  # torch: reset, update, new; input, forget, cell, output
    np.testing.assert_allclose(spectrum.trained, eigenvalues(W_hh[first : first + 12]), atol=1e-5)
    np.testing.assert_allclose(spectrum.untrained, gradients.spectrum(untrained(model), layer=1).trained)
    gated = cell != "rnn"
    but = "but-gated" if gated else "but-saturated"
    assert codes(spectrum) == ["radius-block" if gated else "radius", "shrinks", but]
    large = replace(spectrum, trained=np.array([3.0 + 4.0j, 0.5]))
    assert codes(large)[1:] == ["grows", but]
    facts = large.facts()
    assert facts["eigenvalues"] == [[3.0, 4.0], [0.5, 0.0]]
    points = {name.code: places for name, places in large.panels()[0].picture.groups}  # type: ignore[union-attr]
    assert points["spectrum.trained"].tolist() == facts["eigenvalues"]
    assert points["spectrum.untrained"].tolist() == facts["eigenvalues_untrained"]

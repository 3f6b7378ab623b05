"""Weighted sums: what no unit holds and a direction does, beside the controls that units have."""

import json
from typing import Any

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz import units
from rnnviz.errors import ConfigError
from rnnviz.lab.analysis.probing import weighted_sums
from rnnviz.lab.analysis.search_result import Search
from rnnviz.lab.run.unit_search import card_entry, record_search, share_typed
from rnnviz.networks import model_card
from tests.support.built import quoted

LETTERS = sorted(set(quoted(4_000)))
H = 8


def mixing(seed: int, *, knows: bool = True) -> Any:
    """A network whose units are a rotation of eight numbers: whether a quotation is open, and seven that the
    last character sets. Without `knows` the first is always 0.
    """
    random = np.random.default_rng(seed)
    turn = torch.tensor(np.linalg.qr(random.normal(size=(H, H)))[0], dtype=torch.float32)
    of_character = torch.tensor(random.normal(size=(len(LETTERS), H - 1)), dtype=torch.float32)
    opens, closes = (LETTERS.index(mark) for mark in "“”")

    def step(ids: Any, state: Any) -> Any:
        is_open = (state["h"] @ turn.T)[:, :1].round()
        is_open = torch.where((ids == opens)[:, None], torch.ones_like(is_open), is_open)
        is_open = torch.where((ids == closes)[:, None], torch.zeros_like(is_open), is_open)
        h = torch.cat([is_open * knows, of_character[ids]], dim=1) @ turn
        return h, {"h": h}

    readout = torch.nn.Linear(H, len(LETTERS))
    return rnnviz.adapt_step(step, readout=readout, state={"h": torch.zeros(H)}, characters=LETTERS)


def untrained(seed: int) -> Any:
    return mixing(10 + seed, knows=False)


@pytest.fixture(scope="module")
def found() -> tuple[Search, Search]:
    """The best unit, and the best weighted sum."""
    options: dict[str, Any] = {"copies": 1, "fresh": untrained, "shifts": 99}
    text = quoted(31_000)
    one = units.find(mixing(0), text, "quotes", **options)
    return one, units.find(mixing(0), text, "quotes", directions=True, **options)


def test_a_direction_remembers_what_no_unit_holds(found: tuple[Search, Search]) -> None:
    unit, weighted = found
    assert unit.best.score < 0.9
    assert weighted.evidence is not None
    assert weighted.evidence.report is not None
    assert weighted.evidence.report.score > 0.999
    assert weighted.verdict == "remembers"
    assert {rival.kind for rival in weighted.evidence.rivals} == {"character", "context", "untrained"}
    assert max(weighted.untrained) < 0.9
    assert weighted.chance < 0.7, "weights fitted to random labels tell as little as a shifted target"
    assert weighted.characters == len(quoted(31_000)) - len(quoted(31_000)) // 3, "the rest was fitted to"
    assert "A weighted sum of 8 numbers" in str(weighted)
    assert "weighted sums of 8 units" in repr(weighted)


@pytest.mark.slow
def test_a_direction_is_fitted_to_another_text_and_a_mask_is_refused() -> None:
    other = units.find(
        mixing(0),
        quoted(21_000),
        "quotes",
        directions=quoted(30_000, 5),
        copies=1,
        fresh=untrained,
        shifts=99,
    )
    assert other.characters == len(quoted(21_000))
    assert other.verdict == "remembers"
    mask = units.target("quotes", quoted(21_000))
    with pytest.raises(ConfigError):  # a mask says nothing of another text
        units.find(mixing(0), quoted(21_000), mask, directions=quoted(30_000, 5), copies=1, fresh=untrained)


def test_a_card_holds_the_weights_and_tells_with_them_what_the_search_did(
    found: tuple[Search, Search],
) -> None:
    unit, weighted = found
    entry = json.loads(json.dumps(card_entry("units", found)))
    card = {model_card.UNITS_KEY: entry}
    (finding,) = model_card.remembering(card)
    assert (finding.unit, finding.target) == (H, "quotes")
    assert not model_card.other_searches(card), "the unit that doesn't remember is named no more"
    read = rnnviz.trace(mixing(0), quoted(3_000, 7))
    assert weighted.weighted is not None
    np.testing.assert_array_equal(
        finding.along(read.hidden[:, 0]), weighted.weighted.along(read.hidden[:, 0])
    )
    right, constant = share_typed(weighted, [read]) or (0, 1)
    assert right > 0.99 > constant
    plain = record_search(unit)
    np.testing.assert_array_equal(plain.along(read.hidden[:, 0]), read.hidden[:, 0, plain.unit])
    assert finding.follows()[0].code == "recorded.follows-weighted"
    for damaged in ("A", "AA==", "AHwAfA=="):  # no base64, half a number, infinite
        damaged_entry = {"findings": [{**entry["findings"][0], "weights": damaged}]}
        assert not model_card.unit_findings({model_card.UNITS_KEY: damaged_entry})


def test_weights_are_scaled_to_what_is_shown() -> None:
    random = np.random.default_rng(0)
    mask = np.arange(4_000) % 70 < 20
    states = (random.normal(size=(4_000, 6)) * [1, 100, 1, 1, 1, 1] + 3).astype(np.float32)
    states[:, 2] += 3 * mask
    states[:, 3] -= 3 * mask
    for weighted in weighted_sums(states, mask, 1):
        values = weighted.along(states)
        assert weighted.layer == 1
        assert np.percentile(abs(values), 98) == pytest.approx(1, abs=0.02)
        assert ((values > 0) == mask).mean() > 0.95, "0 parts them, however strong the penalty"
    graded = weighted_sums(states, np.where(mask, 2.0, 0.0), 0)[0].along(states)
    assert np.corrcoef(graded, mask)[0, 1] > 0.5

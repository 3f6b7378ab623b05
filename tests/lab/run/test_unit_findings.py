"""Findings of units in a model's card: old ones are read, damaged ones are none."""

import json
import math

import pytest

from rnnviz.networks import model_card
from rnnviz.networks.model_card import responds

GOOD = {
    "target": "quotes",
    "quantity": "hidden",
    "measure": "AUC",
    "layer": 0,
    "unit": 1,
    "score": 0.9,
    "chance": 0.6,
    "character": 0.5,
    "untrained": [0.5, 0.6],
    "characters": 20_000,
}


RIVAL = {"kind": "context", "number": 8, "score": 0.6, "low": 0.1, "high": 0.3, "p": 0.002}
WEIGHED = {"rivals": [RIVAL], "interval": [0.8, 1.0], "stability": 0.9, "block": 50}
REPORT = {"score": 0.88, "interval": [0.8, 0.95], "rivals": [RIVAL]}


def test_a_card_of_the_first_kind_is_read_and_claims_no_memory() -> None:
    """Nobody knows what the last few characters told beside it."""
    card = {model_card.UNITS_KEY: {"command": "python -m rnnviz units --card", "findings": [GOOD]}}
    (finding,) = model_card.unit_findings(card)
    assert (finding.verdict, finding.evidence, finding.unit) == ("open", None, 1)
    assert model_card.other_searches(card) == ()
    assert "not measured beside the last few characters" in responds(card)
    assert "remembers" not in responds(card)


@pytest.mark.parametrize(
    "damaged",
    [
        3,
        [],
        {"command": 3, "findings": 4},
        {"findings": [3, {}, {"target": "quotes"}]},
        {"findings": [{**GOOD, "unit": "1"}, {**GOOD, "score": math.nan}, {**GOOD, "untrained": ["x"]}]},
        {"findings": [{**GOOD, "untrained": []}, {**GOOD, "unit": -1}, {**GOOD, "more": 1}]},
        {"findings": [{**GOOD, "levels": [0.05]}, {**GOOD, "levels": 3}, {**GOOD, "p": "no"}]},
        {"findings": [{**GOOD, "evidence": 3}, {**GOOD, "evidence": {}}, {**GOOD, "untrained": 3}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "interval": [1.0]}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "stability": "high"}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "rivals": [{**RIVAL, "kind": "<b>"}]}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "rivals": [{**RIVAL, "number": "8"}]}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "rivals": [{**RIVAL, "low": math.nan}]}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "interval": [0.8, 0.9, 1.0]}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "report": {**REPORT, "score": "high"}}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "report": {**REPORT, "interval": [0.8]}}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "report": {**REPORT, "rivals": [{}]}}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "report": 0.88}}]},
    ],
)
def test_damaged_findings_are_none(damaged: object) -> None:
    card = {model_card.UNITS_KEY: damaged}
    assert model_card.unit_findings(card) == model_card.other_searches(card) == ()
    assert responds(card) == model_card.search_command(card) == ""
    sound = {**GOOD, "evidence": WEIGHED}
    reported = {**GOOD, "evidence": {**WEIGHED, "report": REPORT}}
    findings = model_card.unit_findings({model_card.UNITS_KEY: {"findings": [GOOD, 3, sound, reported]}})
    assert [finding.lead for finding in findings] == pytest.approx([0.3, 0.3, 0.28])  # the last by its report
    assert findings[2].evidence.report.interval == (0.8, 0.95)
    rewritten = json.loads(json.dumps({"findings": [finding.to_json() for finding in findings]}))
    assert model_card.unit_findings({model_card.UNITS_KEY: rewritten}) == findings

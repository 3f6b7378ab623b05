"""Findings of units in a model's card: old ones are read, damaged ones are none."""

import base64
import json
import math
from dataclasses import replace

import pytest

from rnnviz.networks import checkpoint, model_card
from rnnviz.networks.model_card import models_page, responds
from rnnviz.page.shown_units import unnamed_targets

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


def failed(target: str, score: float, **changes: object) -> dict[str, object]:
    """A search that the last 2 characters equal, an untrained copy even more; its report has other scores."""
    few = {"kind": "context", "number": 2, "score": score - 0.01, "low": -0.1, "high": 0.1, "p": 0.5}
    copy = {"kind": "untrained", "number": 1, "score": score + 0.2, "low": -0.3, "high": -0.1, "p": 0.001}
    there = [{**few, "score": score - 0.05}, {**copy, "score": score + 0.1}]
    report = {"score": score + 0.03, "interval": [0.0, 1.0], "rivals": there}
    weighed = {**WEIGHED, "rivals": [few, copy], "stability": None, "report": report}
    return {**GOOD, "target": target, "score": score, "chance": 0.2, "evidence": weighed, **changes}


def test_a_search_without_a_finding_is_told_with_its_numbers() -> None:
    packed = base64.b64encode(bytes(16)).decode()
    others = [
        failed("quotes", 0.6),
        failed("quotes", 0.7, unit=8, weights=packed),
        failed("line-position", 0.3, measure="correlation", character=0.1),
        failed("capital", 0.4, chance=0.9),
    ]
    text = {"name": "holmes.txt", "sha256": "ab", "held_out": False}
    entry = {
        "command": "units",
        "text": text,
        "findings": [],
        "others": others,
        "unanswered": {"brackets": "absent"},
    }
    card = {model_card.UNITS_KEY: entry}
    quotes, weighted, *_others = model_card.other_searches(card)
    assert (quotes.verdict, quotes.rival.kind, quotes.strongest.kind) == ("context", "context", "untrained")
    assert (quotes.reported, quotes.strongest.score) == pytest.approx((0.63, 0.7))
    assert weighted.weighted is not None
    page = responds(card)
    assert "on 20,000 characters of holmes.txt" in page
    assert "\nNothing holds.\n" in page
    assert "quotes [0.630; untrained 0.700], quotes Σ [0.730; untrained 0.800]" in page
    assert "capital [0.430; untrained 0.500] (nothing found)" in page
    assert unnamed_targets(card) == (
        "No unit and no direction could be named from 20,000 characters of holmes.txt: inside quotation "
        "marks (score 0.73, untrained 0.80); inside brackets (the text has none); the "
        "position in the line (score 0.33, untrained 0.40)."
    )
    units_alone = {model_card.UNITS_KEY: {**entry, "others": others[2:]}}
    assert unnamed_targets(units_alone).startswith("No unit could be named from 20,000 characters")
    assert "Nothing holds" not in responds(checkpoint.read_info(checkpoint.find("chinese-gru")).card)


def test_the_page_tells_on_what_each_model_was_trained() -> None:
    def info(name: str, part: str | None) -> checkpoint.ModelInfo:
        shipped = checkpoint.read_info(checkpoint.find("timemachine-mlp"))
        return replace(shipped, name=name, card={**shipped.card, "trained_on": part})

    page = models_page(
        [info("a", "first 90 %"), info("b", "first 85 %"), info("c", "first 90 %"), info("d", None)]
    )
    assert "\nTrained on the first 90 %, with the validation text: `a`, `c`.\n" in page
    assert "\nTrained on the first 85 % alone, so that" in page
    assert "have a meaning: `b`." in page.replace("\n", " ")
    assert "Trained on a part unknown: `d`." in page

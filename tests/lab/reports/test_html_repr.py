"""What a notebook shows of what was found inside."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz import units
from rnnviz.figures.pictures import draw
from rnnviz.figures.themes import LIGHT
from rnnviz.findings import Finding, Number, Panel, Picture, Sentence
from rnnviz.lab.analysis import attribution, matching
from rnnviz.lab.analysis.evidence import search
from rnnviz.lab.analysis.interventions import Intervention
from rnnviz.lab.analysis.matching import Matches, pattern
from rnnviz.lab.analysis.patching import Patched
from rnnviz.lab.analysis.search_result import Replication, Unanswered
from rnnviz.lab.engines.torch_model import CharModel
from tests.support.html_repr import assert_brief, assert_well_formed
from tests.support.models import TEXT, tiny_card
from tests.support.torch_models import tiny_torch


@cache
def model() -> CharModel:
    return tiny_torch("gru", name="tiny <b>", card=tiny_card(title="<script>x</script>"), hidden_size=40)


@cache
def trace() -> rnnviz.Trace:
    return rnnviz.trace(model(), TEXT)


@cache
def matches() -> Matches:
    states = trace().hidden[:, 0].T.astype(np.float16)
    return matching.find(states, 40, pattern(trace(), 3, 5, threshold=0.02))


@cache
def patch() -> Patched:
    return units.patch(model(), TEXT[:20], 9, TEXT[:30], 20)


OUTLINES = json.loads(Path(__file__).with_name("outlines.json").read_text("utf-8"))
"""What is shown of findings, by the names in OBJECTS: see `outline`."""

OBJECTS: dict[str, Callable[[], Any]] = {
    "search": lambda: search(trace(), units.target("vowel", TEXT)),
    "network in torch": model,
    "gates": lambda: units.gates(trace()),
    "projection": lambda: units.project(trace()),
    "ablation": lambda: units.ablate(model(), TEXT[:60]),
    "perturbation": lambda: units.perturb(model(), TEXT[:300], 5, "x"),
    "comparison": lambda: units.compare([model(), model()], TEXT[:100]),
    "connectivity": lambda: rnnviz.gradients.connectivity(model(), TEXT[:100]),
    "target": lambda: units.target("vowel", TEXT),
    "intervention": lambda: Intervention(range(200)),
    "pattern": lambda: matches().pattern,
    "matches": matches,
    "match": lambda: matches().found[0],
    "unit of a scan": lambda: units.scan(model(), text=TEXT)[0, 3],
    "patch": patch,
    "controls of a patch": lambda: patch().controls(model(), TEXT, n=2),
    "replication": lambda: Replication(("one", "other"), (OBJECTS["search"](),) * 2),
    "unanswered": lambda: Unanswered(units.target("digit", TEXT)),
    "probe": lambda: units.probe(trace(), "vowel"),
    "effect": lambda: units.effect(model(), TEXT[:100], units.Zero(3), controls=3),
    "contributions": lambda: attribution.contributions(model(), TEXT[:40], at=30),
    "score": lambda: rnnviz.perplexity(model(), TEXT),
    "connectivity of a character": lambda: rnnviz.gradients.connectivity(model(), TEXT[:100], at=50),
    "memory length": lambda: rnnviz.gradients.memory_length(model(), TEXT[:300], lags=20),
    "spectrum": lambda: rnnviz.gradients.spectrum(model()),
    "remaining": lambda: rnnviz.gradients.remaining(tiny_torch("mingru"), TEXT[:60]),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_a_repr_takes_no_more_than_a_few_lines(name: str) -> None:
    assert_brief(OBJECTS[name]())


def test_repr_lists_eight_items_and_counts_more() -> None:
    assert ["tuple of" in repr(Intervention(range(n))) for n in (8, 9)] == [False, True]


@pytest.mark.parametrize("name", ["search", "network in torch"])
def test_a_picture_is_well_formed_html_without_scripts(name: str) -> None:
    assert_well_formed(OBJECTS[name]())


def test_a_search_shows_its_table_what_may_be_said_and_the_best_units_as_bars() -> None:
    result = OBJECTS["search"]()
    html = result._repr_html_()
    assert f"<td style='padding:1px 12px 1px 0;text-align:left'>{result.target}</td>" in html
    assert "Too little text to tell" in html
    assert "**" not in html
    listed = result.panels()[0].picture
    assert html.count("width:240px") == 1, "the longest bar"
    assert html.count(f"background:{LIGHT.muted}") == len(listed.levels)
    assert all(f"<td>{value:.3f}</td>" in html for value in listed.values)


def outline(part: object) -> Any:
    """The words and the forms of numbers in what is shown of a finding, in their order."""
    if isinstance(part, Sentence):
        return part.code
    if isinstance(part, Number):
        return f"{part.form} {part.digits}"
    if isinstance(part, list | tuple):
        return [found for item in part if (found := outline(item))]
    if not isinstance(part, Panel | Picture):
        return None
    shown = {name: value if isinstance(value, str) else outline(value) for name, value in vars(part).items()}
    if isinstance(part, Picture):
        layout = draw(part, lambda value: outline(value) or str(value))["layout"]
        titles = [layout[axis]["title"]["text"] for axis in ("xaxis", "yaxis")]
        shown["drawn"] = [*titles, layout["xaxis"].get("tickformat"), layout["showlegend"]]
    return [type(part).__name__, {name: value for name, value in shown.items() if value}]


@pytest.mark.parametrize("name", OUTLINES)
def test_a_finding_is_shown_under_the_same_words(name: str) -> None:
    result = OBJECTS[name]()
    shown: dict[str, Any] = {"panels": outline(result.panels())}
    if isinstance(result, Finding):
        table, (first, *_rest) = result.table(), result.sentences()
        numbers = {key: outline(value) for key, value in first.values.items() if isinstance(value, Number)}
        shown |= {"heads": outline(table.columns), "row": outline(table.rows[-1]), "numbers": numbers}
    assert shown == OUTLINES[name], json.dumps(shown, ensure_ascii=False)

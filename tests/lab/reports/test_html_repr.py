"""What a notebook shows of what was found inside."""

from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz import units
from rnnviz.figures.themes import LIGHT
from rnnviz.lab.analysis import matching
from rnnviz.lab.analysis.evidence import search
from rnnviz.lab.analysis.interventions import Intervention
from rnnviz.lab.analysis.matching import pattern
from tests.support.html_repr import assert_brief, assert_well_formed
from tests.support.models import TEXT, tiny_card
from tests.support.torch_models import tiny_torch

MODEL = tiny_torch("gru", name="tiny <b>", card=tiny_card(title="<script>x</script>"), hidden_size=40)
READ = rnnviz.trace(MODEL, TEXT)
SEARCH = search(READ, units.target("vowel", TEXT))
PATTERN = pattern(READ, 3, 5, threshold=0.02)
MATCHES = matching.find(READ.hidden[:, 0].T.astype(np.float16), 40, PATTERN)
PATCH = units.patch(MODEL, TEXT[:20], 9, TEXT[:30], 20)
OBJECTS: dict[str, Any] = {
    "search": SEARCH,
    "network in torch": MODEL,
    "gates": units.gates(READ),
    "projection": units.project(READ),
    "ablation": units.ablate(MODEL, TEXT[:60]),
    "perturbation": units.perturb(MODEL, TEXT[:300], 5, "x"),
    "comparison": units.compare([MODEL, MODEL], TEXT[:100]),
    "connectivity": rnnviz.gradients.connectivity(MODEL, TEXT[:100]),
    "target": units.target("vowel", TEXT),
    "intervention": Intervention(range(200)),
    "pattern": PATTERN,
    "matches": MATCHES,
    "match": MATCHES.found[0],
    "unit of a scan": units.scan(MODEL, text=TEXT)[0, 3],
    "patch": PATCH,
    "controls of a patch": PATCH.controls(MODEL, TEXT, n=2),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_a_repr_takes_no_more_than_a_few_lines(name: str) -> None:
    assert_brief(OBJECTS[name])


@pytest.mark.parametrize("name", ["search", "network in torch"])
def test_a_picture_is_well_formed_html_without_scripts(name: str) -> None:
    assert_well_formed(OBJECTS[name])


def test_a_search_shows_its_table_what_may_be_said_and_the_best_units_as_bars() -> None:
    html = SEARCH._repr_html_()
    assert f"<td style='padding:1px 12px 1px 0;text-align:left'>{SEARCH.target}</td>" in html
    assert "Too little text to tell" in html
    assert "**" not in html
    listed = SEARCH.panels()[0].picture
    assert html.count("width:240px") == 1, "the longest bar"
    assert html.count(f"background:{LIGHT.muted}") == len(listed.levels)
    assert all(f"<td>{value:.3f}</td>" in html for value in listed.values)

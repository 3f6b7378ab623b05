"""What may be said of a search and of a probe: which codes, with which values."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rnnviz.analysis.activations import Unit
from rnnviz.analysis.probing import Few, Probe
from rnnviz.analysis.search_result import Evidence, Found, Replication, Report, Rival, Search, Unanswered
from rnnviz.analysis.targets import Target
from rnnviz.findings import Bars, Finding, Number, Said
from rnnviz.sentences import tell
from rnnviz.training import unit_findings


def weighed(interval: tuple[float, float] | None = (0.88, 0.92), **scores: float) -> Evidence:
    """Evidence for a unit that reaches 0.9, beside rivals of such scores."""
    rivals = []
    for kind, number, usual in (("character", 1, 0.7), ("context", 8, 0.8), ("untrained", 1, 0.75)):
        score = scores.get(kind, usual)
        lead = 0.9 - score
        rivals.append(Rival(kind, number, score, lead - 0.02, lead + 0.02, 0.002))
    return Evidence(tuple(rivals), interval, 0.75, 80)


def reported(**scores: float) -> Evidence:
    """The same, where text that had no say in it gives less."""
    rivals = [
        Rival(kind, number, score, 0.85 - score - 0.02, 0.85 - score + 0.02, 0.002)
        for kind, number, score in (("character", 1, 0.6), ("context", 8, 0.78), ("untrained", 1, 0.64))
    ]
    return replace(weighed(**scores), report=Report(0.85, (0.83, 0.87), tuple(rivals)))


def codes(found: Finding) -> list[str]:
    return [one.code.partition(".")[2] for one in found.sentences()]


def value(found: Finding, code: str, name: str) -> Any:
    """What a sentence says: a number unrounded."""
    said = next(one for one in found.sentences() if one.code.endswith(code))
    shown = said.values[name]
    return shown.value if isinstance(shown, Number) else shown


BEST, OTHER = (Found(Unit(0, n), score, 0.9, 1, 0.0) for n, score in enumerate((0.9, 0.99)))
SEARCH = Search(
    target="quotes",
    measure="AUC",
    quantity="hidden",
    found=(BEST, OTHER),
    chance=0.6,
    shifts=np.empty(0),
    character=0.7,
    held_out=True,
    characters=20_000,
    inside=9,
    untrained=(0.6, 0.75, 0.7),
    evidence=weighed(),
)
MEASURED = ["first-measured"]
STABLE = ["stable", "above-chance"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"characters": 19_999}, ["too-short"]),
        ({"characters": 449, "held_out": False}, ["too-short"]),
        ({"evidence": weighed(interval=None)}, ["too-rare"]),
        ({"held_out": False}, ["same-text"]),
        ({"chance": 0.95}, ["nothing"]),
        ({"evidence": None}, ["first", "not-compared", "above-chance"]),
        ({"evidence": weighed(character=0.89)}, [*MEASURED, "behind-character", *STABLE]),
        ({"evidence": weighed(context=0.91)}, [*MEASURED, "behind-context", *STABLE]),
        ({"evidence": weighed(untrained=0.99)}, [*MEASURED, "behind-untrained", *STABLE]),
        # The strongest is named, as the chart draws it, and the simplest beside it.
        (
            {"evidence": weighed(character=0.89, context=1.0)},
            [*MEASURED, "behind-context", "nor-character", *STABLE],
        ),
        (
            {"evidence": weighed(context=0.91, untrained=0.99)},
            [*MEASURED, "behind-untrained", "nor-context", *STABLE],
        ),
        (
            {"evidence": weighed(character=1.0, context=0.99)},
            [*MEASURED, "behind-character", *STABLE],
        ),
        ({"evidence": weighed(untrained=0.879)}, [*MEASURED, "remembers", *STABLE]),
        ({"chance": 0.89}, [*MEASURED, "chance-only", *STABLE]),
        ({}, [*MEASURED, "remembers", *STABLE]),
        ({"evidence": reported()}, ["first-reported", "remembers", *STABLE]),
        # What is not confirmed is said with the figures that did not confirm it.
        ({"evidence": reported(context=0.91)}, [*MEASURED, "behind-context", *STABLE]),
    ],
)
def test_a_search_says_what_is_true_of_it(changed: dict[str, Any], said: list[str]) -> None:
    found = replace(SEARCH, **changed)
    assert codes(found) == said
    assert ("remembers" in said) == (found.verdict == "remembers")
    # What passes on the part that would have chosen it is no find.
    assert all(tell(one, "en").find("Unit 1") < 0 for one in found.sentences())


def test_a_search_says_the_numbers_it_measured() -> None:
    behind = replace(SEARCH, evidence=weighed(context=0.91))
    assert value(behind, "behind-context", "rival") == 0.91
    assert value(behind, "behind-context", "number") == 8
    assert tell(value(behind, "behind-context", "lead"), "en") == "−0.030 to 0.010"
    confirmed = replace(SEARCH, evidence=reported())
    assert value(confirmed, "first-reported", "score") == 0.85
    assert tell(value(confirmed, "first-reported", "interval"), "en") == "0.830 to 0.870"
    assert value(confirmed, "remembers", "untrained") == 0.64
    # The lead is the one that confirmed.
    assert tell(value(confirmed, "remembers", "lead"), "en") == "0.080 to 0.120"
    assert value(SEARCH, "stable", "stable") == 0.75


def test_a_searchs_table_picture_and_facts_hold_the_same_numbers() -> None:
    (row,) = SEARCH.table().rows
    cells = {column.code: cell for column, cell in zip(SEARCH.table().columns, row, strict=True)}
    (panel,) = SEARCH.panels(chosen=1)
    facts = SEARCH.facts()
    assert cells["head.held-out"] == Number(0.9)
    assert facts["units"][0]["score"] == panel.picture.values[0] == 0.9
    levels = {name.code: level for name, level in panel.picture.levels}
    assert levels == {
        "search.level-chance": facts["chance"],
        "search.level-character": facts["character"],
        "search.level-context": facts["rivals"][1]["score"],
        "search.level-untrained": max(facts["untrained"]),
    }
    assert (panel.picture.chosen, panel.picks) == (1, [0, 1])
    assert SEARCH.about(0) is None
    assert SEARCH.about(1).values["score"] == Number(0.99)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({}, "remembers"),
        ({"characters": 100}, "short"),
        ({"evidence": weighed(interval=None)}, "too-rare"),
        ({"evidence": weighed(context=0.91)}, "context"),
        ({"evidence": weighed(character=1.0)}, "character-surely"),
    ],
)
def test_a_verdict_is_short_in_a_cell(changed: dict[str, Any], code: str) -> None:
    cell = replace(SEARCH, **changed).table().rows[0][-1]
    assert isinstance(cell, Said)
    assert cell.code == f"brief.{code}"


def test_of_a_target_that_is_the_same_throughout_it_is_said_why_nothing_is() -> None:
    never = Unanswered(Target("digit", np.zeros(9, np.bool_)))
    assert never.facts() == {"target": "digit", "why_not": "the same throughout this text"}
    assert [one.code for one in never.sentences()] == ["search.unanswered"]
    assert never.table().rows[0][-1] == Said("brief.throughout", {})
    assert not never.panels()


def test_the_strongest_rival_is_one_that_is_not_beaten() -> None:
    found = weighed(character=0.89, untrained=0.895)
    assert (found.unbeaten(0.9).kind, found.strongest(0.9).kind) == ("character", "untrained")
    assert weighed().strongest(0.9) is None
    # Where each is beaten, but not surely enough for a family of searches, it is the one that came closest.
    assert weighed().strongest(0.9, level=0.001) == weighed().unbeaten(0.9, level=0.001) is not None


def test_what_is_on_record_is_said_with_the_figures_that_had_no_say_in_it() -> None:
    found = unit_findings.Recorded(
        "quotes", "hidden", "AUC", 0, 7, 0.9, 0.6, 0.7, (0.75,), 66_128, reported()
    )
    first, *_beside = found.follows()
    assert (first.code, first.values["score"]) == ("recorded.follows", Number(0.85))
    assert replace(found, evidence=weighed()).follows()[0].code == "recorded.confirmed"


FEW = tuple(
    Few(tuple(Unit(0, n) for n in range(k)), score) for k, score in [(1, 0.7), (2, 0.7), (4, 0.8), (8, 0.85)]
)


AHEAD = Rival("context", 8, 0.8, 0.11, 0.19, 0.002)


PROBE = Probe(
    target="quotes",
    measure="AUC",
    quantity="hidden",
    layers=(0,),
    score=0.95,
    few=FEW,
    control=(0.5,),
    untrained=(0.6,),
    character=0.55,
    held_out=True,
    characters=20_000,
    inside=9,
    weights=np.ones((1, 16)),
    interval=(0.91, 0.97),
)
SURE, COPIES = ["interval", "control-mask"], ["copies"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, ["spread", *SURE, *COPIES]),
        ({"score": 0.71}, ["one", *SURE, *COPIES]),
        ({"score": 0.81}, ["few", *SURE, *COPIES]),
        ({"untrained": (0.94,)}, ["spread", *SURE, *COPIES, "behind-untrained"]),
        ({"untrained": ()}, ["spread", *SURE]),
        ({"character": 0.94}, ["spread", *SURE, *COPIES, "behind-character"]),
        ({"control": (0.94,)}, ["nothing", "interval", *COPIES]),
        ({"interval": None}, ["short"]),
        ({"measure": "correlation"}, ["spread", "interval", "control-graded", *COPIES]),
        ({"context": AHEAD}, ["spread", *SURE, *COPIES, "ahead"]),
        ({"context": replace(AHEAD, low=-0.01)}, ["spread", *SURE, *COPIES, "behind-context"]),
        ({"context": replace(AHEAD, low=None, high=None)}, ["spread", *SURE, *COPIES, "unsure"]),
    ],
)
def test_a_probe_says_what_is_true_of_it(changed: dict[str, Any], said: list[str]) -> None:
    found = replace(PROBE, **changed)
    assert codes(found) == said
    assert ("behind-untrained" in said) == (found.verdict == "untrained")
    if "few" in said:
        assert (value(found, "few", "k"), value(found, "few", "few")) == (4, 0.8)


def test_a_probes_picture_has_what_few_units_reach_and_all() -> None:
    (panel,) = replace(PROBE, context=AHEAD).panels()
    assert panel.picture.values == [0.7, 0.7, 0.8, 0.85, 0.95]
    assert [level for _name, level in panel.picture.levels] == [0.5, 0.55, 0.8, 0.6]


BEHIND, SHORT = replace(SEARCH, evidence=weighed(context=0.91)), replace(SEARCH, characters=400)


@pytest.mark.parametrize(
    ("searches", "said", "told"),
    [
        ((SEARCH, SEARCH), ["all", "scores"], "In **all 2 networks** a unit remembers quotes."),
        ((SEARCH, BEHIND, SHORT), ["some", "scores"], "In **1 of 3 networks** a unit remembers quotes; "),
        ((BEHIND, BEHIND), ["none", "scores"], "In **none of 2 networks** a unit surely remembers quotes."),
        ((SHORT, SHORT), ["too-short"], "**"),
    ],
)
def test_a_replication_says_in_how_many_networks_a_unit_remembers(
    searches: tuple[Search, ...], said: list[str], told: str
) -> None:
    found = Replication(tuple(f"seed-{n}" for n in range(len(searches))), searches)
    assert codes(found) == said
    assert tell(found.sentences()[0], "en").startswith(told)
    facts = found.facts()
    assert (facts["networks"], facts["remember"]) == (len(searches), found.remember)
    assert [one["model"] for one in facts["found"]] == list(found.networks)
    assert [one["verdict"] for one in facts["found"]] == [search.verdict for search in searches]


def test_a_replication_has_a_row_and_a_bar_for_each_network() -> None:
    best = replace(BEST, score=0.8)
    found = Replication(("one", "other"), (SEARCH, replace(SEARCH, found=(best,), chance=0.7)))
    assert found.scores == (0.9, 0.8)
    table = found.table()
    assert [row[0] for row in table.rows] == ["one", "other"]
    assert list(table.rows[1][1:]) == list(found.searches[1].table().rows[0])
    assert len(table.columns) == len(table.rows[0])
    (panel,) = found.panels()
    assert isinstance(panel.picture, Bars)
    assert (panel.picture.names, panel.picture.values) == (("one", "other"), (0.9, 0.8))
    assert [value for _name, value in panel.picture.levels] == [0.7]
    assert (value(found, "scores", "low"), value(found, "scores", "high")) == (0.8, 0.9)
    assert "<Replication of quotes in 2 networks: " in repr(found)

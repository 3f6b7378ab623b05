"""What may be said of a search and of a probe: which codes, with which values."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rnnviz.findings import Bars, Finding, Number, Sentence, words
from rnnviz.lab.analysis.activations import Unit
from rnnviz.lab.analysis.probing import Few, Probe
from rnnviz.lab.analysis.search_result import Found, Replication, Search, Unanswered
from rnnviz.lab.analysis.targets import Target
from rnnviz.networks import model_card
from rnnviz.networks.verdicts import Evidence, Report, Rival
from rnnviz.sentences import describe


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


def codes(finding: Finding) -> list[str]:
    return [sentence.code.partition(".")[2] for sentence in finding.sentences()]


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
    ("changed", "expected_codes"),
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
def test_a_search_says_what_is_true_of_it(changed: dict[str, Any], expected_codes: list[str]) -> None:
    search = replace(SEARCH, **changed)
    assert codes(search) == expected_codes
    assert ("remembers" in expected_codes) == (search.verdict == "remembers")
    # What passes on the part that would have chosen it is no find.
    assert all(describe(sentence, "en").find("Unit 1") < 0 for sentence in search.sentences())


def test_a_searchs_picture_and_facts_hold_the_same_numbers() -> None:
    (panel,) = SEARCH.panels(chosen=1)
    facts = SEARCH.facts()
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
    about = SEARCH.about(1)
    assert (about.code, english(about.values)) == (
        "search.unit", {"unit": "1", "measure": "AUC", "score": "0.990", "ranked": "0.900"},
    )  # fmt: skip


TWELVE = tuple(Found(Unit(1, n), 0.9 - n / 100, 0.8 - n / 100, -1, n / 100) for n in range(14))
RANKED = replace(SEARCH, evidence=reported(context=0.91), parsed=0.8, inside=900, found=(TWELVE[0], OTHER))


def english(values: Any) -> dict[str, str]:
    return {name: "" if value is None else describe(value, "en") for name, value in values.items()}


def test_a_searchs_facts_are_all_that_json_prints() -> None:
    facts = RANKED.facts()
    report = facts.pop("report")
    assert [rival["kind"] for rival in facts.pop("rivals")] == ["character", "context", "untrained"]
    assert facts == {
        "target": "quotes", "parsed": 0.8, "measure": "AUC", "quantity": "hidden", "characters": 20_000,
        "inside": 900, "held_out": True, "chance": 0.6, "above_chance": 2, "character": 0.7,
        "untrained": [0.6, 0.75, 0.7], "interval": [0.88, 0.92], "stability": 0.75, "block": 80,
        "verdict": "context",
        "units": [
            {"layer": 1, "unit": 0, "direction": -1, "ranked_by": 0.8, "score": 0.9, "p": 0.0},
            {"layer": 0, "unit": 1, "direction": 1, "ranked_by": 0.9, "score": 0.99, "p": 0.0},
        ],
    }  # fmt: skip
    assert (report["score"], report["interval"], len(report["rivals"])) == (0.85, (0.83, 0.87), 3)
    bare = replace(SEARCH, evidence=None, found=TWELVE).facts()
    assert [unit["unit"] for unit in bare["units"]] == list(range(10))
    assert bare["above_chance"] == 6, "a p of 0.05 still is"


def test_a_searchs_row_has_a_cell_for_each_head() -> None:
    heads = ["target", "share", "measure", "unit", "ranked-by", "held-out", "reported", "interval", "chance"]
    heads += ["above", "character", "context", "untrained", "stable", "verdict"]
    table = RANKED.table()
    assert [column.code for column in table.columns] == [f"head.{name}" for name in heads]
    assert list(english(dict(zip(heads, table.rows[0], strict=True))).values()) == [
        "quotes", "4.5 %", "AUC", "−1:0", "0.800", "0.900", "0.850", "0.830–0.870", "0.600", "2", "0.700",
        "8: 0.910", "0.750", "75 %", "may be the last 8 characters",
    ]  # fmt: skip
    for changed, cells in (
        ({"held_out": False}, ["–"] * 9),
        ({"evidence": None, "character": None, "untrained": (), "chance": 0.95},
         ["0.900", "–", "–", "0.950", "2", "–", "–", "–", "–"]),
        ({"evidence": weighed(interval=None)},
         ["0.900", "–", "–", "0.600", "2", "0.700", "8: 0.800", "0.750", "75 %"]),
    ):  # fmt: skip
        row = replace(RANKED, **changed).table().rows[0]
        assert list(english(dict(zip(heads, row, strict=True))).values())[5:14] == cells
    assert replace(RANKED, inside=None).table().rows[0][1] is None


def test_a_frame_has_the_rows_and_the_headings_of_the_table() -> None:
    (row,) = RANKED.frame().to_dict("records")
    assert (row["target"], row["share"], row["held out"], row["verdict"]) == (
        "quotes", 0.045, 0.9, "may be the last 8 characters",
    )  # fmt: skip
    assert set(replace(RANKED, held_out=False).frame()["held out"].isna()) == {True}


def test_a_searchs_sentences_share_their_values() -> None:
    *sentences, above = RANKED.sentences()
    assert [english(sentence.values) for sentence in sentences] == [
        {
            "unit": "0", "best": "unit 0", "measure": "AUC", "score": "0.900", "interval": "0.880 to 0.920",
            "chance": "0.600", "character": "0.700", "untrained": "0.750", "context": "0.910", "k": "8",
            "rival": "0.910", "number": "8", "lead": "−0.030 to 0.010", "simplest": "0.910", "few": "8",
            "stable": "75 %", "n": "20,000", "enough": "20,000",
        }
    ] * 3  # fmt: skip
    assert english(above.values) == {"n": "2"}
    reports = english(replace(SEARCH, evidence=reported()).sentences()[0].values)
    names = ("score", "interval", "character", "untrained", "context", "lead", "simplest")
    assert [reports[name] for name in names] == [
        "0.850", "0.830 to 0.870", "0.600", "0.640", "0.780", "0.080 to 0.120", "–",
    ]  # fmt: skip


def test_a_searchs_bars_are_the_best_units_and_the_chosen_one() -> None:
    ranked = replace(SEARCH, found=TWELVE)
    (panel,) = ranked.panels()
    assert panel.picks == list(range(12))
    assert panel.picture.names[:2] == ["− 0", "− 1"]
    assert (panel.picture.first, panel.picture.last, panel.picture.chosen) == (0.5, 1.0, None)
    (other,) = ranked.panels(chosen=13)
    assert (other.picks, other.picture.chosen) == ([*range(12), 13], 12)
    (graded,) = replace(ranked, measure="correlation", held_out=False, evidence=None).panels(chosen=3)
    assert (graded.picture.first, graded.picture.last, graded.picture.chosen) == (0.0, None, 3)
    assert [sentence.code for sentence in (graded.title, *graded.notice[:2])] == [
        "search.title-same-text", "search.notice-same-text", "search.notice-graded",
    ]  # fmt: skip
    assert [name.code for name, _level in graded.picture.levels] == [
        "search.level-character", "search.level-untrained",
    ]  # fmt: skip


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
    assert cell.code == f"brief.{code}"


def test_constant_target_says_why_it_has_no_search() -> None:
    never = Unanswered(Target("digit", np.zeros(9, np.bool_)))
    assert never.facts() == {"target": "digit", "why_not": "the same throughout this text"}
    assert never.sentences() == [Sentence("search.unanswered", {"target": "digit"})]
    assert never.table().rows == [("digit", Number(0.0, "percent"), Sentence("brief.throughout", {}))]
    assert not never.panels()


def test_the_strongest_rival_is_one_that_is_not_beaten() -> None:
    evidence = weighed(character=0.89, untrained=0.895)
    assert (evidence.unbeaten(0.9).kind, evidence.strongest(0.9).kind) == ("character", "untrained")
    assert weighed().strongest(0.9) is None
    # Where each is beaten, but not surely enough for a family of searches, it is the one that came closest.
    assert weighed().strongest(0.9, level=0.001) == weighed().unbeaten(0.9, level=0.001) is not None


def test_recorded_unit_is_told_by_its_report() -> None:
    recorded = model_card.Recorded(
        "quotes", "hidden", "AUC", 0, 7, 0.9, 0.6, 0.7, (0.75,), 66_128, reported()
    )
    first, *_beside = recorded.follows()
    assert (first.code, first.values["score"]) == ("recorded.follows", Number(0.85))
    assert replace(recorded, evidence=weighed()).follows()[0].code == "recorded.confirmed"


SUBSETS = tuple(
    Few(tuple(Unit(0, n) for n in range(k)), score) for k, score in [(1, 0.7), (2, 0.7), (4, 0.8), (8, 0.85)]
)


AHEAD = Rival("context", 8, 0.8, 0.11, 0.19, 0.002)


PROBE = Probe(
    target="quotes",
    measure="AUC",
    quantity="hidden",
    layers=(0,),
    score=0.95,
    few=SUBSETS,
    control=(0.5,),
    untrained=(0.5, 0.6),
    character=0.55,
    held_out=True,
    characters=20_000,
    inside=9,
    weights=np.ones((1, 16)),
    interval=(0.91, 0.97),
)
SURE, COPIES = ["interval", "control-mask"], ["copies"]


@pytest.mark.parametrize(
    ("changed", "expected_codes"),
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
def test_a_probe_says_what_is_true_of_it(changed: dict[str, Any], expected_codes: list[str]) -> None:
    probe = replace(PROBE, **changed)
    assert codes(probe) == expected_codes
    assert ("behind-untrained" in expected_codes) == (probe.verdict == "untrained")


def test_a_probe_says_how_many_units_are_nearly_as_good() -> None:
    sentences = replace(PROBE, score=0.81).sentences()[0].values
    assert (sentences["k"], sentences["few"]) == (4, Number(0.8))


def test_a_probes_picture_has_what_few_units_reach_and_all() -> None:
    (panel,) = replace(PROBE, context=AHEAD).panels()
    assert panel.picture.values == [0.7, 0.7, 0.8, 0.85, 0.95]
    assert [level for _name, level in panel.picture.levels] == [0.5, 0.55, 0.8, 0.6]


BEHIND, SHORT = replace(SEARCH, evidence=weighed(context=0.91)), replace(SEARCH, characters=400)
RARE = replace(SEARCH, held_out=False)


@pytest.mark.parametrize(
    ("searches", "expected_codes", "beginning"),
    [
        ((SEARCH, SEARCH), ["all", "scores"], "In **all 2 networks** a unit remembers quotes."),
        ((SEARCH, BEHIND, SHORT), ["some", "scores"], "In **1 of 3 networks** a unit remembers quotes; "),
        ((BEHIND, BEHIND), ["none", "scores"], "In **none of 2 networks** does a unit clearly remember"),
        ((SHORT, SHORT), ["too-short"], "**"),
        ((RARE, SHORT), ["same-text"], "**"),
    ],
)
def test_a_replication_says_in_how_many_networks_a_unit_remembers(
    searches: tuple[Search, ...], expected_codes: list[str], beginning: str
) -> None:
    replication = Replication(tuple(f"seed-{n}" for n in range(len(searches))), searches)
    assert codes(replication) == expected_codes
    assert describe(replication.sentences()[0], "en").startswith(beginning)
    assert replication.facts() == {
        "target": "quotes",
        "networks": len(searches),
        "remember": replication.remember,
        "found": [{"model": f"seed-{n}", **search.facts()} for n, search in enumerate(searches)],
    }


def test_a_replication_has_a_row_and_a_bar_for_each_network() -> None:
    best = replace(BEST, score=0.8)
    replication = Replication(("one", "other"), (SEARCH, replace(SEARCH, found=(best,), chance=0.7)))
    assert replication.scores == (0.9, 0.8)
    table = replication.table()
    assert [row[0] for row in table.rows] == ["one", "other"]
    assert list(table.rows[1][1:]) == list(replication.searches[1].table().rows[0])
    assert [column.code for column in table.columns][:2] == ["head.network", "head.target"]
    (panel,) = replication.panels()
    levels = [(words("search.level-chance"), 0.7)]
    bars = Bars(replication.networks, (0.9, 0.8), words("measure.auc"), levels, first=0.5, last=1.0)
    assert vars(panel.picture) == vars(bars)
    assert english(replication.sentences()[1].values) == {
        "n": "2", "k": "1", "target": "quotes", "measure": "AUC", "low": "0.800", "high": "0.900",
    }  # fmt: skip


@pytest.mark.parametrize(("language", "message"), [("en", "Too little text to tell"), ("zh", "文本太短")])
def test_a_finding_that_is_printed_says_what_may_be_said(
    language: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RNNVIZ_LANGUAGE", language)
    first, *below = str(replace(SEARCH, characters=5_000)).splitlines()
    assert "'short': 5,000 of the 20,000 characters that a verdict takes" in first
    assert message in "".join(below)
    assert "that a verdict takes" not in repr(SEARCH)

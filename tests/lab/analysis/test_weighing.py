"""How sure a search is: the bootstrap against texts really drawn anew, evidence, Holm's levels."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score

import rnnviz
from rnnviz import units
from rnnviz.errors import ConfigError
from rnnviz.lab.analysis import evidence, ranking
from rnnviz.lab.analysis.evidence import add_evidence
from rnnviz.lab.analysis.search_result import Search, holm
from rnnviz.lab.analysis.searching import Searcher
from rnnviz.lab.analysis.targets import Target
from rnnviz.networks.verdicts import MIN_VERDICT_CHARS, SIGNIFICANCE_LEVEL, Evidence, Rival, verdict
from tests.support.built import LATCHES, built, quoted, telegraph


def test_contexts_tell_what_stands_in_them_and_no_more() -> None:
    ids = np.random.default_rng(2).integers(0, 6, 6000)
    learn = np.arange(6000) < 3000
    for lag, first in ((0, 1), (1, 2), (3, 4), (7, 8)):
        mask = np.concatenate((np.zeros(lag, np.bool_), ids[: 6000 - lag] == 2))
        for k in (1, 2, 4, 8):
            score = ranking.score(evidence.predicted(ids, mask, k, learn)[3000:], mask[3000:])
            assert (score > 0.99) == (k >= first), (lag, k, score)
    graded = np.concatenate(([0.0], ids[:-1] * 1.0))
    assert ranking.score(evidence.predicted(ids, graded, 2, learn)[3000:], graded[3000:]) > 0.95
    pair = np.concatenate(([False], (ids[:-1] == 2) ^ (ids[1:] == 2)))  # no sum of characters: an n-gram
    assert ranking.score(evidence.predicted(ids, pair, 2, learn)[3000:], pair[3000:]) > 0.99


@pytest.mark.parametrize("graded", [False, True])
def test_a_context_weighs_as_much_as_often_it_comes(graded: bool) -> None:
    random = np.random.default_rng(4)
    ids, learn = random.choice(4, 3000, p=[0.6, 0.3, 0.08, 0.02]), np.arange(3000) < 2000
    height = ids + np.roll(ids, 1) + random.normal(size=3000)
    values, model = (
        (height, Ridge(alpha=16)) if graded else (height > 1, LogisticRegression(solver="newton-cg"))
    )
    table, context = evidence._features(ids, 2)
    by_character = table[context]  # a row a character
    labels = ranking.ranks(values[learn]) / learn.sum() if graded else values[learn]
    model.fit(by_character[learn], labels)
    expected = model.predict(by_character) if graded else model.decision_function(by_character)
    np.testing.assert_allclose(
        evidence.predicted(ids, values, 2, learn), expected, atol=0.2
    )  # of some 3; to the tolerance of both


@pytest.mark.parametrize("kind", ["mask", "near", "graded"])
def test_a_character_adds_what_the_score_loses_without_it(kind: str) -> None:
    random = np.random.default_rng(4)
    aim = random.normal(size=400).round()  # ties, without which no rank's spread depends on a character
    target = aim if kind == "graded" else aim > 0.3
    near = (aim == 0) & (random.random(400) < 0.5) if kind == "near" else None
    series = np.column_stack([aim + random.normal(size=400), random.normal(size=400)]).round()
    scores = evidence.SeriesScores.from_series(series, target, near)
    np.testing.assert_allclose(scores.parts.mean(axis=0), 0, atol=1e-9)
    for column_number, column in enumerate(series.T):
        parts = [np.ones(400, bool)] if near is None else [np.ones(400, bool), target | near]
        score = (lambda x, y: spearmanr(x, y)[0]) if kind == "graded" else (lambda x, y: roc_auc_score(y, x))
        assert scores.values[column_number] == pytest.approx(min(score(column[p], target[p]) for p in parts))
        for t in range(0, 400, 40):
            is_kept = np.arange(400) != t
            beside = None if near is None else near[is_kept]
            without = evidence.SeriesScores.from_series(series[is_kept], target[is_kept], beside).values[
                column_number
            ]
            assert scores.parts[t, column_number] == pytest.approx(
                399 * (scores.values[column_number] - without), abs=0.02
            )


def test_the_runs_of_a_target_are_counted_inside_and_outside() -> None:
    for values, expected in (
        ([True, True, False, True], 3),
        ([False, False], 1),
        ([0.0, 1.0, 5.0, 5.0, 0.0, 1.0], 3),
        ([0.0, 0.0, 0.0, 2.0, 0.0, 1.0], 4),
        ([0.0, 5.0, 5.0, 0.0, 5.0], 4),
        ([1.0, 1.0, 1.0], 1),
        ([0.0, 0.0, 0.0, 2.0, 0.0], 3),  # its middle is its lowest
    ):
        assert evidence.count_runs(np.array(values)) == expected


def test_a_family_is_held_to_holms_levels() -> None:
    mask = Target("telegraph", telegraph(2000, 20, 0))
    single = Searcher(mask.values[:, None].astype(float)).search(mask)
    ps = [0.001, 0.011, 0.02, 0.04, 0.03]
    family = [replace(single, found=(replace(single.best, p=p),)) for p in ps]
    levels = [search.levels[0] for search in holm(family)]
    assert levels[:2] == [SIGNIFICANCE_LEVEL / 5, SIGNIFICANCE_LEVEL / 4]
    assert levels[2:] == [0.0, 0.0, 0.0]  # 0.02 > 0.05 / 3, and so all after it
    assert holm([single])[0].levels[0] == SIGNIFICANCE_LEVEL  # no family, no correction
    assert holm([]) == []
    results = [replace(search, characters=MIN_VERDICT_CHARS, chance=0.6) for search in holm(family)]
    assert [search.verdict == "nothing" for search in results] == [False, False, True, True, True]


def test_a_family_asks_for_the_shifts_that_its_levels_take() -> None:
    targets = [Target("telegraph", telegraph(MIN_VERDICT_CHARS, 50, seed)) for seed in range(11)]
    states = np.random.default_rng(8).normal(size=(MIN_VERDICT_CHARS, 11))
    searcher = Searcher(states + np.column_stack([target.values for target in targets]))
    results = holm(searcher.search(target) for target in targets)
    assert [(search.best.unit.unit, search.verdict) for search in results] == [(n, "open") for n in range(11)]
    too_few = [searcher.search(target, shifts=200) for target in targets]
    with pytest.raises(ConfigError, match=r"11 searches .* each needs 219 shifts or more; telegraph has 200"):
        holm(too_few)
    assert {search.verdict for search in holm(too_few[:10])} == {"open"}


@pytest.mark.slow
def test_the_report_is_measured_on_the_part_that_neither_ranked_nor_confirmed() -> None:
    random, target = np.random.default_rng(9), Target("telegraph", telegraph(MIN_VERDICT_CHARS, 20, 9))
    part = np.arange(MIN_VERDICT_CHARS) * 15 // MIN_VERDICT_CHARS % 3
    strength = np.array([1.0, 2.0, 0.5])[part]
    states = random.normal(size=(MIN_VERDICT_CHARS, 2))
    states[:, 1] += strength * target.values
    copy = random.normal(size=MIN_VERDICT_CHARS) + strength / 3 * target.values
    searcher, beside = Searcher(states), part == 2
    searcher.ids = random.integers(0, 3, MIN_VERDICT_CHARS) + 3 * target.values * (
        random.random(MIN_VERDICT_CHARS) < 0.2
    )
    weighed = add_evidence(searcher, searcher.search(target), target, [copy])
    report = weighed.evidence.report
    assert weighed.best.score == pytest.approx(roc_auc_score(target.values[part == 1], states[part == 1, 1]))
    assert report.score == pytest.approx(roc_auc_score(target.values[part == 2], states[part == 2, 1]))
    predictions = [ranking.predict_by_symbol(searcher.ids, target.values, ~beside)]
    predictions += [
        evidence.predicted(searcher.ids, target.values, k, ~beside) for k in evidence.CONTEXT_LENGTHS
    ]
    named = [("character", 1), *(("context", k) for k in evidence.CONTEXT_LENGTHS), ("untrained", 0)]
    assert [(rival.kind, rival.number) for rival in report.rivals] == named
    for rival, series in zip(report.rivals, [*predictions, copy], strict=True):
        assert rival.score == pytest.approx(roc_auc_score(target.values[beside], series[beside]))


@pytest.mark.parametrize(("high", "suffices"), [(0.02, True), (0.03, False), (None, False)])
def test_rival_suffices_where_no_lead_above_the_margin_is_possible(
    high: float | None, suffices: bool
) -> None:
    assert Rival("character", 1, 0.9, -0.01, high, 0.4).suffices == suffices


def test_a_lead_that_a_family_makes_doubtful_is_no_lead() -> None:
    evidence = Evidence(
        tuple(Rival(kind, 8, 0.6, 0.1, 0.3, 0.03) for kind in ("context", "untrained")), (0.8, 0.9), 1.0, 50
    )

    def verdict_at(level: float) -> str:
        return verdict(0.9, 0.6, 0.5, (0.5,), MIN_VERDICT_CHARS, evidence=evidence, lead_level=level)

    assert (verdict_at(SIGNIFICANCE_LEVEL), verdict_at(SIGNIFICANCE_LEVEL / 5)) == ("remembers", "context")


@pytest.mark.parametrize(
    ("rival", "expected_verdict"),
    [
        (Rival("context", 4, 0.7, -0.01, 0.4, 0.06), "context"),  # its interval holds zero
        (Rival("context", 4, 0.885, 0.01, 0.02, 0.002), "context"),  # sure, and worth nothing
        (Rival("untrained", 2, 0.95, -0.06, -0.04, 1.0), "untrained"),
        (Rival("character", 1, 0.89, 0.0, 0.02, 0.05), "character"),
    ],
)
def test_a_rival_that_is_not_surely_beaten_is_named(rival: Rival, expected_verdict: str) -> None:
    beaten = [Rival(kind, 8, 0.6, 0.2, 0.4, 0.002) for kind in ("context", "untrained")]
    evidence = Evidence((rival, *beaten), (0.8, 0.95), 1.0, 50)
    assert verdict(0.9, 0.6, 0.5, (0.5,), MIN_VERDICT_CHARS, evidence=evidence) == expected_verdict
    assert evidence.unbeaten(0.9) == rival
    without = replace(evidence, rivals=tuple(beaten))
    assert verdict(0.9, 0.6, 0.5, (0.5,), MIN_VERDICT_CHARS, evidence=without) == "remembers"
    assert (
        verdict(0.9, 0.6, 0.5, (0.5,), MIN_VERDICT_CHARS, evidence=replace(without, interval=None)) == "short"
    )
    assert (
        verdict(0.9, 0.6, 0.5, (0.5,), MIN_VERDICT_CHARS, evidence=replace(without, rivals=tuple(beaten[:1])))
        == "open"
    )


def test_stability_is_low_where_two_units_are_alike() -> None:
    random, mask = np.random.default_rng(5), Target("telegraph", telegraph(8000, 10, 5))
    noise = random.normal(size=(8000, 3))
    alike = noise + np.array([1.0, 1.0, 0.0]) * mask.values[:, None]
    apart = noise + np.array([1.0, 0.3, 0.0]) * mask.values[:, None]
    stable = []
    for states in (alike, apart):
        searcher = Searcher(states)
        evidence = add_evidence(searcher, searcher.search(mask), mask).evidence
        stable.append(evidence.stability)
    assert 0.2 < stable[0] < 0.99
    assert stable[1] == 1.0


def test_target_in_one_half_has_no_evidence() -> None:
    states = np.random.default_rng(6).normal(size=(400, 2))
    mask = Target("once", np.arange(400) == 30)
    searcher = Searcher(states)
    weighed = add_evidence(searcher, searcher.search(mask), mask, [states[:, 0]])
    assert weighed.evidence is None
    assert weighed.untrained == pytest.approx((ranking.score(states[:, 0], mask.values),))


def test_progress_stays_between_0_and_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnviz.networks.progress.REPORT_INTERVAL_S", 0.0)
    random, shares = np.random.default_rng(3), list[float]()
    states, target = random.normal(size=(600, 2)), Target("t", random.random(600) < 0.4)
    searcher = Searcher(states)
    searcher.ids = random.integers(0, 5, 600)
    weighed = add_evidence(
        searcher, searcher.search(target), target, progress=lambda share: shares.append(share.fraction)
    )
    assert weighed.evidence is not None
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1


LONG = quoted(22_000)


@cache
def alone(target_name: str) -> Search:
    """A target looked for by itself."""
    return units.find(built(), LONG, target_name, copies=1)


def assert_same(search: Search, other: Search) -> None:
    """The same unit, as sure. A text read anew may be rounded otherwise, which swaps two ranks."""
    found, same = search.best, other.best
    assert (found.unit, found.direction, found.p) == (same.unit, same.direction, same.p)
    assert (found.score, found.ranked_by) == pytest.approx((same.score, same.ranked_by), rel=1e-3)


@pytest.mark.slow
def test_find_takes_a_name_a_pattern_and_a_mask_alike() -> None:
    text, named = LONG, alone("quotes")
    assert (named.verdict, named.best.unit.unit) == ("remembers", LATCHES)
    read = rnnviz.trace(built(), text)
    for name, expected_verdict in (("quotes", "open"), ("capital", "character")):
        assert evidence.search(read, units.target(name, text)).verdict == expected_verdict
    mask = units.target("quotes", text).values
    assert_same(units.find(built(), text, mask, copies=1), named)
    assert alone("[A-Z]").verdict == "character"


@pytest.mark.slow
def test_find_holds_a_list_to_holms_levels() -> None:
    results = units.find(built(), LONG, ["quotes", "[A-Z]"], copies=1)
    singly = [alone("quotes"), alone("[A-Z]")]
    for search, same in zip(results, singly, strict=True):
        assert_same(search, same)
    assert [search.levels for search in results] == [search.levels for search in holm(singly)]
    assert [search.levels for search in results] != [search.levels for search in singly]
    assert isinstance(units.find(built(), LONG[:900], ["quotes"], copies=0), list)


@pytest.mark.slow
def test_a_target_is_looked_for_in_several_networks() -> None:
    (other,) = units.untrained(built(), 1)
    replication = units.find(built(), LONG, "quotes", models=[other], copies=1)
    singly = [alone("quotes"), units.find(other, LONG, "quotes", copies=1)]
    for search, same in zip(replication.searches, singly, strict=True):
        assert (search.best.unit, search.verdict) == (same.best.unit, same.verdict)
        assert search.best.score == pytest.approx(same.best.score, rel=1e-3)  # rounding may swap two ranks
    assert (replication.networks, replication.remember) == ((built().name, other.name), 1)
    assert replication.sentences()[0].code == "replication.some"
    assert len(units.find(built(), LONG[:900], "quotes", models=[], copies=0).searches) == 1

"""Searches on a network whose units are known, on noise, and against plain loops."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

import rnnviz
from rnnviz.lab.analysis import ranking
from rnnviz.lab.analysis.activations import Unit, activations
from rnnviz.lab.analysis.controls import echoes, untrained
from rnnviz.lab.analysis.evidence import search
from rnnviz.lab.analysis.searching import Searcher
from rnnviz.lab.analysis.targets import Target, span_target, target
from rnnviz.lab.engines import torch_model
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import KINDS, ModelConfig
from rnnviz.networks.verdicts import MIN_VERDICT_CHARS, verdict
from tests.support.built import COUNTS, IGNORES, LATCHES, VOCABULARY, built, quoted
from tests.support.closeness import assert_states
from tests.support.models import TEXT
from tests.support.torch_models import tiny_torch


@pytest.mark.parametrize(("name", "unit"), [("quotes", LATCHES), ("line-position", COUNTS)])
def test_the_unit_that_was_built_for_it_is_first_and_perfect(name: str, unit: int) -> None:
    text = quoted()
    result = search(rnnviz.trace(built(), text), target(name, text))
    assert (result.best.unit, result.best.direction, result.held_out) == (Unit(0, unit), 1, True)
    assert result.best.score == pytest.approx(1.0, abs=1e-12)
    assert result.chance < 0.9
    assert result.best in result.above_chance
    assert result.best.p < 0.01
    ignores = next(f for f in result.found if f.unit.unit == IGNORES)
    assert ignores.score == (0.5 if name == "quotes" else 0.0)
    assert ignores not in result.above_chance


def test_edges_ask_that_the_unit_be_off_beside_the_span() -> None:
    text = quoted()
    mask = target("quotes", text)
    late = np.roll(mask.values, 3).astype(np.float32)  # on when it should be, but three characters late
    exact = mask.values.astype(np.float32)
    long = np.convolve(exact, np.ones(9), "same") > 0  # on in the span and around it
    states = np.stack([late, long.astype(np.float32), exact * 0.5], axis=1)
    whole, near = search(states, mask), search(states, mask, edges=3)
    scores = {f.unit.unit: f.score for f in near.found}
    assert whole.best.unit.unit == near.best.unit.unit == 2
    assert scores[2] == 1.0
    assert scores[0] < next(f.score for f in whole.found if f.unit.unit == 0) - 0.1
    assert scores[1] == pytest.approx(0.5, abs=0.1)


def test_a_unit_that_is_off_where_the_target_holds_tells_as_well() -> None:
    mask = target("quotes", quoted())
    result = search(-mask.values[:, None].astype(np.float32), mask, edges=2)
    assert result.best.direction == -1
    assert result.best.score == 1.0


def test_noise_is_above_the_line_in_at_most_five_of_a_hundred_searches() -> None:
    random = np.random.default_rng(1)
    trials, T, U, false, lines = 200, 600, 12, 0, []
    noise = random.normal(size=(T, trials, U))
    for t in range(1, T):  # as slow as the states of a network are
        noise[t] += 0.9 * noise[t - 1]
    for trial in range(trials):
        mask = Target("noise", np.cumsum(random.random(T) < 0.05) % 2 == 1)
        result = search(noise[:, trial], mask, shifts=39, seed=trial)
        false += bool(result.above_chance)
        lines.append(result.chance)
    assert false <= 0.05 * trials
    assert 0.6 < np.mean(lines) < 0.9  # a line that nothing could pass would prove nothing


@pytest.mark.parametrize("ties", [False, True])
def test_auc_and_correlation_equal_other_libraries(ties: bool) -> None:
    random = np.random.default_rng(3)
    values = random.normal(size=(60, 3))
    mask = random.random(60) < 0.3
    graded = random.normal(size=60)
    if ties:
        values, graded = np.round(values), np.round(graded)
    ranked = ranking.ranks(values)
    for u in range(3):
        expected = roc_auc_score(mask, values[:, u])
        assert ranking.auc(ranked, mask)[u] == pytest.approx(expected, abs=1e-12)
        rank_correlation = ranking.correlation(ranked, ranking.ranks(graded))[u]
        assert rank_correlation == pytest.approx(spearmanr(values[:, u], graded).statistic, abs=1e-12)


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("shifts", [300, 40])
def test_chance_is_the_score_either_way_for_the_shifted_target(graded: bool, shifts: int) -> None:
    random = np.random.default_rng(2)
    values = random.normal(size=(600, 3))
    values[:, 1] += 2 * (aims := random.normal(size=600))
    aim = Target("aim", aims if graded else aims > 0)
    searcher = Searcher(values, seed=5)
    result, split = searcher.search(aim, shifts=shifts), searcher.split(aim)
    column, labels = values[split.second, result.best.unit.unit], aim.values[split.second]
    n = len(labels)
    by_shifts = range(n // 20, n - n // 20 + 1)
    if shifts < len(by_shifts):
        by_shifts = np.random.default_rng(5).choice(np.array(by_shifts), shifts, replace=False)
    score = (
        ranking.score
        if graded
        else (lambda column_values, mask: max(ranking.score(s * column_values, mask) for s in (1, -1)))
    )
    expected = sorted(abs(score(column, np.roll(labels, by))) for by in by_shifts)
    np.testing.assert_allclose(result.shifts, expected, atol=1e-6)
    assert result.best.p == pytest.approx(1 / (1 + len(expected)))


def test_search_for_one_span_is_not_held_out() -> None:
    text = quoted(400)
    traced = rnnviz.trace(built(), text)
    assert not search(traced, span_target([(30, 32)], text)).held_out
    assert search(traced, span_target([(30, 200)], text)).held_out
    twice = Target("twice", np.isin(np.arange(MIN_VERDICT_CHARS), (3, 9_999)))
    split = Searcher(np.zeros((MIN_VERDICT_CHARS, 1))).split(twice)
    assert split.blocks
    assert split.third is None


def test_a_text_too_short_for_a_line_has_one_that_nothing_passes() -> None:
    end = Target("end", np.arange(12) > 8)
    for shifts in (0, 200):
        result = search(np.arange(12.0)[:, None], end, shifts=shifts)
        assert (result.best.score, result.chance, result.above_chance) == (1.0, 1.0, ())


@pytest.mark.parametrize("cell", CELLS)
def test_any_layer_and_any_quantity(cell: str) -> None:
    traced, capital = rnnviz.trace(tiny_torch(cell, layers=2), TEXT), target("capital", TEXT)
    for quantity in KINDS[cell].quantities:
        both = activations(traced, quantity=quantity)
        assert both.shape == (len(TEXT), 24)
        assert_states(both[:, 12:], activations(traced, layer=1, quantity=quantity))
        result, single = (
            search(traced, capital, quantity=quantity, layer=layer).found for layer in (None, 1)
        )
        scores = {f.unit: f.score for f in result}
        assert {unit.layer for unit in scores} == {0, 1}
        assert {f.unit for f in single} == {Unit(1, u) for u in range(12)}
        assert all(scores[f.unit] == f.score for f in single)


def test_search_measures_what_the_character_alone_tells() -> None:
    text = quoted()
    traced = rnnviz.trace(built(), text)
    assert search(traced, target("capital", text)).character == pytest.approx(1.0)
    assert search(traced, target("quotes", text)).character == pytest.approx(0.5, abs=0.1)
    half = np.arange(len(text)) * 10 // len(text) % 2 == 0
    position = target("line-position", text).values
    rate = {c: position[[h and d == c for h, d in zip(half, text, strict=True)]].mean() for c in set(text)}
    rates = [rate[c] for c in np.array(list(text))[~half]]
    ranked = [ranking.ranks(np.array(v)[:, None])[:, 0] for v in (rates, position[~half])]
    character_score = search(traced, target("line-position", text)).character
    assert character_score == pytest.approx(np.corrcoef(ranked)[0, 1])
    assert search(traced.hidden[:, 0], target("capital", text)).character is None


@pytest.mark.parametrize("edges", [0, 3])
def test_untrained_copies_are_searched_by_the_same_procedure_on_the_same_parts(edges: int) -> None:
    text = quoted(4000)
    targets = [target("quotes", text), target("line-position", text), target("capital", text)]
    copy_traces = [rnnviz.trace(copy, text) for copy in untrained(built())]
    together = echoes(built(), text, targets, edges=edges)
    for one_target, columns in zip(targets, together, strict=True):
        near = 0 if one_target.graded else edges
        result = search(rnnviz.trace(built(), text), one_target, edges=near, shifts=0, untrained=copy_traces)
        expected = [search(copy, one_target, edges=near, shifts=0).best.score for copy in copy_traces]
        assert result.untrained == pytest.approx(expected)
        again = [search(column[:, None], one_target, edges=near, shifts=0).best for column in columns]
        assert [best.score for best in again] == pytest.approx(expected)
        assert {best.direction for best in again} == {1}
        assert len(set(expected)) == 3  # three different networks
    assert echoes(built(), text, targets[:1], copies=0) == [()]


@pytest.mark.parametrize("cell", CELLS)
def test_untrained_network_remembers_nothing(cell: str) -> None:
    """Random weights echo what was just read: that must not pass for memory."""
    text = quoted(MIN_VERDICT_CHARS)
    text = (text + quoted(2000, seed=1))[:MIN_VERDICT_CHARS]
    weights = ModelConfig(cell, VOCABULARY.size, hidden_size=24, embedding_size=12)
    network = torch_model.untrained(weights, VOCABULARY, seed=11)
    traced, copies = rnnviz.trace(network, text), [rnnviz.trace(copy, text) for copy in untrained(network)]
    searcher, verdicts = Searcher(traced), []
    for name in ("quotes", "line-position", "line-start", "word-start", "vowel", "capital"):
        one_target = target(name, text)
        beside = tuple(search(copy, one_target, shifts=0).best.score for copy in copies)
        verdicts.append(replace(searcher.search(one_target, shifts=39), untrained=beside).verdict)
    assert "remembers" not in verdicts
    assert "short" not in verdicts


@pytest.mark.parametrize(
    ("score", "chance", "character", "copies", "expected_verdict"),
    [
        (0.90, 0.90, 0.5, (0.5,), "nothing"),
        (0.90, 0.89, 0.5, (0.5,), "chance"),
        (0.90, 0.60, 0.881, (0.5,), "character"),
        (0.90, 0.60, 0.879, (0.5,), "open"),
        (0.90, 0.60, 0.5, (0.5, 0.881, 0.7), "untrained"),
        (0.90, 0.60, 0.5, (0.5, 0.879, 0.7), "open"),
        (0.90, 0.60, 0.5, (), "open"),
        (0.90, 0.60, None, (0.5,), "open"),
    ],
)
def test_verdict_names_what_scores_as_high(
    score: float, chance: float, character: float | None, copies: tuple[float, ...], expected_verdict: str
) -> None:
    assert verdict(score, chance, character, copies, MIN_VERDICT_CHARS) == expected_verdict
    assert verdict(score, chance, character, copies, MIN_VERDICT_CHARS - 1) == "short"
    assert verdict(score, chance, character, copies, MIN_VERDICT_CHARS, held_out=False) == "same text"


def test_a_unit_that_passes_only_where_it_is_measured_is_no_find() -> None:
    """It would be chosen by the text that measures it."""
    random, T = np.random.default_rng(6), MIN_VERDICT_CHARS
    mask = np.cumsum(random.random(T) < 0.05) % 2 == 1
    part = np.arange(T) * 15 // T % 3
    states = random.normal(size=(T, 2))
    states[:, 0] += 4 * mask * np.where(part == 1, -1.0, 1.0)  # ranks first, and turns round where measured
    states[:, 1] += np.where(part == 1, mask, 0.0)
    result = search(states, Target("telegraph", mask))
    assert result.best.unit.unit == 0
    assert result.best.ranked_by > 0.99 > 0.01 > result.best.score
    assert result.above_chance == ()
    assert result.verdict == "nothing"

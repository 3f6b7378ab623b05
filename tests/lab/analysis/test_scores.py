"""Scores and what each character adds to them, against texts really cut and drawn anew; their intervals."""

from dataclasses import replace

import numpy as np
import pytest

from rnnviz.lab.analysis.evidence import MIN_RUNS, SeriesScores, count_runs
from rnnviz.scoring.interval import OCTAVE_COUNT
from tests.support.built import telegraph


def walk(length: int, seed: int, keep: float = 0.9) -> np.ndarray:
    state = np.random.default_rng(seed).normal(size=length)
    for t in range(1, length):
        state[t] += keep * state[t - 1]
    return state


@pytest.mark.slow
@pytest.mark.parametrize("graded", [False, True])
def test_an_interval_holds_the_truth_where_characters_taken_singly_would_not(graded: bool) -> None:
    """The share of 100 texts whose interval holds the score of all texts together: that of a guess."""
    covered, single, leads, guess = 0, 0, 0, 0.0 if graded else 0.5
    for seed in range(100):
        target = walk(4000, 2000 + seed) if graded else telegraph(4000, 20, seed)
        scores = SeriesScores.from_series(
            np.stack([walk(4000, seed), walk(4000, 1000 + seed)], axis=1), target
        )
        low, high = scores.interval()
        covered += low <= guess <= high
        single += abs(scores.values[0] - guess) <= 1.96 * scores.parts[:, 0].std() / np.sqrt(4000)
        rival = scores.rival(1, "untrained", 0)
        assert (rival.low > 0) == (rival.p < 0.05 and scores.values[0] > scores.values[1])
        leads += rival.low > 0
    assert covered >= 90
    assert single < 70
    assert leads <= 5


def test_a_lead_is_the_difference_of_the_scores_and_a_sure_one_has_a_small_p() -> None:
    target = telegraph(8000, 20, 0)
    noise = np.random.default_rng(0).normal(size=(8000, 2))
    scores = SeriesScores.from_series(noise + np.array([2.0, 0.5]) * target[:, None], target)
    rival = scores.rival(1, "context", 4)
    assert (rival.kind, rival.number, rival.score) == ("context", 4, scores.values[1])
    assert 0 < rival.low < scores.values[0] - scores.values[1] < rival.high
    assert rival.p < 0.001
    unsure = replace(scores, has_intervals=False).rival(1, "context", 4)
    assert (unsure.low, unsure.high, unsure.p) == (None, None, 1.0)
    turned = SeriesScores.from_series(noise + np.array([0.5, 2.0]) * target[:, None], target).rival(
        1, "context", 4
    )
    assert turned.p == 1.0


def test_a_target_that_seldom_changes_has_no_interval() -> None:
    noise = np.random.default_rng(0).normal(size=(2000, 1))
    often = np.arange(2000) // 100 % 2 == 1
    assert count_runs(often) == MIN_RUNS
    assert SeriesScores.from_series(noise, often).has_intervals
    assert not SeriesScores.from_series(noise, np.arange(2000) // 200 % 2 == 1).has_intervals
    assert not SeriesScores.from_series(
        noise[:100], np.arange(100) % 2 == 1
    ).has_intervals  # too few characters for passages


def test_a_perfect_score_is_certain_and_no_interval_leaves_the_scale() -> None:
    target = telegraph(4000, 20, 3)
    perfect, good = target.astype(float), target + 0.4 * np.random.default_rng(0).normal(size=4000)
    scores = SeriesScores.from_series(np.stack([perfect, good], axis=1), target)
    assert scores.interval() == (1.0, 1.0)
    assert scores.interval(1)[1] <= 1.0
    slow = np.linspace(0, 9, 2 << OCTAVE_COUNT) ** 2
    opposite = SeriesScores.from_series(
        -slow[:, None] * (1 + np.arange(2 << OCTAVE_COUNT)[:, None] % 2), slow
    )
    assert -1.0 == opposite.interval()[0] < opposite.values[0]

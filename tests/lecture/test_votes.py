"""A class's votes as a distribution, and what it costs."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.lecture import shannon, votes

counts = st.lists(st.integers(0, 1000), min_size=27, max_size=27)


@given(counts)
def test_the_distribution_is_the_smoothed_share_in_exact_fractions(votes_for: list[int]) -> None:
    found = votes.distribution(votes_for)
    total = 27 * (sum(votes_for) + 1)
    exact = [float(Fraction(27 * n + 1, total)) for n in votes_for]
    assert found.tolist() == pytest.approx(exact, rel=1e-12)
    assert found.sum() == pytest.approx(1)
    assert (found > 0).all()


@given(counts, st.integers(0, 26))
def test_another_vote_makes_its_letter_likelier_and_every_other_less_likely(
    votes_for: list[int], letter: int
) -> None:
    before = votes.distribution(votes_for)
    votes_for[letter] += 1
    change = votes.distribution(votes_for) - before
    assert change[letter] > 0
    assert (np.delete(change, letter) < 0).all()


def test_a_class_that_never_votes_pays_for_a_uniform_guess() -> None:
    none = {n: [0] * 27 for n in range(10)}
    assert votes.guessed(0, none).mean == pytest.approx(shannon.UNIFORM_BITS)
    assert votes.guessed(0, {}).mean is None


def test_the_cross_entropy_on_paper() -> None:
    # "has lost …": three of four vote h, then one of two votes a, the other x.
    first, second = [0] * 27, [0] * 27
    first[shannon.ALPHABET.index("h")], first[shannon.ALPHABET.index("t")] = 3, 1
    second[shannon.ALPHABET.index("a")] = second[shannon.ALPHABET.index("x")] = 1
    found = votes.guessed(0, {1: second, 0: first})
    on_paper = [-math.log2((3 + 1 / 27) / 5), -math.log2((1 + 1 / 27) / 3)]
    assert found.positions == (0, 1)
    assert found.bits == pytest.approx(on_paper)
    assert found.mean == pytest.approx(sum(on_paper) / 2)


def test_a_class_that_is_sure_of_the_wrong_letter_pays_more_than_a_uniform_guess() -> None:
    wrong = [0] * 27
    wrong[shannon.ALPHABET.index("z")] = 200
    assert votes.guessed(0, {0: wrong}).mean == pytest.approx(math.log2(27 * 201))
    assert votes.guessed(0, {0: wrong}).mean > shannon.UNIFORM_BITS


@given(counts, st.integers(0, len(shannon.SENTENCES) - 1), st.integers(0, 30))
def test_votes_as_guesses_find_the_letter_at_the_rank_that_its_votes_have(
    votes_for: list[int], sentence: int, at: int
) -> None:
    truth = shannon.SENTENCES[sentence][1]
    moves = votes.as_guesses(sentence, at, votes_for)
    game = shannon.play(sentence, truth[:at] + moves)
    right = votes_for[shannon.ALPHABET.index(truth[at])]
    assert len(game.ranks) == at + 1
    assert game.ranks[-1] == (1 + sum(n > right for n in votes_for) if right else 27)

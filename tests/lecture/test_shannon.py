"""Shannon's game: bounds on distributions whose entropy is known, and a game played by hand."""

import math

import numpy as np
import pytest

from rnnviz.lecture import shannon
from rnnviz.networks.ngram import NgramModel


def test_bounds_of_a_known_distribution() -> None:
    q = [0.5, 0.25, 0.125, 0.125]
    found = shannon.bounds_of(q)
    assert found.upper == pytest.approx(1.75)  # the entropy itself: 1/2 + 2/4 + 3/8 + 3/8
    # 1·(1/4)·0 + 2·(1/8)·1 + 3·0·log2 3 + 4·(1/8)·2
    assert found.lower == pytest.approx(1.25)
    for size in (1, 2, 8, 27):  # equally likely symbols leave no room between the bounds
        found = shannon.bounds_of(np.full(size, 1 / size))
        assert (found.lower, found.upper) == pytest.approx((math.log2(size), math.log2(size)), abs=1e-12)


def test_always_right_is_no_uncertainty() -> None:
    assert shannon.bounds([1] * 20) == shannon.Bounds(0.0, 0.0, 20)


def test_the_bounds_hold_an_ideal_players_entropy() -> None:
    """Contexts with distributions of their own: the player knows them, and the entropy is their mean's."""
    generator = np.random.default_rng(0)
    for _ in range(50):
        contexts = np.sort(generator.dirichlet(np.full(27, 0.2), size=30), axis=1)[:, ::-1]
        entropy = float(-(contexts * np.log2(np.maximum(contexts, 1e-300))).sum(axis=1).mean())
        found = shannon.bounds_of(contexts.mean(axis=0))
        assert found.lower <= entropy + 1e-9
        assert entropy <= found.upper + 1e-9


def test_a_game_by_hand() -> None:
    given, hidden = shannon.SENTENCES[0]
    assert hidden.startswith("has")
    assert shannon.play(0, "") == shannon.Game(given, (), "", len(hidden))
    game = shannon.play(0, "th")
    assert (game.shown, game.ranks, game.tried) == (given + "h", (2,), "")
    assert shannon.play(0, "tteH").ranks == (3,), "a repeated guess doesn't count, nor does its case"
    assert shannon.play(0, "1!thxya").ranks == (2, 3), "what is not in the alphabet is no guess"
    assert shannon.play(0, "xy?").ranks == (27,), "giving up counts as having tried everything"
    over = shannon.play(0, hidden + "abc")
    assert over.left == 0
    assert over.shown == given + hidden
    assert set(over.ranks) == {1}


def test_sentences_are_in_shannons_alphabet() -> None:
    assert {c for sentence in shannon.SENTENCES for part in sentence for c in part} <= set(shannon.ALPHABET)


def test_a_model_plays_by_its_ranks() -> None:
    _, hidden = shannon.SENTENCES[0]
    text = " ".join(given + hidden for given, hidden in shannon.SENTENCES) + shannon.ALPHABET * 2
    model = NgramModel.fit(text, order=4, name="reader")
    rows = shannon.probabilities(model, 0)
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    played = shannon.played(rows, 0, 10)
    truth = [shannon.ALPHABET.index(c) for c in hidden[:10]]
    assert played.bits == pytest.approx(-np.log2(rows[range(10), truth]).mean())
    assert played.ranks[0] == 1 + sum(rows[0] > rows[0, truth[0]])
    assert played.bounds.characters == 10


def test_the_interval_holds_the_entropy_of_an_ideal_players_source() -> None:
    generator = np.random.default_rng(1)
    inside = []
    for trial in range(60):
        contexts = np.sort(generator.dirichlet(np.full(27, 0.2), size=30), axis=1)[:, ::-1]
        entropy = float(-(contexts * np.log2(np.maximum(contexts, 1e-300))).sum(axis=1).mean())
        rows = contexts[generator.integers(30, size=55)]
        ranks = [int(generator.choice(27, p=row)) + 1 for row in rows]
        low, high = shannon.interval(ranks, trial)
        found = shannon.bounds(ranks)
        assert low <= found.lower <= found.upper <= high or found.upper > shannon.UNIFORM_BITS
        inside.append(low <= entropy <= high)
    assert np.mean(inside) >= 0.9
    assert shannon.interval([1, 2, 1]) == shannon.interval([1, 2, 1])


@pytest.mark.parametrize("letters", [20, 29, 53])
def test_letters_that_were_all_found_at_once_leave_room_for_an_entropy(letters: int) -> None:
    low, high = shannon.interval([1] * letters)
    assert low == 0
    rest = 1 - 0.05 ** (1 / letters)  # so often would one miss none in so many letters only once in twenty
    assert (1 - rest) ** letters == pytest.approx(0.05)
    assert high == pytest.approx(-(1 - rest) * math.log2(1 - rest) - rest * math.log2(rest / 26))

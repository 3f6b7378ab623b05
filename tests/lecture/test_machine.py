"""The word's small network: what it keeps for the way back, and what its predictions rest on."""

import numpy as np

from rnnviz.lecture.machine import SYMBOLS, Machine


def test_what_is_cached_is_all_that_the_way_back_reads() -> None:
    for steps in (1, 3, 6):
        word = Machine(steps=steps)
        net, kept = word.net, word.cached()
        errors = (kept["P"] - np.eye(7)[word.targets]) / steps
        after, delta, W_hh = np.zeros(4), np.zeros((steps, 4)), np.zeros((4, 4))
        for t in reversed(range(steps)):
            delta[t] = (errors[t] @ net.W_hq.T + after) * kept["slope"][t]
            after = delta[t] @ net.W_hh.T
            W_hh += np.outer(kept["H"][t - 1], delta[t]) if t else 0
        found = word.gradients()
        np.testing.assert_allclose(W_hh, found["W_hh"], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(kept["X"].T @ delta, found["W_xh"], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(kept["H"].T @ errors, found["W_hq"], rtol=1e-9, atol=1e-12)
        assert sum(array.size for array in kept.values()) == steps * (7 + 4 + 4 + 7)


def test_it_reads_other_words_of_the_same_letters() -> None:
    word = Machine(text="cinema")
    assert (word.inputs, word.labels, word.steps) == ("cinem", "inema", 5)
    assert [SYMBOLS[i] for i in word.ids] == list("cinem")


def test_what_a_step_predicts_rests_on_the_characters_up_to_it_and_on_no_later_one() -> None:
    usual = Machine().forward
    for place in range(len("machine")):
        for letter in set(SYMBOLS) - {"machine"[place]}:
            there = Machine(text="machine"[:place] + letter + "machine"[place + 1 :]).forward
            np.testing.assert_array_equal(there.output[:place], usual.output[:place])
            if place < 6:
                moved = np.abs(there.output[place:] - usual.output[place:]).max(axis=1)
                assert moved.min() > 0.005, "at every step from the changed one on, in two decimals"
            if place:
                assert there.losses[place - 1] != usual.losses[place - 1], "its label is another"
            np.testing.assert_array_equal(
                there.losses[: max(place - 1, 0)], usual.losses[: max(place - 1, 0)]
            )

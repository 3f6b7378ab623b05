"""The word's small network: what it keeps for the way back, and what its predictions rest on."""

import numpy as np

from rnnviz.lecture.machine import SYMBOLS, Machine


def test_cache_suffices_for_backward_pass() -> None:
    for steps in (1, 3, 6):
        word = Machine(steps=steps)
        net, cached = word.net, word.cached()
        errors = (cached["P"] - np.eye(7)[word.targets]) / steps
        after, delta, W_hh = np.zeros(4), np.zeros((steps, 4)), np.zeros((4, 4))
        for t in reversed(range(steps)):
            delta[t] = (errors[t] @ net.W_hq.T + after) * cached["slope"][t]
            after = delta[t] @ net.W_hh.T
            W_hh += np.outer(cached["H"][t - 1], delta[t]) if t else 0
        gradients = word.gradients()
        np.testing.assert_allclose(W_hh, gradients["W_hh"], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(cached["X"].T @ delta, gradients["W_xh"], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(cached["H"].T @ errors, gradients["W_hq"], rtol=1e-9, atol=1e-12)
        assert sum(array.size for array in cached.values()) == steps * (7 + 4 + 4 + 7)


def test_machine_reads_other_words_of_its_letters() -> None:
    word = Machine(text="cinema")
    assert (word.inputs, word.labels, word.steps) == ("cinem", "inema", 5)
    assert [SYMBOLS[i] for i in word.ids] == list("cinem")


def test_prediction_depends_on_no_later_character() -> None:
    usual = Machine().forward
    for place in range(len("machine")):
        for letter in set(SYMBOLS) - {"machine"[place]}:
            forward = Machine(text="machine"[:place] + letter + "machine"[place + 1 :]).forward
            np.testing.assert_array_equal(forward.output[:place], usual.output[:place])
            if place < 6:
                moved = np.abs(forward.output[place:] - usual.output[place:]).max(axis=1)
                assert moved.min() > 0.005, "at every step from the changed one on, in two decimals"
            if place:
                assert forward.losses[place - 1] != usual.losses[place - 1], "its label is another"
            np.testing.assert_array_equal(
                forward.losses[: max(place - 1, 0)], usual.losses[: max(place - 1, 0)]
            )

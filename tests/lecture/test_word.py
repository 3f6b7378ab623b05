"""A word's own network: the textbook's inputs and labels, the project's own training, and perplexity 1 at its end."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rnnviz.errors import ConfigError
from rnnviz.lecture import word
from rnnviz.sampling import sample
from rnnviz.trace import trace


def test_labels_are_the_inputs_shifted_by_one() -> None:
    run = word.WordRun("machine", steps=1)
    assert run.inputs == ("<s>", "m", "a", "c", "h", "i", "n")
    assert run.labels == tuple("machine")
    assert run.inputs[1:] == run.labels[:-1]
    assert [run.symbols[i] for i in run.targets] == list("machine")


@pytest.mark.parametrize("text", ["machine", "banana"])
def test_it_learns_its_word_by_heart_and_writes_it(text: str) -> None:
    run = word.WordRun(text)
    first, last = run.at(0), run.at(run.steps)
    assert last.perplexity < 1.05 < first.perplexity
    assert last.written == text
    assert abs(first.perplexity / len(run.symbols) - 1) < 0.5, "an untrained network guesses nearly blindly"


def test_softmax_loss_and_perplexity_belong_together() -> None:
    seen = word.WordRun("machine", steps=4).at(3)
    odds = np.exp(seen.logits)
    np.testing.assert_allclose(seen.probabilities, odds / odds.sum(axis=1, keepdims=True), rtol=1e-12)
    targets = word.WordRun("machine", steps=1).targets
    np.testing.assert_allclose(seen.losses, -np.log(seen.probabilities[np.arange(7), targets]), rtol=1e-12)
    assert seen.perplexity == math.exp(seen.losses.mean())


def test_it_is_what_the_packages_own_functions_say() -> None:
    """Each step is one of Trainer's, and the forward pass written out here is that of rnnviz.trace."""
    run, other = word.WordRun("machine", 3), word.trainer("machine", 3)
    for step in range(1, 9):
        loss, _, read = other.step()
        assert read == 7
        assert float(loss) == pytest.approx(run.at(step - 1).losses.mean(), rel=1e-5)
    seen, model = run.at(8), other.model
    np.testing.assert_allclose(trace(model, "machine").nll, seen.losses, rtol=1e-5)
    np.testing.assert_allclose(trace(model, "machine").hidden[:-1, 0], seen.hidden[1:], atol=1e-6)
    assert sample(model, "", 7, temperature=0) == seen.written


def test_the_same_word_and_seed_give_the_same_numbers_in_any_order() -> None:
    one, other = word.WordRun("hello", 1), word.WordRun("hello", 1)
    late = other.at(20)
    early = other.at(3)
    assert [one.at(n).perplexity for n in (3, 20)] == [early.perplexity, late.perplexity]
    assert word.WordRun("hello", 2).at(3).perplexity != early.perplexity


@pytest.mark.parametrize("text", ["", "a", "a" * (word.LONGEST + 1)])
def test_a_word_that_does_not_fit_is_refused_by_its_length(text: str) -> None:
    with pytest.raises(ConfigError, match=str(len(text))):
        word.WordRun(text)


def test_a_step_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="steps 0 to 2"):
        word.WordRun("ab", steps=2).at(3)

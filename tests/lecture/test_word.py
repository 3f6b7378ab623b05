"""A word's network: the textbook's inputs and labels, the project's training, perplexity 1 at its end."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from rnnviz.errors import ConfigError
from rnnviz.lecture import word
from rnnviz.networks.config import TrainConfig
from rnnviz.reading.sampling import sample
from rnnviz.reading.trace import trace
from rnnviz.text import corpora
from rnnviz.training.batches import RegularCuts
from rnnviz.training.trainer import Trainer


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
    run = word.WordRun("machine", steps=4)
    seen = run.at(3)
    odds = np.exp(seen.hidden @ run.parameters["W_hq"] + run.parameters["b_q"])
    np.testing.assert_allclose(seen.probabilities, odds / odds.sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(seen.losses, -np.log(seen.probabilities[range(7), run.targets]), rtol=1e-12)
    assert seen.perplexity == math.exp(seen.losses.mean())


def trainer(run: word.WordRun) -> Trainer:
    """The project's own trainer, on the same word, from the same weights; every step reads the whole word."""
    config = TrainConfig(
        cell="rnn",
        hidden_size=word.HIDDEN,
        embedding_size=0,
        epochs=run.steps,
        batch=1,
        steps=len(run.word),
        learning_rate=word.LEARNING_RATE,
        weight_decay=0.0,
        clip=word.CLIP,
        min_count=1,
        precision="float32",
    )
    found = Trainer(config, corpora.from_text(run.word), device="cpu")
    # An epoch may begin a little later than the text, to vary what long streams see; a word may not.
    found.streams.slack, found.streams.length, found.streams.chunks = 0, len(run.word), 1
    found.cuts = RegularCuts(len(run.word), len(run.word), epochs=run.steps, places=0)
    found.total_steps = run.steps
    own = run.parameters
    weights = {
        "recurrence.weight_ih_l0": own["W_xh"].T,
        "recurrence.weight_hh_l0": own["W_hh"].T,
        "recurrence.bias_ih_l0": own["b_x"],
        "recurrence.bias_hh_l0": own["b_h"],
        "readout.weight": own["W_hq"].T,
        "readout.bias": own["b_q"],
    }
    found.model.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})
    return found


@pytest.mark.parametrize("text", ["machine", "mississippi"])
def test_it_is_the_packages_own_training(text: str) -> None:
    """The same losses and gradients' norms at every step; then the same states, predictions and writing."""
    run = word.WordRun(text, 3)
    other = trainer(run)
    for step in range(30):
        losses = run.at(step).losses
        norm = math.sqrt(sum(float((g**2).sum()) for g in run.gradients().values()))
        loss, own_norm, read = other.step()
        assert read == len(text)
        assert float(loss) == pytest.approx(losses.mean(), rel=1e-4)
        assert float(own_norm) == pytest.approx(norm, rel=1e-3)
    seen, model = run.at(30), other.model
    np.testing.assert_allclose(trace(model, text).nll, seen.losses, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(trace(model, text).hidden[:-1, 0], seen.hidden[1:], atol=1e-4)
    assert sample(model, "", len(text), temperature=0) == seen.written


def test_the_same_word_and_seed_give_the_same_numbers_in_any_order() -> None:
    one, other = word.WordRun("hello", 1), word.WordRun("hello", 1)
    late = other.at(20)
    early = other.at(3)
    assert [one.at(n).perplexity for n in (3, 20)] == [early.perplexity, late.perplexity]
    assert word.WordRun("hello", 2).at(3).perplexity != early.perplexity


def test_a_word_or_step_out_of_range_is_refused() -> None:
    for text in ("", "a", "a" * (word.LONGEST + 1)):
        with pytest.raises(ConfigError, match=str(len(text))):
            word.WordRun(text)
    with pytest.raises(ConfigError, match="steps 0 to 2"):
        word.WordRun("ab", steps=2).at(3)

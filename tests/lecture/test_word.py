"""A word's network: the textbook's inputs and labels, torch's training, perplexity 1 at its end."""

import math

import numpy as np
import pytest
import torch

from rnnviz.lecture import word
from rnnviz.lecture.machine import NAMES, Machine


def test_untrained_it_is_the_machine_of_the_other_scenes() -> None:
    for seed in (2, 7):
        there, seen = Machine(seed).forward, word.WordRun("machine", seed).at(0)
        np.testing.assert_array_equal(seen.hidden, there.state)
        np.testing.assert_array_equal(seen.losses, there.losses)
        np.testing.assert_array_equal(seen.probabilities, there.probabilities)
        assert seen.perplexity == pytest.approx(there.perplexity)


@pytest.mark.parametrize("text", ["machine", "banana"])
def test_it_learns_its_word_by_heart_and_writes_it(text: str) -> None:
    run = word.WordRun(text)
    first, last = run.at(0), run.at(run.steps)
    assert last.perplexity < 1.05 < first.perplexity
    assert last.written == text != first.written


@pytest.mark.parametrize("seed", [2, *range(500, 505)])
def test_four_units_learn_the_word_from_any_weights(seed: int) -> None:
    run = word.WordRun("machine", seed)
    last = run.at(run.steps)
    assert last.written == "machine"
    assert last.perplexity < 1.2


@pytest.mark.parametrize("text", ["machine", "mississippi"])
def test_it_is_torchs_training(text: str) -> None:
    """nn.RNN, autograd, clip_grad_norm_ and AdamW from the same weights: the same numbers at every step."""
    run = word.WordRun(text, 3)
    V = len(run.symbols)
    recurrent = torch.nn.RNN(V, 4, batch_first=True, dtype=torch.float64)
    readout = torch.nn.Linear(4, V, dtype=torch.float64)
    recurrent.bias_hh_l0.requires_grad_(False)
    with torch.no_grad():
        own = {name: torch.tensor(getattr(run.net, name)) for name in NAMES}
        for parameter, value in [
            (recurrent.weight_ih_l0, own["W_xh"].T),
            (recurrent.weight_hh_l0, own["W_hh"].T),
            (recurrent.bias_ih_l0, own["b_h"]),
            (recurrent.bias_hh_l0, torch.zeros(4)),
            (readout.weight, own["W_hq"].T),
            (readout.bias, own["b_q"]),
        ]:
            parameter.copy_(value)
    parameters = [p for p in (*recurrent.parameters(), *readout.parameters()) if p.requires_grad]
    engine = torch.optim.AdamW(
        parameters, lr=word.LEARNING_RATE, betas=word.BETAS, eps=word.EPSILON, weight_decay=0.0
    )
    x = torch.eye(V, dtype=torch.float64)[[run.symbols.index(c) for c in text[:-1]]][None]
    labels = torch.tensor([run.symbols.index(c) for c in text[1:]])
    for step in range(31):
        seen = run.at(step)
        states = recurrent(x)[0][0]
        losses = torch.nn.functional.cross_entropy(readout(states), labels, reduction="none")
        np.testing.assert_allclose(seen.losses, losses.detach().numpy(), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(seen.hidden, states.detach().numpy(), rtol=1e-6, atol=1e-9)
        engine.zero_grad()
        losses.mean().backward()
        norm = math.sqrt(sum(float((g**2).sum()) for g in run.gradients().values()))
        assert float(torch.nn.utils.clip_grad_norm_(parameters, word.CLIP)) == pytest.approx(norm, rel=1e-6)
        engine.param_groups[0]["lr"] = word.learning_rate(step, run.steps)
        engine.step()
    symbol, state, written = x[0, :1], None, text[0]
    run = word.WordRun(text, 3)
    for _ in text[1:]:
        state, best = write(recurrent, readout, symbol, state)
        written += run.symbols[best]
        symbol = torch.eye(V, dtype=torch.float64)[best : best + 1]
    assert run.at(31).written == written


def write(
    recurrent: torch.nn.RNN, readout: torch.nn.Linear, symbol: torch.Tensor, state: torch.Tensor | None
) -> tuple[torch.Tensor, int]:
    """A step of writing: the state after `symbol`, and the most probable next one."""
    output, after = recurrent(symbol[None], state)
    return after, int(readout(output[0, -1]).argmax())


def test_the_same_word_and_seed_give_the_same_numbers_in_any_order() -> None:
    one, other = word.WordRun("hello", 1), word.WordRun("hello", 1)
    late = other.at(20)
    early = other.at(3)
    assert [one.at(n).perplexity for n in (3, 20)] == [early.perplexity, late.perplexity]
    assert word.WordRun("hello", 2).at(3).perplexity != early.perplexity

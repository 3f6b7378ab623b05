"""Gates that look at the input alone: held against torch, plain loops, and against what should differ."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from rnnviz.lecture import linear
from rnnviz.lecture.linear import CELLS, Cell, Parameters, Read
from rnnviz.networks.torch_engine import scan

WORDS = ("remember", "mississippi", "banana", "tea", "aaaa", "时间时间机")
BOTH = pytest.mark.parametrize("cell", CELLS)


def run(cell: Cell, word: str, **trained: int) -> Read:
    """A network that read its word."""
    return linear.read(*linear.network(cell, word, **trained))


def loss(
    cell: Cell, p: dict[str, torch.Tensor], word: str
) -> tuple[torch.Tensor, list[dict[str, torch.Tensor]]]:
    """The mean loss, and each step's parts, by the formulas at the head of `rnnviz.lecture.linear`."""
    symbols, ids, targets = linear.spelled(word)
    h, steps = torch.zeros(1, 4, dtype=torch.float64), []
    for x in torch.eye(len(symbols), dtype=torch.float64)[ids][:, None]:
        z, a = x @ p["W_xz"] + p["b_z"], x @ p["W_xh"] + p["b_h"]
        if cell == "gru":
            z, r = z + h @ p["W_hz"], torch.sigmoid(x @ p["W_xr"] + h @ p["W_hr"] + p["b_r"])
            candidate = torch.tanh(a + (r * h) @ p["W_hh"])
        else:
            candidate = torch.where(a >= 0, a + 0.5, torch.sigmoid(a))
        z = torch.sigmoid(z)
        h = z * h + (1 - z) * candidate
        steps.append({"update": z, "candidate": candidate, "state": h})
    scores = torch.cat([step["state"] for step in steps]) @ p["W_hq"] + p["b_q"]
    return torch.nn.functional.cross_entropy(scores, torch.tensor(targets)), steps


def tensors(p: Parameters) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(values, requires_grad=True) for name, values in p.items()}


@BOTH
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("steps", [0, 100])
def test_every_part_is_the_textbook_s(cell: Cell, word: str, steps: int) -> None:
    _, p, ids = linear.network(cell, word, steps=steps)
    seen, (mean, parts) = linear.read(cell, p, ids), loss(cell, tensors(p), word)
    for own, name in ((seen.keep, "update"), (seen.candidate, "candidate"), (seen.state, "state")):
        theirs = torch.cat([step[name] for step in parts]).detach().numpy()
        np.testing.assert_allclose(own, theirs, atol=1e-12)
    np.testing.assert_array_equal(seen.before, np.vstack([np.zeros(4), seen.state[:-1]]))
    assert seen.perplexity(linear.spelled(word)[2]) == pytest.approx(math.exp(mean.item()))


@BOTH
@pytest.mark.parametrize("word", WORDS)
def test_gradients_are_torchs(cell: Cell, word: str) -> None:
    symbols, ids, targets = linear.spelled(word)
    p = linear.drawn(cell, len(symbols), 5)
    theirs = tensors(p)
    loss(cell, theirs, word)[0].backward()
    for name, own in linear.gradients(cell, p, ids, targets).items():
        np.testing.assert_allclose(own, theirs[name].grad, atol=1e-12, err_msg=name)


@BOTH
def test_it_learns_its_word_and_begins_with_what_the_other_begins_with(cell: Cell) -> None:
    targets = linear.spelled("remember")[2]
    assert (
        run(cell, "remember").perplexity(targets) < 1.05 < run(cell, "remember", steps=0).perplexity(targets)
    )
    both = [linear.drawn(one, 4) for one in CELLS]
    assert all((both[0][name] == both[1][name]).all() for name in both[0])
    for values in linear.network(cell, "remember")[1].values():
        np.testing.assert_array_equal(values, np.round(values, 2))


@pytest.mark.parametrize("steps", [0, 100])
@pytest.mark.parametrize("word", WORDS)
def test_one_letter_keeps_and_writes_alike_at_all_its_places_where_no_gate_looks_at_the_state(
    word: str, steps: int
) -> None:
    """To the last bit, trained or not. Another letter doesn't, and neither does a GRU's."""
    blind, whole = run("mingru", word, steps=steps), run("gru", word, steps=steps)
    for t, one in enumerate(word[:-1]):
        for s, other in enumerate(word[:t]):
            alike = bool((blind.keep[t] == blind.keep[s]).all() and (blind.write[t] == blind.write[s]).all())
            assert alike == (one == other)
            assert (whole.keep[t] != whole.keep[s]).any(), "a GRU's depend on the state"
            assert (blind.state[t] != blind.state[s]).any(), "the states tell the places apart"


@pytest.mark.parametrize("T", [1, 2, 3, 4, 5, 7, 8, 9, 16, 31])
def test_rounds_come_to_what_a_loop_comes_to(T: int) -> None:
    keep, write = np.random.default_rng(T).random((2, T, 3))
    found = linear.rounds(keep, write)
    assert len(found) - 1 == math.ceil(math.log2(T))
    state, states = np.zeros(3), []
    for a, b in zip(keep, write, strict=True):
        state = a * state + b
        states.append(state)
    np.testing.assert_allclose(found[-1][1], states, rtol=1e-12)
    scanned = scan(
        torch.tensor(keep)[None], torch.tensor(write)[None], torch.zeros(1, 3, dtype=torch.float64)
    )
    np.testing.assert_allclose(found[-1][1], scanned[0], rtol=1e-12)
    for n, ((before, _), (after, _)) in enumerate(pairwise(found)):
        np.testing.assert_array_equal(after[: 2**n], before[: 2**n], "these were done")


@pytest.mark.parametrize("word", WORDS)
def test_shares_are_what_a_state_loses_without_a_character(word: str) -> None:
    seen = run("mingru", word)
    for t in range(1, len(word)):
        without = []
        for s in range(t):
            state = np.zeros(4)
            for n in range(t):
                state = seen.keep[n] * state + (seen.write[n] if n != s else 0)
            without.append(np.abs(seen.state[t - 1] - state).sum())
        np.testing.assert_allclose(seen.shares(t), np.divide(without, sum(without)), atol=1e-12)

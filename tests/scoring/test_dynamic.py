"""Dynamic evaluation: what a plain loop makes of it, and that nothing but what came before decides a cost."""

import copy
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import ModelConfig
from rnnviz.networks.torch_model import CharModel
from rnnviz.scoring.compression import compress, decompress
from rnnviz.scoring.dynamic import EVEN, DynamicModel, dynamic
from rnnviz.scoring.perplexity import perplexity
from rnnviz.text.vocabulary import Vocabulary
from tests import needs
from tests.conftest import TEXT, tiny

SETTINGS: dict[str, Any] = {"every": 16, "rate": 0.01, "decay": 0.02, "clip": 0.5}


def learning(cell: str = "gru", **settings: Any) -> DynamicModel:
    return dynamic(tiny(cell), **{**SETTINGS, **settings})


def some(model: DynamicModel | CharModel, n: int = 100) -> np.ndarray:
    return model.vocabulary.encode(TEXT[:n])


def plain_loop(given: CharModel, ids: np.ndarray, every: int, rate: float, decay: float, clip: float) -> Any:
    """log P of each symbol, as Krause et al. would write it: weights one by one, a stretch at a time."""
    model = copy.deepcopy(given).double().requires_grad_(True)
    original = [p.detach().clone() for p in model.parameters()]
    squares = [torch.zeros_like(p) for p in original]
    inputs, state, found = [given.vocabulary.start, *ids[:-1].tolist()], model.zero_state(), []
    for n, begin in enumerate(range(0, len(ids), every), start=1):
        came = torch.from_numpy(ids[begin : begin + every])
        logits, state = model(torch.tensor([inputs[begin : begin + every]]), state)
        state = tuple(part.detach() for part in state)
        nll = F.cross_entropy(logits[0], came, reduction="none")
        found.append(-nll.detach().numpy())
        if len(came) < every:
            break
        gradients = torch.autograd.grad(nll.mean(), list(model.parameters()))
        squares = [((n - 1) * s + g**2) / n for s, g in zip(squares, gradients, strict=True)]
        floor = EVEN * float(torch.cat([s.sqrt().flatten() for s in squares]).mean())
        steps = [g / (s.sqrt() + floor) for g, s in zip(gradients, squares, strict=True)]
        size = float(torch.cat([u.flatten() for u in steps]).square().mean().sqrt())
        with torch.no_grad():
            for p, u, p0 in zip(model.parameters(), steps, original, strict=True):
                p -= rate * min(1, clip / size) * u
                p += decay * (p0 - p)
    return np.concatenate(found)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("clip", [0.5, 1e6])
def test_a_plain_loop_agrees(cell: str, clip: float) -> None:
    two = {"layers": 2, "hidden_size": 8, "embedding_size": 8, "tied": True}
    model = tiny(cell, **two) if clip == 0.5 else tiny(cell, embedding_size=0)
    ids, settings = some(model), {**SETTINGS, "clip": clip}
    expected = plain_loop(model, ids, **settings)
    np.testing.assert_allclose(dynamic(model, **settings).precise_scorer().advance(ids), expected, atol=1e-9)
    np.testing.assert_allclose(dynamic(model, **settings).scorer().advance(ids), expected, atol=1e-4)
    assert np.abs(expected - model.scorer().advance(ids)).max() > 0.01  # and it did learn


@pytest.mark.exact
@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
def test_no_way_of_reading_changes_a_bit(cell: str) -> None:
    """Texts are compressed with these costs: a reader that cuts them otherwise must meet the same."""
    model = learning(cell)
    ids = some(model, 300)
    whole = model.scorer().advance(ids)
    cut, places = model.scorer(), [0, 1, 15, 16, 17, 40, 100, 299, 300]
    parts = [cut.advance(ids[a:b]) for a, b in pairwise(places)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert len(model.scorer().advance(ids[:0])) == 0

    one, rows = model.reader(), model.scorer().advance_predictions(ids)
    np.testing.assert_allclose(np.exp(rows).sum(1), 1, rtol=1e-12)
    np.testing.assert_array_equal(rows[np.arange(len(ids)), ids], whole)
    for row, symbol in zip(rows[:40], ids[:40], strict=True):
        np.testing.assert_array_equal(one.log_probs(), row)
        one.read(np.array([symbol]))


@pytest.mark.exact
def test_two_texts_at_once_disturb_neither_each_other_nor_the_model_given() -> None:
    """A text's costs are the same to the bit, whatever else is read: texts are compressed with them."""
    model = tiny("gru")
    before = {name: w.clone() for name, w in model.state_dict().items()}
    random, learns, ids = torch.random.get_rng_state(), dynamic(model, **SETTINGS), some(model)
    alone, one, two = learns.scorer().advance(ids), learns.scorer(), learns.scorer()
    parts = []
    for begin in range(0, 100, 10):
        parts.append(one.advance(ids[begin : begin + 10]))
        two.advance(ids[::-1][begin : begin + 10].copy())
    np.testing.assert_array_equal(np.concatenate(parts), alone)
    assert all(w.equal(before[name]) for name, w in model.state_dict().items())
    assert not any(p.requires_grad or p.grad is not None for p in model.parameters())
    assert torch.random.get_rng_state().equal(random)


@pytest.mark.exact
def test_what_the_caller_told_torch_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a bit: all is computed on one thread; several would add up larger products in another order."""
    model, seen = learning(), set()
    forward = CharModel.forward

    def watched(self: CharModel, *args: Any) -> Any:
        seen.add(torch.get_num_threads())
        return forward(self, *args)

    monkeypatch.setattr(CharModel, "forward", watched)
    alone = model.scorer().advance(some(model))
    torch.set_num_threads(3)
    with torch.inference_mode():
        np.testing.assert_array_equal(model.scorer().advance(some(model)), alone)
    assert (torch.get_num_threads(), seen) == (3, {1})


@pytest.mark.slow
def test_a_report_is_made_as_of_any_other_model(monkeypatch: pytest.MonkeyPatch) -> None:
    model = dynamic(tiny("gru", name="some-gru"), **SETTINGS)
    monkeypatch.setattr("rnnviz.networks.progress.INTERVAL", 0.0)
    done: list[int] = []
    score = perplexity(model, text=TEXT * 2, precise=True, progress=lambda step: done.append(step.characters))
    assert (score.model, score.characters) == ("some-gru, dynamic", 2 * len(TEXT))
    assert (len(done) > 1, done[-1]) == (True, 2 * len(TEXT)), "it says how far it is"
    given = perplexity(model, text=TEXT[500:], given=TEXT[:500])
    assert given.perplexity < perplexity(model, text=TEXT[500:]).perplexity  # a context teaches too


@pytest.mark.exact
def test_a_gradient_too_large_to_be_squared_is_left_out() -> None:
    """Without a step, no weight changes by a bit."""
    model = tiny("rnn")
    with torch.no_grad():
        model.readout.weight.mul_(1e25)
    found = dynamic(model, **SETTINGS).scorer().advance(some(model))
    np.testing.assert_array_equal(found, dynamic(model, every=1000).scorer().advance(some(model)))
    assert np.isfinite(found).all()


@pytest.mark.exact
@pytest.mark.parametrize("cell", ["lstm", "mingru"])
def test_a_compressed_text_is_shorter_and_restored_on_any_number_of_threads(cell: str) -> None:
    """What was written with a model that learns is read by one that learns the same, to the bit."""
    needs.coder()
    model, text = learning(cell, rate=0.02), TEXT[:400]
    data = compress(model, text)
    assert len(data) < len(compress(model.model, text))
    torch.set_num_threads(2)
    assert decompress(dynamic(model.model, **{**SETTINGS, "rate": 0.02}), data) == text


def test_a_setting_may_be_a_number_of_numpy() -> None:
    assert dynamic(tiny("gru"), rate=np.float64(0.01)).scorer().advance(some(learning())).shape == (100,)


def test_a_network_of_one_symbol_more_is_read_too() -> None:
    """`<unk>` is a symbol as any other."""
    model = CharModel(ModelConfig("mingru", 2, 4, embedding_size=3), Vocabulary(("a",)))
    score = perplexity(dynamic(model, **SETTINGS), text="abab" * 40)
    assert score.unknown == 80

"""Integrated gradients add up, and are exact where all is linear; occlusion equals reading other texts."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import rnnviz
from rnnviz import gradients
from rnnviz.lab.analysis import attribution
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.text.vocabulary import UNKNOWN_ID
from tests.support.autograd import double, log_probs, symbols
from tests.support.models import NETWORKS, TEXT, tiny
from tests.support.torch_models import tiny_torch

READ = TEXT[:30]
every_network = pytest.mark.parametrize(("cell", "options"), NETWORKS, ids=str)


def baseline(model: CharModel, instead: str) -> torch.Tensor:
    """(X,)"""
    V = model.vocabulary.size
    every = model.embed(torch.arange(V)[None])[0]
    return {"average": every[1:].mean(0), "zero": torch.zeros_like(every[0]), "unknown": every[UNKNOWN_ID]}[
        instead
    ]


@every_network
@pytest.mark.parametrize("instead", ["average", "zero", "unknown"])
def test_integrated_gradients_equal_many_plain_backward_passes(
    cell: str, options: dict[str, Any], instead: str
) -> None:
    model = tiny_torch(cell, **options)
    at, target = 13, int(model.vocabulary.encode("s")[0])
    attribution = gradients.attribute(model, READ, at=at, character="s", instead=instead, last=8)  # type: ignore[arg-type]
    precise = double(model)
    x = precise.embed(symbols(precise, READ[:at])).detach()  # (1, at + 1, X)
    other = x.clone()
    other[0, at - 7 :] = baseline(precise, instead).detach()
    places = (torch.arange(300, dtype=torch.float64) + 0.5) / 300
    now = (other + places[:, None, None] * (x - other)).requires_grad_()
    logits = F.linear(precise.hidden(now)[0][:, -1], precise.readout_weight, precise.readout.bias)
    (slopes,) = torch.autograd.grad(torch.log_softmax(logits, dim=1)[:, target].sum(), now)
    expected = (slopes.mean(0) * (x - other)[0])[1:].sum(dim=1).numpy()
    # Their slope jumps at 0: no rule for smooth functions is exact to more than the share of one step.
    relu = model.config.span in ("relu", "positive")
    np.testing.assert_allclose(attribution.values, expected, atol=3e-3 if relu else 3e-5)
    assert attribution.first == 5
    assert not attribution.values[:5].any()
    assert attribution.whole == pytest.approx(float(log_probs(precise, x)[-1, target]), abs=1e-5)
    assert attribution.without == pytest.approx(float(log_probs(precise, other)[-1, target]), abs=1e-5)


@every_network
def test_a_text_that_has_ended_adds_nothing(cell: str, options: dict[str, Any]) -> None:
    model, text, n = tiny(cell, ends=True, **options), "machine\nTime", len("machine\n")
    attribution, alone = gradients.attribute(model, text), gradients.attribute(model, "Time")
    assert not attribution.values[:n].any()
    np.testing.assert_allclose(attribution.values[n:], alone.values, atol=1e-5)
    assert attribution.adds_up
    occluded = gradients.attribute(model, text, method="occlusion").values
    np.testing.assert_allclose(occluded[: n - 1], 0, atol=1e-6)  # but without its end, the text goes on
    ended = gradients.attribute(model, text[:n])
    assert (ended.values.any(), ended.adds_up) == (False, True), "nothing has been read yet"


@every_network
def test_integrated_gradients_add_up_within_1_percent(cell: str, options: dict[str, Any]) -> None:
    model = tiny_torch(cell, **options)
    for at, target, against in ((1, None, None), (30, "e", None), (23, "e", "t")):
        attribution = gradients.attribute(model, READ, at=at, character=target, against=against)
        assert attribution.adds_up
        assert attribution.first == 0
        assert attribution.whole - attribution.without == pytest.approx(
            attribution.values.sum(), rel=0.01, abs=1e-3
        )
        read = rnnviz.trace(model, READ).log_probs[at]
        ids = model.vocabulary.encode(READ)
        symbol = ids[1] if target is None else model.vocabulary.encode(target)[0]
        expected = read[symbol] - (read[model.vocabulary.encode(against)[0]] if against else 0)
        assert attribution.whole == pytest.approx(float(expected), abs=1e-5)


@every_network
@pytest.mark.parametrize("instead", ["unknown", "out", "average"])
def test_occlusion_equals_reading_the_other_texts(
    cell: str, options: dict[str, Any], instead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attribution, "MAX_TEXTS_ABREAST", 7)
    model = tiny_torch(cell, **options)
    at, symbol = 25, int(model.vocabulary.encode("s")[0])
    occluded = gradients.attribute(
        model, READ, at=at, character="s", method="occlusion", instead=instead, last=20
    )
    precise = double(model)
    x = precise.embed(symbols(precise, READ[:at])).detach()
    whole = float(log_probs(precise, x)[-1, symbol])
    assert not occluded.values[:5].any()
    for s in range(5, at):
        other = x.clone()
        if instead == "out":
            other = torch.cat((x[:, : s + 1], x[:, s + 2 :]), dim=1)
        else:
            other[0, s + 1] = baseline(precise, instead).detach()
        expected = whole - float(log_probs(precise, other)[-1, symbol])
        assert occluded.values[s] == pytest.approx(expected, abs=1e-5)
    assert np.isnan([occluded.without, occluded.error]).all()
    assert not occluded.adds_up


def test_a_path_through_chaos_is_cut_to_what_adds_up() -> None:
    model = tiny_torch("rnn", hidden_size=40)
    state = model.state_dict()
    state["recurrence.weight_hh_l0"] *= 9
    model.load_state_dict(state)
    whole = gradients.attribute(model, TEXT, at=160, character="e", last=160)
    assert not whole.adds_up
    attribution = gradients.attribute(model, TEXT, at=160, character="e")
    assert attribution.adds_up
    assert attribution.beyond > 0.01
    twice = gradients.attribute(model, TEXT, at=160, character="e", last=2 * (160 - attribution.first))
    assert 0 < attribution.first < 160
    assert twice.error == pytest.approx(attribution.beyond, rel=0.5)  # chaos magnifies rounding, too

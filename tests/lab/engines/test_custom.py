"""A network given as a Python function is read, changed and scored as the same network of torch's layers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import rnnviz
from rnnviz import units
from rnnviz.lab.analysis.activations import Unit
from rnnviz.lab.analysis.interventions import Intervention
from rnnviz.lab.analysis.scanning import pushes
from rnnviz.lab.engines.custom import CustomModel
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.scoring import sampling
from rnnviz.scoring.tracer import Tracer
from tests.support.foreign_networks import CHARACTERS, N, adapted, cell_of, layers_of, stepwise
from tests.support.written import ROOT, blocks

TEXT = "The fox\neats, no hat on ,,the fence of ten"
KNOWN_TEXT = "".join(c for c in TEXT if c in CHARACTERS)


def pair() -> tuple[CustomModel, CharModel]:
    """Two layers as functions and as torch's."""
    parts = layers_of(nn.GRU, N, num_layers=2)
    return stepwise(parts, start="\n"), adapted(parts, start="\n")


def same(trace: rnnviz.Trace, expected: rnnviz.Trace, atol: float = 2e-5) -> None:
    np.testing.assert_allclose(trace.hidden, expected.hidden, atol=atol)
    np.testing.assert_allclose(trace.log_probs, expected.log_probs, atol=atol)
    np.testing.assert_allclose(trace.nll, expected.nll, atol=atol)


def test_a_grucell_in_a_loop_is_torchs_gru() -> None:
    parts = layers_of(nn.GRU, N)
    custom, theirs = stepwise(parts), adapted(parts)
    same(rnnviz.trace(custom, KNOWN_TEXT), rnnviz.trace(theirs, KNOWN_TEXT))
    assert custom.parts == ("h0",)
    # A function doesn't read what it has no index for.
    odd = rnnviz.trace(custom, "ea?t")
    np.testing.assert_array_equal(odd.hidden[2], odd.hidden[1])
    assert odd.known.tolist() == [True, True, False, True]

    def whole(ids: list[int]) -> torch.Tensor:
        out, _ = parts["rnn"](parts["encoder"](torch.tensor(ids)))
        return parts["decoder"](out)  # type: ignore[no-any-return]

    begun, with_start = stepwise(parts, start="\n", check=whole), adapted(parts, start="\n")
    same(rnnviz.trace(begun, KNOWN_TEXT), rnnviz.trace(with_start, KNOWN_TEXT))


def test_the_guides_rg_lru_is_the_papers() -> None:
    """De et al. 2024, equations 1 to 4, one unit at a time in double precision."""
    (block,) = [source for source in blocks(ROOT / "docs/own-network.md", "python") if "rglru" in source]
    torch.manual_seed(0)
    namespace: dict[str, Any] = {}
    exec(block, namespace)
    text = "the machine that remembers"
    embedding, W, b, V, c, decay = (
        part.detach().double().numpy()
        for part in (
            namespace["embedding"].weight,
            *namespace["recurrence_gate"].parameters(), *namespace["input_gate"].parameters(),
            namespace["decay"],
        )
    )  # fmt: skip
    h, states = np.zeros(32), []
    for symbol in text:
        x = embedding[namespace["letters"].index(symbol)]
        r, i = (1 / (1 + np.exp(-z)) for z in (W @ x + b, V @ x + c))
        a = (1 / (1 + np.exp(-decay))) ** (8 * r)
        h = a * h + np.sqrt(1 - a**2) * (i * x)
        states.append(h)
    trace = rnnviz.trace(namespace["rglru"], text)
    np.testing.assert_allclose(trace.hidden[:, 0], states, atol=1e-5)
    logits = namespace["readout"](torch.tensor(np.array(states)).float())
    np.testing.assert_allclose(trace.log_probs[1:, 1:], logits.log_softmax(1).detach(), atol=1e-4)


def test_a_network_that_predicts_no_characters_has_states_alone() -> None:
    parts = layers_of(nn.GRU, N)
    trace = rnnviz.trace(stepwise(parts, readout=None), KNOWN_TEXT)
    np.testing.assert_allclose(trace.hidden, rnnviz.trace(adapted(parts), KNOWN_TEXT).hidden, atol=1e-6)
    assert trace.perplexity[-1] == pytest.approx(trace.vocabulary.size)


@pytest.mark.parametrize("layer", [0, 1])
def test_changing_a_layer_reaches_the_layers_above_at_once(layer: int) -> None:
    custom, theirs = pair()
    assert custom.parts == ("h0", "h1")
    for action, value in (("clamp", 0.7), ("zero", 0.0), ("scale", 0.5)):
        change = Intervention((2, 5), action, value, layer=layer, start=3, stop=20)
        same(rnnviz.trace(custom, KNOWN_TEXT, change=change), rnnviz.trace(theirs, KNOWN_TEXT, change=change))


HALVED_UNITS = Intervention((2, 5), "scale", 0.5, layer=1, start=3, stop=20)
SAME: dict[str, Callable[[Any], Any]] = {
    "ablations": lambda m: units.ablate(m, KNOWN_TEXT, layer=0).loss,
    "ablations to means": lambda m: units.ablate(m, KNOWN_TEXT, layer=0, to="mean").loss,
    "the highest of a scan": lambda m: units.scan(m, text=KNOWN_TEXT)[1, 3].highest,
    "its place": lambda m: units.scan(m, text=KNOWN_TEXT)[1, 3].top[0].position,
    "a changed letter": lambda m: units.perturb(m, KNOWN_TEXT, 5, "x").bits,
    "what a unit speaks for": lambda m: "".join(name for name, _ in pushes(m, 4)[0]),
    "a perplexity": lambda m: rnnviz.perplexity(m, text=KNOWN_TEXT * 5).perplexity,
    "a sample": lambda m: rnnviz.sample(m, "The", 40, seed=2),
    "a changed sample": lambda m: rnnviz.sample(m, "The ", 30, change=HALVED_UNITS, seed=4),
    "what goes on": lambda m: sampling.resume(rnnviz.trace(m, KNOWN_TEXT), 7, 20, seed=3),
    "a patch": lambda m: units.patch(m, "the fox eats", 5, "no hat on", 4).after.log_probs,
    "a layer's patch": lambda m: units.patch(m, "the fox eats", 5, "no hat on", 4, layer=0).after.hidden,
    "a unit's patch": lambda m: units.patch(m, "the fox eats", 5, "no hat on", 4, units=Unit(1, 3)).after.nll,
    "a patch of itself": lambda m: units.patch(m, "the fox eats", 5, "the fox eats", 5).divergence,
    "all patches": lambda m: units.patch(m, "the fox", "all", "no hat", layer=0),
}


@pytest.mark.parametrize("task", SAME)
def test_function_answers_as_torch_layers_do(task: str) -> None:
    ours, theirs = (SAME[task](model) for model in pair())
    if isinstance(ours, str):
        assert ours == theirs
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=2e-5)


def test_edited_text_is_traced_afresh() -> None:
    custom, _ = pair()
    tracer = Tracer(custom)
    tracer.extend(KNOWN_TEXT[:9] + "x")
    same(tracer.extend(KNOWN_TEXT), rnnviz.trace(custom, KNOWN_TEXT))


def test_parts_of_any_width_and_start_end_with_outputs() -> None:
    W = np.random.default_rng(0).normal(size=(N, 3)).astype(np.float32)

    def step(ids: np.ndarray, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        h = np.tanh(W[ids] + state["h"])
        outputs = np.concatenate([h, -h], axis=1)
        return outputs, {"both": outputs, "h": h, "count": state["count"] + 1}

    first = {"both": np.zeros(6, np.float32), "h": np.array([0.5, 0.0, -0.5], np.float32), "count": [10]}
    custom = rnnviz.adapt_step(
        step, readout=lambda y: np.tile(y[:, :1], (1, N)), start="\n", characters=CHARACTERS, state=first
    )  # fmt: skip
    assert custom.parts == ("h", "count", "both")
    traced = rnnviz.trace(custom, "eat")
    np.testing.assert_array_equal(traced.hidden[:, 1, 0], [12, 13, 14])  # 11 after the start
    np.testing.assert_array_equal(traced.hidden[:, 2, 3:], -traced.hidden[:, 0, :3])
    assert not traced.hidden[:, 0, 3:].any()
    assert traced.log_probs[:, 0].max() < -20  # what its readout, a function, has no column for
    begun = np.tanh(W[CHARACTERS.index("\n")] + first["h"])
    np.testing.assert_allclose(traced.hidden[0, 0, :3], np.tanh(W[0] + begun), atol=1e-6)
    clamped = rnnviz.trace(
        custom, "eat", change=Intervention(5, "clamp", 1.0, layer=0)
    )  # filled up, and stays 0
    np.testing.assert_array_equal(clamped.hidden, traced.hidden)


def test_returned_gates_are_shown_as_layers() -> None:
    parts = layers_of(nn.GRU, N)
    W = {name: w.detach() for name, w in cell_of(parts["rnn"]).named_parameters()}

    def step(ids: torch.Tensor, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        x = parts["encoder"](ids) @ W["weight_ih"].T + W["bias_ih"]
        u = state["h"] @ W["weight_hh"].T + W["bias_hh"]
        r, z = torch.sigmoid(x[:, :9] + u[:, :9]), torch.sigmoid(x[:, 9:18] + u[:, 9:18])
        h = (1 - z) * torch.tanh(x[:, 18:] + r * u[:, 18:]) + z * state["h"]
        return h, {"h": h, "reset": r, "update": z}

    custom = rnnviz.adapt_step(
        step, readout=parts["decoder"], state={"h": torch.zeros(9)}, characters=CHARACTERS
    )  # fmt: skip
    assert custom.parts == ("reset", "update", "h")
    ours, theirs = rnnviz.trace(custom, KNOWN_TEXT), rnnviz.trace(adapted(parts), KNOWN_TEXT)
    for layer, quantity in enumerate(("reset", "update", "hidden")):
        np.testing.assert_allclose(ours.hidden[:, layer], theirs.values(quantity)[:, 0], atol=2e-5)
    np.testing.assert_allclose(ours.log_probs, theirs.log_probs, atol=2e-5)

"""Traces of torch's networks: what the textbook says, wherever they are computed."""

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_model import weights_of
from rnnviz.scoring import tracer
from rnnviz.scoring.tracer import Tracer, trace
from tests.support import textbook
from tests.support.torch_models import in_torch
from tests.support.traces import TEXT, VOCABULARY, assert_same_trace, spread_network


def torch_network(cell: str) -> CharModel:
    return in_torch(spread_network("rnn", activation="relu") if cell == "relu" else spread_network(cell))


@pytest.mark.parametrize("text", [TEXT, ""])
@pytest.mark.parametrize("cell", [*CELLS, "relu"])
def test_a_trace_is_what_the_model_does(cell: str, text: str) -> None:
    model = torch_network(cell)
    traced, right = trace(model, text), textbook.read_text(model, text)
    kind, steps = CELLS[model.config.cell], len(text)
    arrays = {"hidden": traced.hidden, **({"cell": traced.cell} if kind.has_cell else {}), **traced.gates}
    assert tuple(arrays) == kind.quantities
    for name, values in arrays.items():
        assert (values.shape, values.dtype) == ((steps, 2, 10), np.float32)
        expected = right.part(name)[1:, :, 0].numpy()
        np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-5, err_msg=name)
    assert (traced.cell is None) != kind.has_cell
    assert traced.log_probs.dtype == np.float32
    log_probs = right.part("log_probs")[:, 0].numpy()
    np.testing.assert_allclose(traced.log_probs, log_probs, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(traced.logits, right.logits[:, 0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        traced.entropy, -(np.exp(log_probs) * log_probs).sum(axis=1), rtol=1e-4, atol=1e-5
    )


def test_a_tracer_keeps_the_weights_it_began_with() -> None:
    model = torch_network("gru")
    tracer, before = Tracer(model), trace(model, "abc")
    with torch.no_grad():
        model.readout.bias.add_(torch.arange(VOCABULARY.size))
    assert_same_trace(tracer.extend("abc"), before)
    assert np.abs(trace(model, "abc").log_probs - before.log_probs).max() > 0.1


@pytest.mark.parametrize("cell", [*CELLS, "relu"])
def test_gpu_path_computes_same_states(cell: str) -> None:
    model = torch_network(cell)
    ids = model.vocabulary.encode(TEXT * 2)
    inputs = np.insert(np.stack([ids, ids[::-1]], axis=1), 0, model.vocabulary.start, axis=0)
    by_numpy = tracer._read_batch(model, weights_of(model), list(inputs[1:].T))
    for a, b in zip(model.states(inputs), by_numpy, strict=True):
        assert (np.abs(a - b) / np.maximum(1, np.abs(b))).max() < 1e-4  # a relu's states have no bound


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
def test_all_is_computed_where_the_model_is(cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch's meta device computes nothing, but refuses what lies elsewhere; only states are copied back."""
    copied: list[tuple[int, ...]] = []

    def to_cpu(states: torch.Tensor) -> torch.Tensor:
        assert states.device.type == "meta"
        copied.append(tuple(states.shape))
        return torch.zeros(states.shape)

    model, weights = torch_network(cell).to("meta"), spread_network(cell).weights
    monkeypatch.setattr(torch.Tensor, "cpu", to_cpu)
    tracer._read_batch(model, weights, [model.vocabulary.encode(text) for text in (TEXT, "a")])
    shape = (len(TEXT), model.config.layers, 2, model.config.hidden_size)
    assert copied == [shape, shape][: 1 + CELLS[cell].has_cell]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("name", ["timemachine-gru", "shakespeare-lstm"])
def test_gpu_trace_equals_processor_trace(name: str) -> None:
    text = "The traveller put his hand upon the lever, and nobody spoke. "
    on_gpu = rnnviz.trace(rnnviz.load(name, device="cuda"), [text, text * 4])
    for traced, text_read in zip(on_gpu, [text, text * 4], strict=True):
        assert_same_trace(traced, trace(rnnviz.load(name, device="cpu"), text_read), 1e-4)
